"""HTML representations for notebooks: a line and a small table, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """HTML for `_repr_html_`."""
    head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<div><b>{html.escape(title)}</b><table><tr>{head}</tr>{body}</table>{below}</div>"
