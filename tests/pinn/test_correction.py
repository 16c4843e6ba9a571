"""The correction of any networks, even random ones, is the error itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import Line, untrained

import metalic as mt
from metalic.pinn.correction import correction
from metalic.pinn.defect import Defect


class Bent(mt.Family):
    """u'' = 6 u^2 with u = 1 / (1 + x)^2: not linear."""

    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.3])

    def residual(self, u, p):
        return u.xx - 6 * u.value**2

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", lambda p: (1 + p.x) ** -2)]

    def reference(self):
        return lambda points: (1 + points[:, 0]) ** -2.0


def corrected(solution):
    with jax.enable_x64(True):
        found = correction(Defect(solution))
    grid = solution.family.error_points()
    return found, solution.values(grid) + found.error, solution.family.reference(**solution.parameters)(grid)[:, None]


def test_a_linear_equation_is_solved_from_anywhere():
    found, values, truth = corrected(untrained(Line))
    assert found.reliable
    np.testing.assert_allclose(values, truth, atol=1e-8)


def test_newton_solves_one_that_is_not_linear():
    solution = untrained(Bent)
    near = solution.theta * 0.1
    found, values, truth = corrected(type(solution)(**(vars(solution) | {"theta": near})))
    assert found.reliable
    np.testing.assert_allclose(values, truth, atol=1e-8)


class Kink(Bent):
    """u' = sign(x - 0.55): no polynomial on a box has this derivative."""

    def residual(self, u, p):
        return u.x - jnp.where(p.x > 0.55, 1.0, -1.0)

    def boundary(self):
        return [mt.Dirichlet("x=0", 0.0)]


def test_what_polynomials_cannot_represent_is_not_relied_on():
    with jax.enable_x64(True):
        assert not correction(Defect(untrained(Kink))).reliable


@pytest.mark.parametrize(("name", "of"), [("heat", {"a": 1, "b": 0.5, "c": 1, "d": -1}), ("advection", {"beta": 9})])
def test_in_two_dimensions(name, of):
    _, values, truth = corrected(untrained(name, of))
    assert np.linalg.norm(values - truth) < 1e-3 * np.linalg.norm(truth)
