"""The tables under `results/reproduced` are what the committed ledgers give."""

import csv
from pathlib import Path
from typing import Any

import pytest

from metalic.evaluation.paper import OFFLINE
from metalic.evaluation.reproduction import reproduce

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
SHOWN = RESULTS / "reproduced"


def numbers(path: Path) -> list[list[str | float]]:
    def value(cell: str) -> str | float:
        try:
            return float(cell)
        except ValueError:
            return cell

    with path.open() as file:
        return [[value(cell) for cell in row] for row in csv.reader(file)]


PAPER: dict[str, Any] = {"schedule": "paper", "families": ["poisson"]}
MADE = [
    ("online", SHOWN, {}),
    ("offline", SHOWN, {}),
    ("analysis", SHOWN, {}),
    ("sampling", SHOWN, {}),
    ("combinations", SHOWN, {}),
    ("offline", SHOWN / "paper", PAPER),
]


@pytest.mark.parametrize(("item", "shown_in", "options"), MADE)
def test_a_table_follows_from_the_ledgers(item: str, shown_in: Path, options: dict[str, Any], tmp_path: Path) -> None:
    reproduce(item, tmp_path, ledgers=RESULTS, run=False, **options)
    assert (tmp_path / f"{item}.md").read_text() == (shown_in / f"{item}.md").read_text()
    made, shown = numbers(tmp_path / f"{item}.csv"), numbers(shown_in / f"{item}.csv")
    assert len(made) == len(shown) > 1
    for one, other in zip(made, shown, strict=True):
        assert [cell if isinstance(cell, str) else pytest.approx(cell, rel=1e-9) for cell in one] == other


def test_the_readme_shows_table_1() -> None:
    page = (SHOWN / "offline.md").read_text().split("\n## ")[0]
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(OFFLINE)
    assert "\n".join(rows) in (ROOT / "README.md").read_text()
