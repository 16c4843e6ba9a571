"""How the plays of a study stand: who chose their sets, and how their errors compare with those of other sets.

Errors of different PDEs differ by orders of magnitude whatever the sets are, so that a sum or a minimum over plays is
not informative. A median over plays of one kind is, and so is the ratio to plays with other sets nearby.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..conditions import default_conditions
from ..study.rows import RUNNING, PlayRow

if TYPE_CHECKING:
    from ..study import Study

CHOSEN, DEFAULT, RANDOM, GIVEN = "chosen", "default set", "random", "given"
KINDS = (CHOSEN, DEFAULT, RANDOM, GIVEN)
WINDOW = 15  # plays of a running median
NEAREST = 5  # plays whose median error represents their kind at a place


@dataclass(frozen=True)
class Standing:
    """Reads who chose the sets of plays.

    Args:
        settings: The settings of the study, as its ledger holds them.
        default: The index of the family's default set, if it is known.
    """

    settings: Mapping[str, Any]
    default: int | None = None

    def kind(self, play: PlayRow) -> str:
        """Who chose: the reward model, chance, or the user at the start; or it is a play with the default set, which
        the others are measured against."""
        first = self.settings["bandit"].get("first") or ()
        modelled = any(phase.mean is not None for phase in play.phases)
        if all(phase.index == self.default for phase in play.phases) and (play.pair is not None or not modelled):
            return DEFAULT
        if modelled:
            return CHOSEN
        return GIVEN if play.number <= len(first) else RANDOM

    def groups(self, plays: Sequence[PlayRow]) -> dict[str, list[PlayRow]]:
        """The plays with an error, by kind; kinds without plays are left out."""
        found: dict[str, list[PlayRow]] = {kind: [] for kind in KINDS}
        for play in plays:
            if play.taught and play.error is not None:
                found[self.kind(play)].append(play)
        return {kind: rows for kind, rows in found.items() if rows}

    def compare(self, plays: Sequence[PlayRow]) -> ErrorRatio | None:
        """Compare chosen sets with the default set or, if that was hardly played, with random ones; None if nothing can
        be compared."""
        groups = self.groups(plays)
        base = next((kind for kind in (DEFAULT, RANDOM) if len(groups.get(kind, ())) >= NEAREST), None)
        chosen = groups.get(CHOSEN, [])[-WINDOW:]
        if base is None or not chosen:
            return None
        boxes = self.settings["family"]["parameters"]
        return ErrorRatio(base, len(chosen), float(np.median([ratio(play, groups[base], boxes) for play in chosen])))


def standing_of(study: Study) -> Standing:
    """The standing of the plays of a study."""
    return Standing(study.settings.to_dict(), default_conditions(study.family).index)


@dataclass(frozen=True)
class ErrorRatio:
    """The median, over the latest plays with chosen sets, of their error relative to plays of another kind nearby."""

    base: str
    plays: int
    ratio: float

    @property
    def text(self) -> str:
        what = {DEFAULT: "the default set", RANDOM: "random sets"}[self.base]
        return f"the last {self.plays} chosen sets: {self.ratio:.2g} times the error of {what} nearby (median)"


def ratio(play: PlayRow, others: Sequence[PlayRow], boxes: Mapping[str, Sequence[float]]) -> float:
    """The error of a play over that of other plays: of its partner on the same PDE if it has one, else the median of
    the nearest."""
    partner = [one.error for one in others if one.pair is not None and one.pair == play.pair and one.error]
    return (play.error or 0.0) / (partner[0] if partner else _nearby(play, others, boxes))


def _nearby(play: PlayRow, others: Sequence[PlayRow], boxes: Mapping[str, Sequence[float]]) -> float:
    size = np.array([(high - low) or 1.0 for low, high in boxes.values()])
    places = np.array([[one.parameters[name] for name in boxes] for one in others]).reshape(len(others), len(size))
    here = np.array([play.parameters[name] for name in boxes])
    nearest = np.argsort((((places - here) / size) ** 2).sum(axis=1), kind="stable")[:NEAREST]
    return max(float(np.median([others[i].error or 0.0 for i in nearest])), 1e-16)


def running_median(values: Sequence[float], window: int = WINDOW) -> Float[np.ndarray, "n"]:
    """At every place, the median of the values so far, of the latest `window` at most."""
    return np.array([np.median(values[max(0, i + 1 - window) : i + 1]) for i in range(len(values))])


def finished_plays(plays: Sequence[PlayRow]) -> list[PlayRow]:
    """The plays that are not running."""
    return [play for play in plays if play.status != RUNNING]
