"""Adam, full batch, from optax."""

from __future__ import annotations

from dataclasses import dataclass

import optax
from jaxtyping import Array, Float

from ...errors import ScheduleError
from ...validation import real
from ..objective import Objective
from .base import Optimizer, Progress, status_of, unevaluated


@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam with a constant rate, or with one that falls along a cosine.

    Args:
        rate: The rate, or the one at the beginning.
        final_rate: The rate at the end; None keeps the rate constant.
        decay: Over how many iterations the rate falls.

    Raises:
        ScheduleError: A rate is not a positive number.

    Example:
        >>> Adam(1e-2, final_rate=1e-4, decay=300)
        Adam(rate=0.01, final_rate=0.0001, decay=300)
    """

    rate: float = 1e-3
    final_rate: float | None = None
    decay: int = 1000

    name = "adam"
    chunk = 250
    finds_start = True

    def __post_init__(self) -> None:
        if not real(self.rate, least=0):
            raise ScheduleError(f"Adam's rate is a positive number, not {self.rate!r}")
        if self.final_rate is not None and real(self.final_rate, least=0) is None:
            raise ScheduleError(f"Adam's final rate is a number of at least 0, or None, not {self.final_rate!r}")
        super().__post_init__()

    @property
    def _transform(self) -> optax.GradientTransformation:
        if self.final_rate is None:
            return optax.adam(self.rate)
        return optax.adam(optax.cosine_decay_schedule(self.rate, self.decay, self.final_rate / self.rate))

    def init(self, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
        return unevaluated(theta, self._transform.init(theta))

    def step(self, objective: Objective, state: Progress) -> Progress:
        loss, gradient = objective.value_and_gradient(state.theta)
        updates, inner = self._transform.update(gradient, state.inner, state.theta)
        return Progress(optax.apply_updates(state.theta, updates), loss, status_of(loss), inner)
