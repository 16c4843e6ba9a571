"""Contextual bandits over sets of conditions: which set to play next, and which to recommend.

An arm is a subset of s conditions, a 0/1 vector a of index sum_i 2^i a_i; the empty set is one of the 2^s. In a
context the reward model of the phase gives every arm a mean and a deviation, and the policy picks. A bandit has no
memory of its own: `learn` takes the finished plays, and every answer is a function of them, of the settings and of
the key that is passed in, so that a study can be continued, or decided on another machine, from its rows alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from metalic.bandit.history import ContextBox, Pair, Played, target
from metalic.bandit.kernel import find_kernel
from metalic.bandit.knowledge import Knowledge
from metalic.bandit.settings import Paired, Sequential, Settings
from metalic.choices import Arms, Choice
from metalic.errors import BanditError
from metalic.validation import integer, real

MOST_CONDITIONS = 16


@cache
def all_arms(conditions: int) -> Float[np.ndarray, "arms conditions"]:
    """Every subset of the conditions, in the order of its index; row i holds the bits of i, the lowest first."""
    return Arms(tuple(map(str, range(conditions)))).vectors


@dataclass(frozen=True, kw_only=True)
class Bandit:
    """A bandit: its settings, and what can be played.

    Args:
        settings: `Paired(...)`, `Single(...)` or `Sequential(...)`.
        conditions: The names of the conditions.
        low: The lower end of the range of every context dimension.
        high: The upper end of every range.
        phases: The number of phases of a play.
        choices: What is chosen besides the conditions, once for a play.

    Raises:
        BanditError: An argument is not allowed; a ChoiceError if there are too many arms.

    Example:
        >>> from metalic.bandit import Played, PlayedPhase, Random, Single
        >>> bandit = Bandit(settings=Single(policy=Random()), conditions=("u", "c"), low=(0.0,), high=(1.0,))
        >>> learned = bandit.learn([Played((0.5,), (PlayedPhase((1, 0), reward=2.0),))])
        >>> learned.decide((0.3,), play=2, key=0).conditions.known
        ('u', 'c')
    """

    settings: Settings
    conditions: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    phases: int = 1
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.settings, Settings):
            raise BanditError(
                f"a bandit's settings are Paired(...), Single(...) or Sequential(...), not {self.settings!r}"
            )
        self._check_conditions()
        if integer(self.phases) is None:
            raise BanditError(f"phases is a whole number, not {self.phases!r}")
        if self.phases < 1:
            raise BanditError(f"a play has at least one phase, not {self.phases}")
        for index in self.settings.first:
            if integer(index) is None or index >= len(self.space):
                most = len(self.space) - 1
                raise BanditError(
                    f"a set to begin with is an index from 0 to {most}, not {index!r}; a study also takes names"
                )
        if not isinstance(self.settings, Paired):
            find_kernel(self.settings.kernel)
        elif not 0 <= self.settings.champion_number < len(self.space):
            most = len(self.space) - 1
            raise BanditError(f"a champion is the number of an arm from 0 to {most}, not {self.settings.champion}")
        try:
            ends = {end: tuple(map(float, getattr(self, end))) for end in ("low", "high")}
        except (TypeError, ValueError, OverflowError):
            raise BanditError(f"low and high are numbers for each context, not {self.low!r}, {self.high!r}") from None
        for end, values in ends.items():
            object.__setattr__(self, end, values)
        ContextBox(self.low, self.high)

    def _check_conditions(self) -> None:
        given: Any = self.conditions
        if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
            raise BanditError(f"conditions are a tuple of names, not {given!r}")
        if len(set(given)) < len(given):
            raise BanditError(f"conditions have distinct names, not {given!r}")
        if not given:
            raise BanditError(
                f"there are no conditions to choose among: a bandit takes 1 to {MOST_CONDITIONS} conditions"
            )
        if len(given) > MOST_CONDITIONS:
            raise BanditError(
                f"a bandit chooses among 1 to {MOST_CONDITIONS} conditions (2^{MOST_CONDITIONS} sets), not "
                f"{len(given)}; leave out the conditions that are least likely to matter"
            )
        object.__setattr__(self, "conditions", tuple(given))

    @cached_property
    def box(self) -> ContextBox:
        return ContextBox(self.low, self.high)

    @cached_property
    def space(self) -> Arms:
        """What can be played."""
        return Arms(self.conditions, self.choices)

    @property
    def arms(self) -> Float[np.ndarray, "arms columns"]:
        """All arms as 0/1 rows, in the order of their numbers."""
        return self.space.vectors

    @property
    def contrasts(self) -> Float[np.ndarray, "arms columns"]:
        """By column, the weights of all arms in its effect: the mean of those that have it minus that of the others."""
        arms = self.arms
        return arms / arms.sum(axis=0) - (1 - arms) / (1 - arms).sum(axis=0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the entries of an arm: conditions, then levels."""
        return self.space.columns

    @property
    def decisions(self) -> int:
        """The number of decisions in a play."""
        return self.phases if isinstance(self.settings, Sequential) else 1

    def learn(self, history: Sequence[Played]) -> Knowledge:
        """Combine the bandit with finished plays. Reward models are fitted when they are first needed.

        Raises:
            BanditError: A play does not fit the bandit.
        """
        if not isinstance(history, Sequence) or not all(isinstance(play, Played) for play in history):
            raise BanditError(f"a history is a list of finished plays, not {history!r}")
        plays = tuple(self.checked(play, number) for number, play in enumerate(history))
        if isinstance(self.settings, Paired):
            from metalic.bandit.compared import Compared

            return Compared(self, plays)
        from metalic.bandit.learned import Learned

        return Learned(self, plays)

    def arm(self, bits: Sequence[int]) -> Float[np.ndarray, "s"]:
        """Check a 0/1 vector."""
        known = isinstance(bits, Sequence | np.ndarray) and len(bits) == len(self.columns)
        if not known or any(isinstance(bit, Iterable) or bit not in (0, 1) for bit in bits):
            raise BanditError(f"an arm is {len(self.columns)} zeros and ones, not {bits!r}")
        return np.asarray(bits, float)

    def checked(self, play: Played, number: int) -> Played:
        """Check that a finished play has all values that will be used, and that they are finite."""
        where = f"finished play {number} of the history"
        self.box.scale(play.context)
        if len(play.phases) != self.phases:
            raise BanditError(f"{where} has {len(play.phases)} phases, not {self.phases}")
        for p, phase in enumerate(play.phases):
            self.arm(phase.arm)
            if isinstance(self.settings, Paired) and not isinstance(play, Pair):
                raise BanditError(f"{where} has no champion: a paired bandit learns from pairs")
            rewarded = isinstance(self.settings, Sequential) or p == self.phases - 1
            if rewarded and (real(phase.reward) is None or real(getattr(play, "champion", 0.0)) is None):
                raise BanditError(
                    f"{where} has the reward {phase.reward} in phase {p}; rewards must be finite numbers: give a play "
                    "that diverged the reward of the worst outcome, and leave out one that failed"
                )
            if self.needs_loss(p) and not isinstance(phase.loss, float | int):
                raise BanditError(f"{where} has no loss before phase {p}, which the bandit uses as a context")
        return play

    def needs_loss(self, phase: int) -> bool:
        """Whether the reward model of a phase has the training loss as a context."""
        return phase > 0 and isinstance(self.settings, Sequential) and self.settings.loss_context != "none"

    def target(self, play: Played, phase: int) -> float:
        """The target of the reward model of a phase."""
        rewards = [p.reward for p in play.phases if p.reward is not None]
        if isinstance(self.settings, Sequential):
            return target(rewards[phase:], self.settings.gamma)
        return rewards[-1]
