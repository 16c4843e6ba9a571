"""Balanced residuals: a contrast between materials costs nothing, and the reported loss stays the documented one."""

import numpy as np
import pytest
from small import ADAM, HIDDEN, NEWTON, POINTS

import metalic as mt
from metalic.pinn import Phase, Schedule
from metalic.solving import solve

CONTRAST = 1000.0


class Rod(mt.Family):
    """k (u'' + a pi^2) = 0 with k = 1 on the left half and 1000 on the right: the equation is a thousand times larger
    on one side and has the same solution, a pi^2 x (1 - x) / 2."""

    parameters = {"a": (1.0, 2.0)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.Decomposition(domain, {"left": mt.Box(x=(0, 0.5)), "right": mt.Box(x=(0.5, 1))})
    coefficients = {"k": {"left": 1.0, "right": CONTRAST}}
    conditions = ("u", "c")

    def __init__(self, divided=False):
        self.divided = divided

    def residual(self, u, p, a):
        return (u.xx + a * np.pi**2) * (1.0 if self.divided else p.k)

    def flux(self, u, p, a):
        return {"x": u.x}

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0)]

    def reference(self, a):
        return lambda points: a * np.pi**2 / 2 * points[:, 0] * (1 - points[:, 0])


PHASES = (Phase(ADAM, 60), Phase(NEWTON, 12))


def rod(balance, divided=False, phases=PHASES):
    options = {"hidden": HIDDEN, "points": POINTS, "a": 1.5, "sampling": "grid"}
    return solve(Rod(divided), "u,c", Schedule("own", phases, balance=balance), **options)


def test_balancing_divides_by_the_coefficient():
    """On a grid both halves have the same points, so that the strengths of their residuals differ by the coefficient
    alone: training takes the steps that it takes when the family writes its residual without the coefficient."""
    phases = (Phase(ADAM, 20),)
    balanced, divided, plain = rod(True, False, phases), rod(False, True, phases), rod(False, False, phases)
    np.testing.assert_allclose(balanced.theta, divided.theta, rtol=1e-9)
    assert not np.allclose(plain.theta, divided.theta, rtol=1e-2)


def test_a_contrast_costs_nothing():
    balanced, divided = rod(True), rod(False, True)
    assert balanced.error < 1e-3
    assert balanced.error == pytest.approx(divided.error, rel=0.1)


def test_the_reported_loss_is_not_balanced():
    solution = rod(True)
    terms = solution.terms()
    total = terms["residual"] + 20 * terms["boundary"] + 5 * (terms["u"] + terms["c"])
    assert solution.loss == pytest.approx(total, rel=1e-9)
    k = np.array([1.0, CONTRAST])
    assert terms["residual"] == pytest.approx(np.sum(k**2 * mean_squares(solution)), rel=1e-3)


def mean_squares(solution, h=1e-4):
    """Of u'' + a pi^2 at the training points, by central differences."""
    found = []
    for x in solution.collocation:
        x = x[:, 0]
        second = (solution(x=x + h) - 2 * solution(x=x) + solution(x=x - h)) / h**2
        found.append(np.mean((second + 1.5 * np.pi**2) ** 2))
    return np.array(found)


def test_without_coefficients_nothing_is_balanced():
    class Even(Rod):
        coefficients = {}

        def residual(self, u, p, a):
            return u.xx + a * np.pi**2

    def solved(balance):
        schedule = Schedule("own", (Phase(ADAM, 5),), balance=balance)
        return solve(Even(), "u,c", schedule, hidden=HIDDEN, points=POINTS, a=1.5)

    np.testing.assert_array_equal(solved(True).theta, solved(False).theta)
