"""The reward `residual` against a closed form."""

import math
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from tiny import RANDOM, SETTINGS, Blind

import metalic as mt
from metalic.pinn import Solution
from metalic.pinn.options import SolverOptions
from metalic.pinn.sampler import Sampler
from metalic.study import Study
from metalic.study.rewards import Residual
from metalic.study.rewards.residual import BOUNDARY, INTERFACE, VALIDATION, functional


class Flat(mt.Family):
    """u_xx + u_yy = 0 with a flux, cut at y = 0.5: networks that are linear make every term a closed form."""

    parameters = {"k": (1.0, 2.0)}
    domain = mt.Box(x=(0, 1), y=(0, 1))
    decomposition = mt.split(domain, y=[0.5])
    points = mt.Points(16, 8, 4)

    def residual(self, u: Any, p: Any, k: Any) -> Any:
        return u.x + 2.0

    def flux(self, u: Any, p: Any, k: Any) -> dict[str, Any]:
        return {"x": u.x, "y": k * u.y}

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet("y=0", 3.0)]


class Fluxless(Flat):
    flux = None


def solved(family: mt.Family) -> Solution:
    schedule = (mt.Phase(mt.Adam(1e-2), 3),)
    return mt.solve(family, "u", schedule, hidden=(4,), k=1.5)


@pytest.mark.parametrize("family", [Flat(), Fluxless()])
def test_the_functional_against_finite_differences(family: mt.Family) -> None:
    """Phi from the networks' values alone, derivatives by central differences."""
    solution = solved(family)
    problem, h = solution.problem, 1e-5
    assert problem is not None
    values: list[float] = []

    def value(k: int, points: np.ndarray) -> np.ndarray:
        scaled = ((points - solution.centre[k]) * solution.slope[k]).T
        return solution.network.evaluate(solution.theta[k], scaled)[0]

    def slope(k: int, points: np.ndarray, axis: int) -> np.ndarray:
        step = h * np.eye(2)[axis]
        return (value(k, points + step) - value(k, points - step)) / (2 * h)

    collocation, (boundary,), interface = Sampler(family, family.points, "sobol").draw(0, VALIDATION)
    assert interface is not None
    residual = [np.mean((slope(k, np.asarray(x).T, 0) + 2) ** 2) for k, x in enumerate(collocation.x)]
    edge = np.sum(boundary.weight[0] * (value(0, boundary.x[0].T) - 3) ** 2) / 2  # a mean over the two subdomains
    at = interface.x[0].T
    jumps = (value(0, at) - value(1, at)) ** 2 + (slope(0, at, 0) - slope(1, at, 0)) ** 2
    across = slope(0, at, 1) - slope(1, at, 1)
    jumps = jumps + (across * (1.5 if family.flux is not None else 1.0)) ** 2
    expected = np.mean(residual) + BOUNDARY * edge + INTERFACE * np.mean(jumps)
    plain = mt.Schedule("plain", (mt.Phase(mt.Adam(1e-2), 3),))
    score = Residual().score(family, plain, SolverOptions(), 0)
    assert score is not None
    with jax.enable_x64(True):
        found = score(problem, jax.numpy.asarray(solution.theta))
        values.append(float(functional(problem, jax.numpy.asarray(solution.theta))))
    assert found == pytest.approx(math.sqrt(expected), rel=1e-6)
    assert np.isfinite(values).all()


def test_a_study_without_a_reference(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Blind, RANDOM, reward="residual", **SETTINGS) as study:
        study.play(3)
        assert str(study.settings.reward) == "residual"
        assert all(play.error is None and play.reward is not None for play in study.plays)
        assert study.recommend(a=1.0).meaning == "residual on fresh points"
