"""The tables under `results/reproduced` are what the committed ledgers give."""

import csv
from pathlib import Path

import pytest

from metalic.evaluation.reproduction import reproduce

RESULTS = Path(__file__).parents[2] / "results"
SHOWN = RESULTS / "reproduced"


def numbers(path: Path) -> list[list[str | float]]:
    def value(cell: str) -> str | float:
        try:
            return float(cell)
        except ValueError:
            return cell

    with path.open() as file:
        return [[value(cell) for cell in row] for row in csv.reader(file)]


@pytest.mark.parametrize("item", ["online", "offline", "analysis"])
def test_a_table_follows_from_the_ledgers(item: str, tmp_path: Path) -> None:
    reproduce(item, tmp_path, ledgers=RESULTS, run=False)
    assert (tmp_path / f"{item}.md").read_text() == (SHOWN / f"{item}.md").read_text()
    made, shown = numbers(tmp_path / f"{item}.csv"), numbers(SHOWN / f"{item}.csv")
    assert len(made) == len(shown) > 1
    for one, other in zip(made, shown, strict=True):
        assert [cell if isinstance(cell, str) else pytest.approx(cell, rel=1e-9) for cell in one] == other
