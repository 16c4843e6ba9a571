"""L-BFGS with a strong-Wolfe line search, from optax, the whole iteration in one program.

The line search keeps value and gradient of the point it accepts, so that an iteration costs about one evaluation of
both. Tolerances are those of common implementations: the largest entry of the gradient, and the largest entry of the
step or the change of the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ..objective import Objective
from .base import Optimizer, Progress, Status, status_of


@dataclass(frozen=True)
class LBFGS(Optimizer):
    """L-BFGS with a zoom line search, from optax.

    Args:
        history: The number of steps that are remembered.
        gradient_tolerance: Stops if no entry of the gradient is larger.
        change_tolerance: Stops if no weight, or the loss, changes by more.
        line_search_steps: Trials of a line search at most.

    Raises:
        ScheduleError: A number is not allowed.

    Example:
        >>> LBFGS(history=20).history
        20
    """

    history: int = 50
    gradient_tolerance: float = 1e-6
    change_tolerance: float = 1e-9
    line_search_steps: int = 25

    name = "lbfgs"
    chunk = 100

    @property
    def _transform(self) -> optax.GradientTransformationExtraArgs:
        search = optax.scale_by_zoom_linesearch(self.line_search_steps, initial_guess_strategy="one")
        return optax.lbfgs(memory_size=self.history, linesearch=search)

    def init(self, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
        loss, gradient = objective.value_and_gradient(theta)
        small = jnp.max(jnp.abs(gradient)) <= self.gradient_tolerance
        inner = (self._transform.init(theta), gradient)
        return Progress(theta, loss, status_of(loss, (Status.GRADIENT, small)), inner)

    def resume(self, objective: Objective, state: Progress) -> Progress:
        """The history belongs to the old points: start again."""
        return self.init(objective, state.theta)

    def step(self, objective: Objective, state: Progress) -> Progress:
        inner, gradient = state.inner
        updates, inner = self._transform.update(
            gradient, inner, state.theta, value=state.loss, grad=gradient, value_fn=_differentiable(objective)
        )
        theta = optax.apply_updates(state.theta, updates)
        loss, gradient = optax.tree.get(inner, "value"), optax.tree.get(inner, "grad")
        largest_step = jnp.max(jnp.abs(updates))
        status = status_of(
            loss,
            (Status.GRADIENT, jnp.max(jnp.abs(gradient)) <= self.gradient_tolerance),
            (Status.STALLED, largest_step == 0),
            (Status.CHANGE, (largest_step <= self.change_tolerance) | (abs(loss - state.loss) < self.change_tolerance)),
        )
        return Progress(theta, loss, status, (inner, gradient))


def _differentiable(objective: Objective) -> Callable[[Float[Array, "K P"]], Float[Array, ""]]:
    """The objective as a function whose derivative is that of `value_and_gradient`."""

    @jax.custom_vjp
    def value(theta: Float[Array, "K P"]) -> Float[Array, ""]:
        return objective.value(theta)

    def backward(gradient: Float[Array, "K P"], cotangent: Float[Array, ""]) -> tuple[Float[Array, "K P"]]:
        return (gradient * cotangent,)

    value.defvjp(objective.value_and_gradient, backward)
    return value
