"""Figures of the plays of a study, or of two side by side: errors against plays and parameters; how one play went.

Where `link` is given, a mark in an SVG is a link to what `link` says about its play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..look import GREY, LINES, MARKS, PALETTE, style
from ..study.networks import Moment
from ..study.rows import PhaseRow, PlayRow
from .figures import set_name
from .standing import CHOSEN, DEFAULT, GIVEN, RANDOM, WINDOW, running_median

Link = Callable[[PlayRow], str]
COLOURS = {CHOSEN: PALETTE[0], DEFAULT: PALETTE[1], RANDOM: GREY, GIVEN: PALETTE[2]}
SETS = 6  # that have a colour of their own
MANY = 2000  # marks above which a figure holds them as an image


def medians_figure(groups: Mapping[str, Sequence[PlayRow]], link: Link | None = None) -> Figure:
    """Draw the error of every play against its number, and the running median of each group.

    Args:
        groups: The plays of each kind, as `Standing.groups` gives them, or of each study.
        link: What the mark of a play links to.
    """
    with style():
        figure = Figure(figsize=(7.5, 4), layout="constrained")
        axis = figure.subplots()
        for place, (name, rows) in enumerate(groups.items()):
            colour = COLOURS.get(name, PALETTE[place % len(PALETTE)])
            x, y = [row.number for row in rows], [_error(row) for row in rows]
            _marks(axis, rows, x, y, colour, MARKS[place % len(MARKS)], link)
            label = f"{name} ({len(rows)})"
            axis.plot(x, running_median(y), LINES[place % len(LINES)], color=colour, label=label, linewidth=2)
        axis.set(xlabel="play", ylabel="relative error", yscale="log")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        _legend(figure, axis, title=f"lines: median of the latest {WINDOW} plays of a kind")
    return figure


def choices_figure(rows: Sequence[PlayRow], parameter: str, link: Link | None = None) -> Figure:
    """Draw the error of every play against a parameter, coloured by the set of its last phase."""
    done = [row for row in rows if row.taught and row.error is not None]
    named = [set_name(row.phases[-1].conditions) for row in done]
    frequent = [name for name, _ in Counter(named).most_common(SETS)]
    with style():
        figure = Figure(figsize=(7.5, 4.8), layout="constrained")
        axis = figure.subplots()
        for place, name in enumerate([None, *frequent]):  # the others first, so that they lie below
            mine = [row for row, own in zip(done, named) if (own == name if name else own not in frequent)]
            if not mine:
                continue
            x, y = [row.parameters[parameter] for row in mine], [_error(row) for row in mine]
            colour, mark = (GREY, "o") if name is None else (PALETTE[place - 1], MARKS[place - 1])
            marks = _marks(axis, mine, x, y, colour, mark, link, size=22 if name is None else 34)
            marks.set_label(f"{name or 'other sets'} ({len(mine)})")
        axis.set(xlabel=parameter, ylabel="relative error", yscale="log")
        _legend(figure, axis, title="set of the last phase", columns=2)
    return figure


def history_figure(moments: Sequence[Moment], phases: Sequence[PhaseRow]) -> Figure:
    """Draw the loss and the error of one play against iterations; phases follow one another."""
    moments = moments or [(i, p.iterations or 0, p.seconds or 0.0, p.loss, p.error) for i, p in enumerate(phases)]
    before = np.concatenate([[0], np.cumsum([phase.iterations or 0 for phase in phases])])
    x = [before[phase] + n for phase, n, *_ in moments]
    mark = "." if len(moments) < 60 else ""
    with style():
        figure = Figure(figsize=(7.5, 3.8), layout="constrained")
        axis = figure.subplots()
        for place, (name, which) in enumerate((("loss", 3), ("relative error", 4))):
            y = np.array([one[which] for one in moments], float)
            if np.isfinite(y).any():
                axis.plot(x, y, LINES[place], marker=mark, color=PALETTE[place], label=name, linewidth=1.8)
        for number, phase in enumerate(phases):
            if number:
                axis.axvline(before[number], color="0.5", linewidth=0.8)
            text = f" {number + 1}: {set_name(phase.conditions)}"
            label = axis.text(before[number], 1.01, text, transform=axis.get_xaxis_transform(), fontsize=9)
            label.set_in_layout(False)
        axis.set_title(" ", fontsize=9)  # room for the sets
        axis.set(xlabel="iterations", xlim=(0, max(before[-1], 1)), yscale="log" if axis.lines else "linear")
        _legend(figure, axis)
    return figure


def _marks(
    axis: Any, rows: Sequence[PlayRow], x: Any, y: Any, colour: str, mark: str, link: Link | None, size: float = 22
) -> Any:
    marks = axis.scatter(x, y, s=size, marker=mark, color=colour, alpha=0.7, linewidth=0, rasterized=len(rows) > MANY)
    if link is not None and len(rows) <= MANY:
        marks.set_urls([link(row) for row in rows])
    return marks


def _error(row: PlayRow) -> float:
    return max(row.error or 0.0, 1e-16)


def _legend(figure: Figure, axis: Any, title: str | None = None, columns: int = 4) -> None:
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=columns, fontsize=9, title=title, title_fontsize=9
        )
