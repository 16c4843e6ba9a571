"""Gauss-Newton with Levenberg-Marquardt damping.

The loss is a sum of squares |r|^2. A step solves (J^T J + mu D) delta = -J^T r and is taken if the loss falls. The
damping mu follows Nielsen's rule: after a step it shrinks by max(1/3, 1 - (2 rho - 1)^3), with rho the actual over
the predicted decrease, and grows by 2, 4, 8... while trials fail; D is Marquardt's diagonal of J^T J. A failed trial
costs a factorisation and one loss, no new Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..loss import NormalEquations, edges, normal_equations, value
from ..problem import Problem
from .base import Optimizer, Progress, Status, status_of, unevaluated
from .blocks import solve


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
    gradient_tolerance: float = 1e-12
    change_tolerance: float = 1e-12
    damping: float = 1e-2
    smallest_diagonal: float = 1e-10
    trials: int = 12

    name = "gauss-newton"
    chunk = 10

    def init(self, problem: Problem, theta: Float[Array, "K P"]) -> Progress:
        return unevaluated(theta, (jnp.asarray(self.damping, theta.dtype), jnp.asarray(2.0, theta.dtype)))

    def step(self, problem: Problem, state: Progress) -> Progress:
        equations = normal_equations(problem, state.theta)
        mu, growth = state.inner
        trial = self._search(problem, state.theta, equations, mu, growth)
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
        problem: Problem,
        theta: Float[Array, "K P"],
        equations: NormalEquations,
        mu: Float[Array, ""],
        growth: Float[Array, ""],
    ) -> Trial:
        """Trials with growing damping until the loss falls."""
        graph = edges(problem)
        scale = jnp.stack([jnp.diagonal(block) for block in equations.diagonal])
        scale = jnp.maximum(scale, self.smallest_diagonal * jnp.max(scale))

        def attempt(last: Trial) -> Trial:
            damping = last.mu * scale
            step = solve(equations.diagonal, equations.coupling, graph, damping, -equations.gradient)
            loss = value(problem, theta + step)
            # |r|^2 falls by 2 x (half the model's decrease): predicted = delta . (mu D delta - J^T r)
            predicted = jnp.sum(step * (damping * step - equations.gradient))
            rho = (equations.value - loss) / predicted
            good = jnp.isfinite(loss) & (rho > 0) & (predicted > 0)
            shrink = jnp.maximum(1 / 3, 1 - (2 * rho - 1) ** 3)
            return Trial(
                theta + step,
                loss,
                jnp.where(jnp.isfinite(step), step, 0.0),
                good,
                jnp.where(good, last.mu * shrink, last.mu * last.growth),
                jnp.where(good, 2.0, 2 * last.growth),
                last.count + 1,
            )

        first = Trial(
            theta, equations.value, jnp.zeros_like(theta), jnp.asarray(False), mu, growth, jnp.asarray(0)
        )
        return jax.lax.while_loop(lambda t: ~t.accepted & (t.count < self.trials), attempt, first)
