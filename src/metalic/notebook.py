"""HTML representations for notebooks: a line, a small table and a small picture, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    note: str = "",
    draw: Callable[[], Figure] | None = None,
) -> str:
    """HTML for `_repr_html_`; `draw` makes the picture."""
    head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<div><b>{html.escape(title)}</b><table><tr>{head}</tr>{body}</table>{below}{_picture(draw)}</div>"


def _picture(draw: Callable[[], Figure] | None) -> str:
    if draw is None:
        return ""
    from .look import data_uri

    return f"<img style='max-width:100%' alt='' src='{data_uri(draw(), 'png', dpi=60)}'>"
