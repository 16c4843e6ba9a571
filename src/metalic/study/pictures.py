"""Small pictures of a study and of a recommendation, as a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..look import GREY, MARKS, PALETTE, Drawing, style
from .rows import PlayRow

if TYPE_CHECKING:
    from .recommendation import Recommendation


def plays_figure(plays: Sequence[PlayRow], was_random: Callable[[PlayRow], bool]) -> Figure:
    """The error of every play, those with random sets in grey; the reward where there is no reference."""
    known = [play for play in plays if play.taught]
    errors = any(play.error is not None for play in known)
    with style():
        figure = Drawing(figsize=(6, 2.6), layout="constrained")
        axis = figure.subplots()
        for label, random, colour in (("random sets", True, GREY), ("other sets", False, PALETTE[0])):
            part = [play for play in known if was_random(play) == random]
            values: list[Any] = [play.error if errors else play.reward for play in part]
            axis.plot([play.number for play in part], values, MARKS[random], color=colour, markersize=4, label=label)
        axis.set_yscale("log" if errors else "linear")
        axis.set_xlabel("play")
        axis.set_ylabel("error" if errors else "reward")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.legend(fontsize="small")
    return figure


def advice_figure(advice: Recommendation) -> Figure:
    """The effect of each condition, with two deviations to either side, in a panel per phase."""
    names = list(advice.phases[0].effects)
    with style():
        figure = Drawing(figsize=(3.2 * len(advice.phases), 0.9 + 0.3 * len(names)), layout="constrained")
        axes = figure.subplots(1, len(advice.phases), sharey=True, squeeze=False)[0]
        for number, (axis, phase) in enumerate(zip(axes, advice.phases), start=1):
            effects = list(phase.effects.values())
            spread = [2 * one.std for one in effects]
            axis.errorbar([one.mean for one in effects], range(len(names)), xerr=spread, fmt="o", color=PALETTE[0])
            axis.axvline(0.0, color=GREY, linewidth=1)
            axis.set_yticks(range(len(names)), names)
            axis.set_xlabel("effect (decades)")
            axis.set_title(f"phase {number}" if len(advice.phases) > 1 else "")
        axes[0].invert_yaxis()
    return figure
