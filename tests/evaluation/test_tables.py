"""Tables for people and for programs."""

import csv
import io
import math
from pathlib import Path

import pytest
from rich.console import Console

from metalic.evaluation.baselines import METHODS
from metalic.evaluation.offline import Summary
from metalic.evaluation.tables import Table, summary_table, text

TABLE = Table("A | B", ("name", "value"), (("<b>x</b>", 0.000123456), ("a|b", None)), ("A note.",))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (math.nan, "-"), (0.5, "0.5"), (0.0, "0"), (12345.6, "1.23e+04"), (1e-5, "1.00e-05"), (7, "7")],
)
def test_values_for_people(value: object, shown: str) -> None:
    assert text(value) == shown


def test_csv_keeps_all_figures(tmp_path: Path) -> None:
    with TABLE.to_csv(tmp_path / "t.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows == [["name", "value"], ["<b>x</b>", "0.000123456"], ["a|b", ""]]


def test_markdown_and_html() -> None:
    assert "| a\\|b | - |" in TABLE.to_markdown()
    assert TABLE.to_markdown().endswith("\nA note.\n")
    page = TABLE.to_html()
    assert "<td>&lt;b&gt;x&lt;/b&gt;</td><td>1.23e-04</td>" in page
    assert "<caption>A | B</caption>" in page


def test_a_summary_fits_a_terminal_of_80_columns() -> None:
    longest = max((method.title for method in METHODS.values()), key=len)
    row = Summary(longest, longest, 100, 1.23e-5, 1.2e-5, 1.23e-5, (1.2e-5, 1.3e-5), 0.12, 123.0, 0.95, 1.23e-15)
    settings = {"reward": "error", "family": {"name": "poisson"}, "schedule": {"name": "fast"}}
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(summary_table([row], settings, narrow=True).to_rich())
    said = console.export_text()
    assert "…" not in said
    for cell in (longest, "failures", "1.23e-05", "123", "95%", "1.23e-15"):
        assert cell in said
