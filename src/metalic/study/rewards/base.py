"""What a reward is, and how one is found."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from jaxtyping import Array, Float

from ...errors import StudyError
from ...families.base import Family
from ...pinn.options import SolverOptions
from ...pinn.problem import Problem
from ...pinn.schedule import Schedule
from ...pinn.solution import PhaseRecord
from ...registry import Registry

Score = Callable[[Problem, Float[Array, "K P"]], float]


class Reward(ABC):
    """What a phase is worth; final subclasses are frozen dataclasses of plain values."""

    name: ClassVar[str]
    meaning: ClassVar[str | None] = None  # what 10^-reward is, if it has a name
    needs_reference: ClassVar[bool] = True
    estimates: ClassVar[bool] = False  # True: its score is the estimate of a check
    timed: ClassVar[bool] = False  # True: it depends on the clock, and differs when a play is played again

    @abstractmethod
    def of(self, record: PhaseRecord, seconds: float) -> float:
        """The reward of a phase that ended `seconds` after the play began; a finite number, always."""

    def score(self, family: Family, schedule: Schedule, options: SolverOptions, seed: int) -> Score | None:
        """What a solve must measure at the end of each phase; it is the `score` of the phase's record."""
        return None

    @classmethod
    def with_option(cls, option: str) -> Reward:
        """The reward of a text such as 'error+time:90', from the text after the colon."""
        if option:
            raise StudyError(f"reward '{cls.name}' takes no number; only error+time:SECONDS does")
        return REWARDS.make(cls)

    def __str__(self) -> str:
        return self.name


REWARDS: Registry[type[Reward]] = Registry("reward", Reward, "metalic.study.rewards", StudyError)


def find_reward(given: Any, family: Family) -> Reward:
    """A reward, checked against the family.

    Args:
        given: Its text, such as 'error+time:90' or 'file.py:Name', its class, or itself; None takes 'error' if the
            family has a reference, else 'estimate'.
        family: The family that is played.

    Raises:
        StudyError: There is no such reward, or it needs a reference and the family has none.
    """
    if given is None:
        given = "error" if family.reference is not None else "estimate"
    option = ""
    if isinstance(given, str):
        given, option = REWARDS.find_with_option(given)
    reward = given.with_option(option) if isinstance(given, type) and issubclass(given, Reward) else given
    if not isinstance(reward, Reward):
        raise StudyError(f"a reward is a name such as 'error', not {given!r}")
    if reward.needs_reference and family.reference is None:
        raise StudyError(f"reward '{reward.name}' needs a reference; family '{family.name}' has none: take 'estimate'")
    return reward


def decades(value: float | None, cap: float) -> float:
    """log10 of a measure, of the cap if it is larger or not finite."""
    if value is None or not math.isfinite(value):
        return math.log10(cap)
    return math.log10(min(max(value, 1e-300), cap))
