"""What limits Gauss-Newton near convergence: the normal equations, or the descent?

    python -m experiments.factorisation --out results/factorisation

From the end of a `fast` solve, four ways to make a step are compared over the same number of further iterations, each
with the damping rule and the correction along geodesics of the optimizer:

- cholesky: the normal equations, as the optimizer solves them;
- refined:  the same with one step of iterative refinement, whose residual is formed with J itself;
- qr:       the least-squares problem [J; sqrt(mu D)], whose condition number is not squared;
- last:     cholesky, and after every step the last layers are solved for exactly, the rest held fixed.

The steps are made by SciPy from a dense Jacobian: losses and errors can be compared, seconds cannot.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular

import metalic as mt
from benchmarks.timing import markdown, write
from metalic import runtime
from metalic.pinn.problem import Problem, condition_jacobians, fixed_jacobians
from metalic.pinn.solver import error_of

CASES = {"poisson": {"s": 20.0}, "advection": {"beta": 21.0}, "reaction": {"rho": 8.0}, "burgers": {"nu": 0.004}}
WAYS = ("cholesky", "refined", "qr", "last")
SMALLEST_DIAGONAL, LARGEST_BEND, TRIALS = 1e-3, 0.375, 12
HEAD = ("family", "way", "iterations", "loss before", "loss", "error before", "error", "condition of J")
Solve = Callable[[np.ndarray], np.ndarray]


def jacobian(problem: Problem, theta: Any) -> tuple[Any, Any]:
    """J of all weighted rows by all weights, and the rows r; |r|^2 is the loss."""
    count, size = theta.shape
    parts, rows = [], []
    for batch in [*chain(*fixed_jacobians(problem, theta)), *condition_jacobians(problem, theta)]:
        for i, r in enumerate(batch.r):
            own = batch.jacobians(i)
            blank = jnp.zeros((size, len(r)))
            parts.append(jnp.concatenate([own.get(k, blank) for k in range(count)]).T)
            rows.append(r)
    return jnp.concatenate(parts), jnp.concatenate(rows)


def solver(way: str, J: np.ndarray, damping: np.ndarray) -> Solve:
    """A function that minimises |J x + r|^2 + |x|^2 weighted by the damping, for a vector r."""
    if way == "qr":
        stacked = np.concatenate([J, np.diag(np.sqrt(damping))])
        q, upper = qr(stacked, mode="economic", check_finite=False)
        return lambda r: solve_triangular(upper, -q[: len(r)].T @ r)
    factor = cho_factor(J.T @ J + np.diag(damping), lower=True)

    def normal(r: np.ndarray) -> np.ndarray:
        x = cho_solve(factor, -J.T @ r)
        return x + cho_solve(factor, -J.T @ (J @ x + r) - damping * x) if way == "refined" else x

    return normal


class Descent:
    """Gauss-Newton on a dense Jacobian."""

    def __init__(self, problem: Problem, theta: np.ndarray, way: str):
        self.shape, self.way = theta.shape, way
        self.jacobian = jax.jit(lambda x: jacobian(problem, x.reshape(self.shape))[0])
        self.rows = jax.jit(lambda x: jacobian(problem, x.reshape(self.shape))[1])
        self.theta, self.mu, self.growth = theta.ravel(), 1e-2, 2.0
        self.last = last_layers(problem, self.shape)

    def loss(self, theta: np.ndarray) -> float:
        return float(np.sum(np.asarray(self.rows(theta)) ** 2))

    def run(self, iterations: int) -> np.ndarray:
        for _ in range(iterations):
            if not self.step():
                break
            if self.way == "last":
                self.solve_last()
        return self.theta.reshape(self.shape)

    def step(self) -> bool:
        """One step; False if none lowers the loss."""
        J, r = np.asarray(self.jacobian(self.theta)), np.asarray(self.rows(self.theta))
        scale = np.sum(J**2, axis=0)
        scale = np.maximum(scale, SMALLEST_DIAGONAL * scale.max())
        for _ in range(TRIALS):
            damping = self.mu * scale
            solve = solver(self.way, J, damping)
            step = solve(r)
            second = sum(np.asarray(self.rows(self.theta + h * step)) for h in (-0.1, 0.1)) - 2 * r
            bend = solve(second / 0.01) / 2
            new = self.theta + step + bend
            predicted = step @ (damping * step - J.T @ r)
            rho = (r @ r - self.loss(new)) / predicted
            if scale @ bend**2 <= LARGEST_BEND**2 * (scale @ step**2) and rho > 0 and predicted > 0:
                self.theta, self.mu, self.growth = new, self.mu * max(1 / 3, 1 - (2 * rho - 1) ** 3), 2.0
                return True
            self.mu, self.growth = self.mu * self.growth, 2 * self.growth
        return False

    def solve_last(self) -> None:
        """Minimise over the last layers alone; for a linear equation they are then exact."""
        J, r = np.asarray(self.jacobian(self.theta))[:, self.last], np.asarray(self.rows(self.theta))
        new = self.theta.copy()
        new[self.last] += np.linalg.lstsq(J, -r, rcond=1e-14)[0]
        if self.loss(new) < self.loss(self.theta):
            self.theta = new


def last_layers(problem: Problem, shape: tuple[int, ...]) -> np.ndarray:
    """Which of all weights belong to last layers."""
    marks = np.zeros(shape)
    for row in marks:
        for part in problem.system.network.layers(row)[-1]:
            part[...] = 1.0
    return np.flatnonzero(marks)


def compare(name: str, iterations: int) -> list[list[Any]]:
    """A row per way."""
    begun = mt.solve(name, schedule="fast", parameters=CASES[name], check=False, cold=True)
    found = []
    with jax.enable_x64(True):
        problem = begun.problem
        singular = np.linalg.svd(jax.jit(jacobian)(problem, jnp.asarray(begun.theta))[0], compute_uv=False)
        for way in WAYS:
            descent = Descent(problem, np.asarray(begun.theta), way)
            before = descent.loss(descent.theta)
            theta = descent.run(iterations)
            losses, error = (before, descent.loss(descent.theta)), error_of(replace(begun, theta=theta))
            found.append([name, way, iterations, *losses, begun.error, error, float(singular[0] / singular[-1])])
            print(*found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--families", nargs="+", default=list(CASES))
    parser.add_argument("--out", type=Path, default=Path("results/factorisation"))
    options = parser.parse_args()
    runtime.prepare(core=0)
    rows = [row for name in options.families for row in compare(name, options.iterations)]
    write(options.out, "What limits Gauss-Newton near convergence", markdown(HEAD, rows), rows)


if __name__ == "__main__":
    main()
