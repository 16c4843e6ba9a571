"""Sensitivities against the derivative of an exact solution, and against the difference of two solves."""

import numpy as np
import pytest
from small import Line, Short, untrained

import metalic as mt
from metalic.errors import ParameterError

K, X = 2.0, np.linspace(0, 1, 41)
SETTINGS = {"schedule": [mt.Phase(mt.GaussNewton(), 100)], "hidden": (6,), "points": mt.Points(60, 1, 1)}


class Graded(Line):
    """The same with boundary data that depend on the parameter: u = sin(k x)."""

    grid = (21,)

    def boundary(self):
        import jax.numpy as jnp

        return [mt.Dirichlet("x=0", 0.0), mt.Dirichlet("x=1", lambda p, k: jnp.sin(k))]

    def reference(self, k):
        return lambda points: np.sin(k * points[:, 0])


def relative(found, truth):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


def test_the_derivative_of_an_exact_solution():
    solution = mt.solve(Line, "u,c", k=K, check=False, **SETTINGS)
    truth = (X * np.cos(K * X) * np.sin(K) - np.sin(K * X) * np.cos(K)) / np.sin(K) ** 2
    assert relative(solution.sensitivity("k")(x=X), truth) < 100 * solution.error + 1e-6
    there = solution.sensitivity("k").integral()
    assert there == pytest.approx(np.trapezoid(truth, X), rel=1e-2)
    h = 1e-3
    ahead, behind = (mt.solve(Line, "u,c", k=K + d, start=solution, check=False, **SETTINGS) for d in (h, -h))
    assert relative((ahead(x=X) - behind(x=X)) / (2 * h), solution.sensitivity("k")(x=X)) < 1e-4


def test_boundary_data_may_depend_on_the_parameter(tmp_path):
    solution = mt.solve(Graded, "u,c", k=K, check=False, **SETTINGS)
    found = solution.sensitivity("k")(x=X)
    assert relative(found, X * np.cos(K * X)) < 100 * solution.error + 1e-6
    loaded = mt.Solution.load(solution.save(tmp_path / "a.npz"), Graded)  # has no training points
    assert relative(loaded.sensitivity("k")(x=X), X * np.cos(K * X)) < 100 * solution.error + 1e-6


def test_a_solution_that_the_parameter_does_not_move():
    found = untrained(Short).sensitivity("k")(x=X)
    np.testing.assert_allclose(found, 0.0, atol=1e-9)


def test_the_parameter_must_exist():
    with pytest.raises(ParameterError, match=r"'line' has no parameter 's'; its parameters: k"):
        untrained(Line).sensitivity("s")
