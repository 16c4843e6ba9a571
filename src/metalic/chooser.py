"""Choosers pick the set of each phase: the interface, and the chooser with fixed sets.

The other two choosers, the bandit and the greedy one, are in `metalic.bandit.choosers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from .sets import Decision, Level


class Chooser(ABC):
    """Picks the sets of one play. A chooser can be pickled, also after `begin`."""

    def begin(self, parameters: Mapping[str, float]) -> Mapping[str, Level]:
        """Prepare for a play. Called once, where the play is set up, with the parameters of its PDE.

        Returns:
            The levels of choices that hold for the whole play, such as where to cut the domain, by name.
        """
        return {}

    @abstractmethod
    def choose(self, phase: int, loss: float | None) -> Decision:
        """The decision for a phase (0 is the first), given the training loss before it (None in the first)."""


@final
@dataclass(frozen=True)
class FixedChooser(Chooser):
    """Decisions known beforehand, one per phase; the last holds for all phases after it."""

    decisions: tuple[Decision, ...]

    def begin(self, parameters: Mapping[str, float]) -> Mapping[str, Level]:
        return self.decisions[0].choices

    def choose(self, phase: int, loss: float | None) -> Decision:
        return self.decisions[min(phase, len(self.decisions) - 1)]
