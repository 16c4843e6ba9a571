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


@pytest.mark.parametrize(
    ("item", "schedule"),
    [("online", None), ("offline", None), ("analysis", None), ("combinations", None)],
)
def test_a_table_follows_from_the_ledgers(item: str, schedule: str | None, tmp_path: Path) -> None:
    shown_in = SHOWN / schedule if schedule else SHOWN
    reproduce(item, tmp_path, ledgers=RESULTS, run=False, schedule=schedule)
    assert (tmp_path / f"{item}.md").read_text() == (shown_in / f"{item}.md").read_text()
    made, shown = numbers(tmp_path / f"{item}.csv"), numbers(shown_in / f"{item}.csv")
    assert len(made) == len(shown) > 1
    for one, other in zip(made, shown, strict=True):
        assert [cell if isinstance(cell, str) else pytest.approx(cell, rel=1e-9) for cell in one] == other
