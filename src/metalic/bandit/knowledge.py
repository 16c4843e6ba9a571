"""What every bandit with its finished plays can do: decide, recommend and explain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from metalic.bandit.history import Played
from metalic.errors import BanditError
from metalic.sets import Decision, Level
from metalic.validation import integer

if TYPE_CHECKING:
    from metalic.bandit.bandit import Bandit


@dataclass(frozen=True, eq=False)
class Effects:
    """What switching each condition on does to the phase's target, averaged over the other conditions, and what each
    level does, compared with the other levels of its choice; in the order of `Bandit.columns`."""

    mean: Float[np.ndarray, "columns"]
    std: Float[np.ndarray, "columns"]


class Knowledge(ABC):
    """A bandit with its finished plays: it decides, recommends and explains. Fitted models are not pickled."""

    bandit: Bandit
    history: tuple[Played, ...]

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_models": {}}

    @abstractmethod
    def decide(
        self,
        context: Sequence[float],
        *,
        play: int,
        key: int | Sequence[int],
        phase: int = 0,
        loss: float | None = None,
        pending: Sequence[Played] = (),
        choices: Mapping[str, Level] | None = None,
    ) -> Decision:
        """Choose the arm of a phase.

        Args:
            context: The parameters of the PDE.
            play: The number of the play, from 1.
            key: Decides all that is random.
            phase: The phase; 0 is the first.
            loss: The training loss before the phase, in later phases.
            pending: The plays in flight; those that have chosen an arm in this phase count.
            choices: The levels that were chosen in the first phase.

        Raises:
            BanditError: An argument is not allowed.
        """

    @abstractmethod
    def ranking(
        self,
        context: Sequence[float],
        phase: int,
        loss: float | None,
        top: int,
        choices: Mapping[str, Level] | None = None,
    ) -> tuple[Decision, ...]:
        """The arm to recommend in a phase, and the next best ones."""

    @abstractmethod
    def recommend(
        self, context: Sequence[float], *, losses: Sequence[float | None] = (), top: int = 5
    ) -> tuple[tuple[Decision, ...], ...]:
        """The `top` arms for every decision of a play, the recommended one first.

        Args:
            context: The parameters of the PDE.
            losses: The loss before each phase, where it is known. Elsewhere it is estimated from the nearest plays and
                the arm recommended for the phase before.
            top: The number of arms to return per decision.
        """

    @abstractmethod
    def effects(self, context: Sequence[float], *, phase: int = 0, loss: float | None = None) -> Effects:
        """The effect of each condition and level in a context, by the reward model of a phase."""

    @abstractmethod
    def forecast(self, context: Sequence[float], arm: Decision) -> tuple[float, float]:
        """The last reward of one more play of a recommended arm: mean, and deviation with the noise of a play."""


def randomness(play: int, key: int | Sequence[int]) -> list[int]:
    """The numbers that a decision's random numbers start from, checked."""
    keys = [integer(part) for part in (key if isinstance(key, list | tuple) else [key])]
    found = [part for part in keys if part is not None]
    if integer(play, least=1) is None or len(found) < len(keys) or not found:
        raise BanditError(f"plays and pairs are numbered from 1, keys are not negative; got {play} and key {key}")
    return found
