"""Plays as a bandit sees them, and what a reward model learns from them.

A play is a context and, for every phase, an arm, the training loss before it and the reward after it. The target of
phase p is r_p + gamma r_{p+1} + gamma^2 r_{p+2} + ..., the result of the choice in p. (Single: the arm, and the last
phase's reward.) Contexts are scaled by their known ranges to [0, 1]. The range of the loss is not known, so its
logarithm is scaled by the range seen in the finished plays. A loss that is not finite (a phase that diverged) counts
as the largest one seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from metalic.errors import BanditError

NARROWEST = 0.01  # a narrower range of losses is widened to this share of max(1, largest value)
MARGIN = 0.5  # scaled losses are clipped to this distance from the range seen


@dataclass(frozen=True)
class PlayedPhase:
    """A phase of a play: the arm (0/1 for each condition), the reward after it, the training loss before it.

    The reward is None while the phase runs; the loss is None in the first phase, where there is none.
    """

    arm: Sequence[int]
    reward: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Played:
    """A context and the phases played in it so far, in order."""

    context: Sequence[float]
    phases: Sequence[PlayedPhase]


@dataclass(frozen=True)
class Pair(Played):
    """The play of a challenger, and what the champion reached in the same context with the same seed.

    `number`: of the pair, from 1; `forecast`: mean and deviation of the difference, as predicted before the play.
    """

    champion: float = math.nan
    number: int = 0
    forecast: tuple[float, float] | None = None


def target(rewards: Sequence[float], gamma: float) -> float:
    """r_0 + gamma (r_1 + gamma (r_2 + ...))."""
    value = 0.0
    for reward in reversed(rewards):
        value = reward + gamma * value
    return value


@dataclass(frozen=True)
class ContextBox:
    """The known range of every context dimension; a dimension of width zero is scaled to zero."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high):
            raise BanditError(f"low has {len(self.low)} context dimensions and high {len(self.high)}; they must agree")
        for j, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if not (np.isfinite(low) and np.isfinite(high) and low <= high):
                raise BanditError(
                    f"context dimension {j} has the range [{low}, {high}]; it must be finite, low <= high"
                )

    def scale(self, context: Sequence[float]) -> Float[np.ndarray, "d"]:
        """Scale a context to [0, 1] by its ranges."""
        try:
            values = np.asarray(context, float)
        except (TypeError, ValueError, OverflowError):
            raise BanditError(f"a context is {len(self.low)} numbers, not {context!r}") from None
        if values.shape != (len(self.low),):
            raise BanditError(f"a context has {len(self.low)} values, not {list(np.shape(context))}: {context!r}")
        if not np.isfinite(values).all():
            raise BanditError(f"a context must be finite, not {context!r}")
        low, high = np.asarray(self.low), np.asarray(self.high)
        return (values - low) / np.where(high > low, high - low, 1.0)


@dataclass(frozen=True)
class LossScale:
    """How the training loss is scaled to a context: its logarithm or raw, and the range that becomes [0, 1]."""

    how: str
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def seen(cls, how: str, losses: Sequence[float]) -> "LossScale":
        """The scale of the losses of finished plays."""
        values = cls(how).transform(losses)
        values = values[np.isfinite(values)]
        if not len(values):
            return cls(how)
        low, high = float(values.min()), float(values.max())
        return cls(how, low, max(high, low + NARROWEST * max(1.0, abs(high))))

    def transform(self, losses: Sequence[float]) -> Float[np.ndarray, "n"]:
        values = np.asarray(losses, float)
        if self.how != "log":
            return values
        return np.log10(np.maximum(values, 1e-300))  # a NaN stays one

    def scale(self, losses: Sequence[float]) -> Float[np.ndarray, "n k"]:
        """One column of scaled losses; no column if the loss is not a context."""
        if self.how == "none":
            return np.zeros((len(losses), 0))
        scaled = (self.transform(losses) - self.low) / (self.high - self.low)
        scaled = np.where(np.isfinite(scaled), scaled, 1.0)
        return np.clip(scaled, -MARGIN, 1 + MARGIN)[:, None]
