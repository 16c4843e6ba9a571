"""Least-squares objectives that are no PDE, for the tests of optimizers."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from metalic.pinn.normal_equations import NormalEquations
from metalic.pinn.objective import Objective
from metalic.pinn.optimizers import advance, start


def run(optimizer, one, theta, iterations):
    return advance(optimizer, one, start(optimizer, one, theta), jnp.asarray(iterations))


class LeastSquares(Objective):
    """|r(theta)|^2 of plain rows, everything by automatic differentiation of dense matrices."""

    data: tuple[jax.Array, ...]
    rows: Callable[..., jax.Array] = eqx.field(static=True)
    edges: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())

    def value(self, theta):
        return jnp.sum(self.rows(theta, *self.data) ** 2)

    def value_and_gradient(self, theta):
        return jax.value_and_grad(self.value)(theta)

    def normal_equations(self, theta):
        r = self.rows(theta, *self.data)
        J = jax.jacobian(self.rows)(theta, *self.data)
        diagonal = tuple(J[:, k].T @ J[:, k] for k in range(len(theta)))
        coupling = tuple(J[:, high].T @ J[:, low] for low, high in self.edges)
        return NormalEquations(r @ r, jnp.einsum("rkp,r->kp", J, r), diagonal, coupling, self.edges)

    def curvature(self, theta, direction):
        along = lambda s: self.rows(theta + s * direction, *self.data)  # noqa: E731
        second = jax.jacfwd(jax.jacfwd(along))(0.0)
        return jax.vjp(lambda t: self.rows(t, *self.data), theta)[1](second)[0]


def rosenbrock(theta):
    x, y = theta[0]
    return jnp.stack([10 * (y - x**2), 1 - x])


def linear(theta, matrix, right):
    return matrix @ theta.ravel() - right
