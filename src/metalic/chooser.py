"""Choosers pick the set of each phase: the interface, and the chooser with fixed sets.

The other two choosers, the bandit and the greedy one, are in `metalic.bandit.choosers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from .sets import Decision


class Chooser(ABC):
    """Picks the sets of one play. A chooser can be pickled, also after `begin`."""

    def begin(self, parameters: Mapping[str, float]) -> None:  # noqa: B027
        """Prepare for a play. Called once, where the play is set up, with the parameters of its PDE.

        Choices for the whole play are made here. So far these are only sets; choices that change the family, such as
        where to cut the domain, will be returned from here.
        """

    @abstractmethod
    def choose(self, phase: int, loss: float | None) -> Decision:
        """The decision for a phase (0 is the first), given the training loss before it (None in the first)."""


@final
@dataclass(frozen=True)
class FixedChooser(Chooser):
    """Decisions known beforehand, one per phase; the last holds for all phases after it."""

    decisions: tuple[Decision, ...]

    def choose(self, phase: int, loss: float | None) -> Decision:
        return self.decisions[min(phase, len(self.decisions) - 1)]
