"""The choosers that learn: a bandit that explores, and the greedy one that follows what was learned.

Both take the first decision in `begin`, which runs where the play is set up. A worker to which the chooser is sent
fits reward models for the later phases only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from metalic.bandit.history import Played
from metalic.bandit.knowledge import Knowledge
from metalic.chooser import Chooser
from metalic.sets import Decision, Level


@final
@dataclass
class BanditChooser(Chooser):
    """Decides by the policy of a bandit.

    Args:
        learned: The bandit and the plays that it has seen.
        turn: The number of the play for the policy, from 1.
        key: Decides all that is random.
        pending: The plays in flight.
        first: The first decision, if it has been taken already.
    """

    learned: Knowledge
    turn: int
    key: tuple[int, ...]
    pending: tuple[Played, ...] = ()
    first: Decision | None = None
    context: tuple[float, ...] = field(default=(), init=False)

    def begin(self, parameters: Mapping[str, float]) -> Mapping[str, Level]:
        self.context = tuple(parameters.values())
        if self.first is None:
            self.first = self._decide(0, None)
        return self.first.choices

    def choose(self, phase: int, loss: float | None) -> Decision:
        if self.first is not None and (phase == 0 or self.learned.bandit.decisions == 1):
            return self.first
        return self._decide(phase, loss)

    def _decide(self, phase: int, loss: float | None) -> Decision:
        choices = None if self.first is None else self.first.choices
        return self.learned.decide(
            self.context, play=self.turn, key=self.key, phase=phase, loss=loss, pending=self.pending, choices=choices
        )


@final
@dataclass
class GreedyChooser(Chooser):
    """Takes the recommended arm, in later phases by the loss that was really reached."""

    learned: Knowledge
    context: tuple[float, ...] = field(default=(), init=False)
    first: Decision | None = field(default=None, init=False)

    def begin(self, parameters: Mapping[str, float]) -> Mapping[str, Level]:
        self.context = tuple(parameters.values())
        self.first = self._best(0, None)
        return self.first.choices

    def choose(self, phase: int, loss: float | None) -> Decision:
        decision = min(phase, self.learned.bandit.decisions - 1)
        unseen = decision == 0 or loss is None  # a solve with a start leaves out the phase whose loss would decide
        return self.first if unseen and self.first is not None else self._best(decision, loss)

    def _best(self, phase: int, loss: float | None) -> Decision:
        choices = None if self.first is None or phase == 0 else self.first.choices
        return self.learned.ranking(self.context, phase, loss, top=1, choices=choices)[0]
