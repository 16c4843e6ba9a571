"""What the levels of a choice gain over the champion of a study, drawn against a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from ..bandit import Compared, Pair
from ..choices import Choice
from ..look import LINES, PALETTE, style
from ..sets import Level
from ..study.recommendation import NORMAL_95
from .rules import grid

POINTS = 61
RIBBON = 0.035  # height of the ribbon of recommended levels, as a share of the axis
WIDEST = 100.0  # ratios beyond this, or below its inverse, are drawn at the edge


def gains_figure(learned: Compared, choice: Choice, boxes: Mapping[str, tuple[float, float]]) -> Figure:
    """Draw the error of each level of a choice, with the champion's set, relative to the champion's error.

    Bands hold 95 % of what the model thinks possible. A dot is a pair: the challenger's error over the champion's. The
    ribbon at the bottom has the colour of the level that is recommended there.

    Args:
        learned: What a paired study knows.
        choice: One of its choices.
        boxes: The range of each parameter. The first is drawn, the others stay at their middle.
    """
    (name, (low, high)), *others = boxes.items()
    wide = low > 0 and high >= 10 * low
    x = np.geomspace(low, high, POINTS) if wide else grid(low, high, POINTS)
    contexts = [(value, *(0.5 * (a + b) for _, (a, b) in others)) for value in x.tolist()]
    colours = dict(zip(choice.levels, PALETTE))
    with style():
        figure = Figure(figsize=(8, 4.4), layout="constrained")
        axis = figure.subplots()
        _lines(axis, learned, choice, x, contexts)
        for pair in learned.pairs:
            ratio = float(np.clip(_ratio(pair), 1 / WIDEST, WIDEST))
            colour = colours[_level(learned, pair, choice)]
            axis.plot(pair.context[0], ratio, "o", color=colour, markersize=4, markeredgewidth=0, alpha=0.7)
        best = [learned.ranking(context)[0].choices[choice.name] for context in contexts]
        for left, right, level in zip(x[:-1], x[1:], best):
            axis.axvspan(left, right, ymax=RIBBON, color=colours[level], linewidth=0)
        axis.set(xlabel=name, ylabel="error / the champion's", yscale="log", xlim=(low, high))
        axis.set_ylim(0.7 / WIDEST, 1.4 * WIDEST)
        if wide:
            _logarithmic(axis)
        figure.legend(loc="outside upper center", ncols=len(choice.levels))
    return figure


def _lines(
    axis: Any, learned: Compared, choice: Choice, x: Float[np.ndarray, "n"], contexts: Sequence[Sequence[float]]
) -> None:
    """A line with a band for each level; the champion's is at 1."""
    space, usual = learned.bandit.space, learned.champion
    mean, std = (np.array(table) for table in zip(*(learned.gains(context) for context in contexts)))
    for place, (level, label) in enumerate(zip(choice.levels, choice.labels)):
        number = space.number(replace(usual, choices={**usual.choices, choice.name: level}))
        colour, middle, half = PALETTE[place % len(PALETTE)], mean[:, number], NORMAL_95 * std[:, number]
        label += " (champion)" if level == usual.choices[choice.name] else ""
        axis.plot(x, 10.0**-middle, LINES[place % len(LINES)], color=colour, label=label, linewidth=2)
        axis.fill_between(x, 10 ** (-middle - half), 10 ** (half - middle), color=colour, alpha=0.15, linewidth=0)


def _ratio(pair: Pair) -> float:
    """The challenger's error over the champion's; rewards are decades."""
    return float(10 ** (pair.champion - (pair.phases[-1].reward or 0.0)))


def _level(learned: Compared, pair: Pair, choice: Choice) -> Level:
    space = learned.bandit.space
    return space.decision(space.number_of(pair.phases[-1].arm)).choices[choice.name]


def _logarithmic(axis: Any) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
