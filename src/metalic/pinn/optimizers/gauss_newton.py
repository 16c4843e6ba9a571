"""Gauss-Newton with Levenberg-Marquardt damping.

The loss is a sum of squares |r|^2. A step solves (J^T J + mu D) delta = -J^T r and is taken if the loss falls. The
damping mu follows Nielsen's rule: after a step it shrinks by max(1/3, 1 - (2 rho - 1)^3), with rho the actual over
the predicted decrease, and grows by 2, 4, 8... while trials fail. D is Marquardt's diagonal of J^T J, kept above a
thousandth of its largest entry. A failed trial costs a factorisation and one loss, no new Jacobian.

Each step is bent along the valley it follows (geodesic acceleration, Transtrum and Sethna 2012): delta gets the
second-order correction -1/2 (J^T J + mu D)^-1 J^T r_vv, v = delta, which reuses the factorisation; a trial whose
correction is too large against delta fails. On these problems it is worth a factor of 10 and more in error at equal
time.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..normal_equations import NormalEquations
from ..objective import Objective
from .base import Optimizer, Progress, Status, status_of, unevaluated


class Trial(eqx.Module):
    """One attempt at a step, and the damping for the next one."""

    theta: Float[Array, "K P"]
    loss: Float[Array, ""]
    step: Float[Array, "K P"]
    accepted: Array
    mu: Float[Array, ""]
    growth: Float[Array, ""]
    count: Int[Array, ""]


@dataclass(frozen=True)
class GaussNewton(Optimizer):
    """Gauss-Newton with adaptive damping (Levenberg-Marquardt) and a correction along geodesics.

    Args:
        gradient_tolerance: Stops if no entry of the gradient is larger.
        change_tolerance: Stops if a step changes the weights by less, relative to their size.
        damping: The damping at the beginning.
        smallest_diagonal: The smallest entry of the scaling, relative to the largest.
        largest_bend: How large the geodesic correction may be, relative to the step.
        trials: Trials of a step at most.

    Raises:
        ScheduleError: A number is not allowed.

    Example:
        >>> GaussNewton(damping=1e-4).damping
        0.0001
    """

    gradient_tolerance: float = 1e-12
    change_tolerance: float = 1e-12
    damping: float = 1e-2
    smallest_diagonal: float = 1e-3
    largest_bend: float = 0.375
    trials: int = 12

    name = "gauss-newton"
    chunk = 10

    def init(self, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
        return unevaluated(theta, (jnp.asarray(self.damping, theta.dtype), jnp.asarray(2.0, theta.dtype)))

    def step(self, objective: Objective, state: Progress) -> Progress:
        equations = objective.normal_equations(state.theta)
        mu, growth = state.inner
        trial = self._search(objective, state.theta, equations, mu, growth)
        largest_gradient = 2 * jnp.max(jnp.abs(equations.gradient))
        relative_step = jnp.linalg.norm(trial.step) / (jnp.linalg.norm(state.theta) + 1e-30)
        status = status_of(
            equations.value,
            (Status.GRADIENT, largest_gradient <= self.gradient_tolerance),
            (Status.STALLED, ~trial.accepted),
            (Status.CHANGE, relative_step <= self.change_tolerance),
        )
        theta = jnp.where(trial.accepted, trial.theta, state.theta)
        loss = jnp.where(trial.accepted, trial.loss, equations.value)
        return Progress(theta, loss, status, (trial.mu, trial.growth))

    def _search(
        self,
        objective: Objective,
        theta: Float[Array, "K P"],
        equations: NormalEquations,
        mu: Float[Array, ""],
        growth: Float[Array, ""],
    ) -> Trial:
        """Trials with growing damping until the loss falls."""
        scale = jnp.maximum(equations.scale, self.smallest_diagonal * jnp.max(equations.scale))

        def attempt(last: Trial) -> Trial:
            damping = last.mu * scale
            solve = equations.factorise(damping)
            step = solve(-equations.gradient)
            bend = solve(-objective.curvature(theta, step)) / 2
            tame = jnp.sum(scale * bend**2) <= self.largest_bend**2 * jnp.sum(scale * step**2)
            bent = theta + step + bend
            loss = objective.value(bent)
            # What the linear model promises: |r|^2 - |r + J delta|^2 = delta . (2 mu D delta + J^T J delta) ...
            # ... = delta . (mu D delta - J^T r), because (J^T J + mu D) delta = -J^T r.
            predicted = jnp.sum(step * (damping * step - equations.gradient))
            rho = (equations.value - loss) / predicted
            good = tame & jnp.isfinite(loss) & (rho > 0) & (predicted > 0)
            shrink = jnp.maximum(1 / 3, 1 - (2 * rho - 1) ** 3)
            return Trial(
                bent,
                loss,
                jnp.where(jnp.isfinite(step), step, 0.0),
                good,
                jnp.where(good, last.mu * shrink, last.mu * last.growth),
                jnp.where(good, 2.0, 2 * last.growth),
                last.count + 1,
            )

        first = Trial(theta, equations.value, jnp.zeros_like(theta), jnp.asarray(False), mu, growth, jnp.asarray(0))
        return jax.lax.while_loop(lambda t: ~t.accepted & (t.count < self.trials), attempt, first)
