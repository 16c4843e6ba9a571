"""The multi-domain PINN in JAX as its tutorials would have it: nested `grad` for one point, `vmap` over points.

The loss is that of `torch_peer`. A network is a list of (weights, bias); a derivative is `jax.grad` of the one before
it, so that every law computes its own. Adam and L-BFGS are optax's, each with a jitted step in a loop of Python;
Gauss-Newton takes the row of every point by `jax.jacrev` and solves dense normal equations.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import erf

from .problems import (
    ADAM_RATE,
    HISTORY,
    LAMBDA_B,
    LAMBDA_I,
    Array,
    Points,
    Run,
    draw_points,
    problem_of,
)

Function = Callable[[Any], Any]  # of one point (2,)
Network = list[tuple[Any, Any]]


def evaluate(network: Network, z: Any) -> Any:
    *inner, (last, last_bias) = network
    for weights, bias in inner:
        z = jnp.tanh(weights @ z + bias)
    return (last @ z + last_bias)[0]


def d(u: Function, axis: int) -> Function:
    return lambda z: jax.grad(u)(z)[axis]


def poisson_source(z: Any, s: Any) -> Any:
    bumps = erf((z - 0.25) * s) - erf((z - 0.75) * s)
    return jnp.prod(bumps / (2 * erf(s / 4)))


def residual(family: str, p: float, u: Function) -> Function:
    """r = F[u] - h as a function of one point; axis 0 is x, axis 1 is y or t."""
    laws: dict[str, Function] = {
        "poisson": lambda z: d(d(u, 0), 0)(z) + d(d(u, 1), 1)(z) - poisson_source(z, p),
        "advection": lambda z: d(u, 1)(z) + p * d(u, 0)(z),
        "reaction": lambda z: d(u, 1)(z) - p * u(z) * (1 - u(z)),
        "burgers": lambda z: d(u, 1)(z) + u(z) * d(u, 0)(z) - p * d(d(u, 0), 0)(z),
    }
    return laws[family]


def flux(family: str, p: float, u: Function) -> Function:
    if family == "burgers":
        return lambda z: u(z) ** 2 / 2 - p * d(u, 0)(z)
    return d(u, 1)


def jumps(family: str, p: float, names: Sequence[str], a: Function, b: Function, z: Any) -> Any:
    """The residuals of the conditions at one point of the interface, a vector."""
    ra, rb = residual(family, p, a), residual(family, p, b)
    laws: dict[str, Callable[[], list[Any]]] = {
        "u": lambda: [a(z) - b(z)],
        "uavg": lambda: [a(z) - (a(z) + b(z)) / 2],
        "r": lambda: [ra(z), rb(z)],
        "rc": lambda: [ra(z) - rb(z)],
        "gr": lambda: [*jax.grad(ra)(z), *jax.grad(rb)(z)],
        "c": lambda: [flux(family, p, a)(z) - flux(family, p, b)(z)],
        "x": lambda: [d(a, 0)(z) - d(b, 0)(z)],
        "t": lambda: [d(a, 1)(z) - d(b, 1)(z)],
        "xx": lambda: [d(d(a, 0), 0)(z) - d(d(b, 0), 0)(z)],
        "yy": lambda: [d(d(a, 1), 1)(z) - d(d(b, 1), 1)(z)],
        "tt": lambda: [d(d(a, 1), 1)(z) - d(d(b, 1), 1)(z)],
    }
    return jnp.stack([row for name in names for row in laws[name]()])


class Batch(NamedTuple):
    """The training points; arguments of every program, not constants in it."""

    collocation: list[Any]
    boundary: list[Any]
    data: list[Any]
    interface: Any


class PlainJaxPeer:
    """One problem, one set of conditions, one seed; the same methods as a `TorchPeer`."""

    def __init__(self, family: str, parameter: float, conditions: Sequence[str], dtype: str = "float64", seed: int = 0):
        self.problem = problem_of(family)
        self.family, self.parameter, self.conditions = family, float(parameter), tuple(conditions)
        self.dtype = dtype
        self.points = draw_points(self.problem, seed)
        rng = np.random.default_rng(seed)
        self._adam, self._search = optax.adam(ADAM_RATE), optax.lbfgs(memory_size=HISTORY)
        with self._precision():
            self.networks = [self._glorot(rng, (2, 20, 20, 1)) for _ in self.problem.subdomains]
            self._state = self._adam.init(self.networks)
        self._value, self._adam_program = jax.jit(self._loss), jax.jit(self._adam_step)
        self._lbfgs_program, self._equations = jax.jit(self._lbfgs_step), jax.jit(self._normal_equations)

    def _precision(self) -> Any:
        return jax.enable_x64(self.dtype == "float64")

    def _array(self, values: Any) -> jax.Array:
        return jnp.asarray(np.asarray(values), self.dtype)

    def _glorot(self, rng: np.random.Generator, sizes: Sequence[int]) -> Network:
        return [
            (self._array(rng.normal(size=(b, a)) * np.sqrt(2 / (a + b))), self._array(np.zeros(b)))
            for a, b in itertools.pairwise(sizes)
        ]

    @property
    def points(self) -> Points:
        """The training points. Assign a new dictionary to replace them; the boundary's data follows."""
        return self._points

    @points.setter
    def points(self, points: Points) -> None:
        self._points = points
        boundary = points["boundary"]
        with self._precision():
            self.batch = Batch(
                [self._array(p) for p in points["collocation"]],
                [self._array(p) for p in boundary],
                [self._array(self.problem.boundary_value(p, self.parameter)) for p in boundary],
                self._array(points["interface"]),
            )

    def weights(self) -> list[list[Array]]:
        """Per subdomain the arrays of its layers: weight (out, in), bias (out,), weight, ..."""
        return [[np.asarray(array) for layer in network for array in layer] for network in self.networks]

    def set_weights(self, weights: Sequence[Sequence[Array]]) -> None:
        with self._precision():
            self.networks = [
                [(self._array(w), self._array(b)) for w, b in zip(arrays[::2], arrays[1::2], strict=True)]
                for arrays in weights
            ]

    def loss(self) -> jax.Array:
        with self._precision():
            return self._value(self.networks, self.batch)

    def _residual(self, network: Network, z: Any) -> jax.Array:
        return residual(self.family, self.parameter, partial(evaluate, network))(z)

    def _jumps(self, networks: list[Network], z: Any) -> jax.Array:
        a, b = (partial(evaluate, network) for network in networks)
        return jumps(self.family, self.parameter, self.conditions, a, b, z)

    def _loss(self, networks: list[Network], batch: Batch) -> jax.Array:
        total = jnp.zeros((), self.dtype)
        for network, interior, boundary, data in zip(networks, *batch[:3], strict=True):
            total += jnp.mean(jax.vmap(partial(self._residual, network))(interior) ** 2)
            total += LAMBDA_B * jnp.mean((jax.vmap(partial(evaluate, network))(boundary) - data) ** 2)
        if self.conditions:
            rows = jax.vmap(partial(self._jumps, networks))(batch.interface)
            total += 2 * LAMBDA_I * jnp.sum(jnp.mean(rows**2, axis=0))
        return total

    def _adam_step(self, networks: list[Network], state: Any, batch: Batch) -> tuple[Any, Any]:
        updates, state = self._adam.update(jax.grad(self._loss)(networks, batch), state, networks)
        return optax.apply_updates(networks, updates), state

    def adam(self, steps: int) -> float:
        """Full-batch Adam for this many steps, carrying on from the last call; seconds."""
        with self._precision():
            begun = time.perf_counter()
            for _ in range(steps):
                self.networks, self._state = self._adam_program(self.networks, self._state, self.batch)
            jax.block_until_ready(self.networks)
            return time.perf_counter() - begun

    def _lbfgs_step(self, networks: list[Network], state: Any, batch: Batch) -> tuple[Any, Any]:
        objective = partial(self._loss, batch=batch)
        value, gradient = optax.value_and_grad_from_state(objective)(networks, state=state)
        updates, state = self._search.update(gradient, state, networks, value=value, grad=gradient, value_fn=objective)
        return optax.apply_updates(networks, updates), state

    def lbfgs(self, iterations: int) -> Run:
        """L-BFGS with optax's own line search; evaluations are not counted."""
        with self._precision():
            state = self._search.init(self.networks)
            begun = time.perf_counter()
            for _ in range(iterations):
                self.networks, state = self._lbfgs_program(self.networks, state, self.batch)
            jax.block_until_ready(self.networks)
            return Run(time.perf_counter() - begun, iterations, 0)

    def _normal_equations(self, networks: list[Network], batch: Batch) -> tuple[jax.Array, jax.Array]:
        """J^T J and J^T e of all weighted residuals e, the Jacobian dense."""
        theta, unravel = ravel_pytree(networks)

        def rows(law: Callable[[Any, Any], jax.Array], points: Any, scale: float) -> tuple[jax.Array, jax.Array]:
            at = lambda t, z: scale * jnp.atleast_1d(law(unravel(t), z))  # noqa: E731
            both = jax.vmap(lambda z: (at(theta, z), jax.jacrev(at)(theta, z)))(points)
            return both[0].reshape(-1), both[1].reshape(-1, theta.size)

        blocks = []
        for k, (interior, boundary, data) in enumerate(zip(*batch[:3], strict=True)):
            pde = lambda nets, z, k=k: self._residual(nets[k], z)  # noqa: E731
            given = lambda nets, at, k=k: evaluate(nets[k], at[0]) - at[1]  # noqa: E731
            blocks.append(rows(pde, interior, len(interior) ** -0.5))
            blocks.append(rows(given, (boundary, data), (LAMBDA_B / len(boundary)) ** 0.5))
        if self.conditions:
            blocks.append(rows(self._jumps, batch.interface, (2 * LAMBDA_I / len(batch.interface)) ** 0.5))
        e, j = (jnp.concatenate(parts) for parts in zip(*blocks, strict=True))
        return j.T @ j, j.T @ e

    def gauss_newton(self, iterations: int, damping: float = 1e-2) -> Run:
        """Levenberg-Marquardt with a dense solve; the damping starts afresh in every call."""
        with self._precision():
            begun = time.perf_counter()
            theta, unravel = ravel_pytree(self.networks)
            loss, done, evaluations = float(self._value(self.networks, self.batch)), 0, 0
            normal, gradient = self._equations(self.networks, self.batch)
            while done < iterations and damping < 1e12:
                trial = theta - _solve(normal, gradient, damping)
                trial_loss = float(self._value(unravel(trial), self.batch))
                evaluations += 1
                if trial_loss < loss:
                    theta, loss, done, damping = trial, trial_loss, done + 1, max(damping / 3, 1e-12)
                    if done < iterations:
                        normal, gradient = self._equations(unravel(theta), self.batch)
                else:
                    damping *= 4
            self.networks = unravel(theta)
            return Run(time.perf_counter() - begun, done, evaluations)


@jax.jit
def _solve(normal: jax.Array, gradient: jax.Array, damping: float) -> jax.Array:
    damped = normal + damping * jnp.eye(len(normal), dtype=normal.dtype)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(damped), gradient)
