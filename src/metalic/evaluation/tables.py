"""Tables of results for readers (text, Markdown, HTML) and for programs (csv)."""

from __future__ import annotations

import csv
import html
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from .offline import Summary


SHORT = 12  # letters; cells of a column without longer ones are not broken


@dataclass(frozen=True)
class Table:
    """Columns and rows of plain values. Numbers are rounded for readers and exact in csv."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()

    def texts(self) -> list[list[str]]:
        return [[text(value) for value in row] for row in self.rows]

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        with Path(path).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows([["" if value is None else value for value in row] for row in self.rows])
        return Path(path)

    def to_markdown(self) -> str:
        cells = [list(self.columns), ["---"] * len(self.columns), *self.texts()]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
        return "\n".join([f"## {self.title}", "", *lines, *(f"\n{note}" for note in self.notes)]) + "\n"

    def to_html(self, limit: int | None = None) -> str:
        """A `<table>`; everything is escaped."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.texts()[:limit]
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in self.notes)
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div class="table">{table}</div>{notes}'

    def to_rich(self) -> RichTable:
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(
            title=self.title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True
        )
        for place, name in enumerate(self.columns):
            short = max([len(name), *(len(row[place]) for row in self.texts())]) <= SHORT
            table.add_column(name, no_wrap=place == 0 or short, overflow="fold")
        for row in self.texts():
            table.add_row(*map(escape, row))
        return table


def text(value: Any) -> str:
    """A value as text: numbers with three significant figures, '-' for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.3g}" if isinstance(value, float) else str(value)
    return f"{value:.2e}"


def summary_table(summaries: Sequence[Summary], settings: Mapping[str, Any], narrow: bool = False) -> Table:
    """The table of an offline test, a row per method; `narrow` leaves out the spread to fit 80 columns."""
    columns: tuple[str, ...] = ("method", "PDEs", "mean", "std", "median", "quartiles", "failures")
    columns += ("ratio", "wins", "p")
    rows: list[tuple[Any, ...]] = []
    for one in summaries:
        quartiles = " .. ".join(text(value) for value in one.quartiles)
        wins = None if one.better is None else f"{one.better:.0%}"
        numbers = (one.pdes, one.mean, one.std, one.median, quartiles, f"{one.failures:.0%}")
        rows.append((one.title, *numbers, one.ratio, wins, one.p))
    if narrow:
        kept = [place for place, name in enumerate(columns) if name not in ("std", "quartiles")]
        columns, rows = tuple(columns[i] for i in kept), [tuple(row[i] for i in kept) for row in rows]
    what = "relative L2 error" if settings["reward"] == "error" else "residual on fresh points"
    title = f"{settings['family']['name']}, schedule {settings['schedule']['name']}: {what} on unseen PDEs"
    notes = (
        "ratio: median of the method's error over the learned choice's, PDE by PDE; wins: share of PDEs on which the "
        "learned choice is better; p: Wilcoxon's signed-rank test on the logarithms; failures: diverged, broken off, "
        "or no better than zero.",
    )
    return Table(title, columns, tuple(rows), notes)
