"""Points that move: without a new program, to where the residual is large, and to layers between the points."""

import jax
import numpy as np
import pytest
from scipy.stats import norm
from small import ADAM, HIDDEN, NEWTON, POINTS, Line, line

from metalic.families import Dirichlet, find_family
from metalic.geometry import Points
from metalic.pinn import Adam, Phase
from metalic.pinn.optimizers import advance
from metalic.solving import solve


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_points_move_without_a_new_program(adaptive, precision, first):
    line(precision=precision)  # its programs, if no test before has made them
    programs = advance._cache_size()
    phases = [Phase(ADAM, 40, resample=15), Phase(NEWTON, 12, resample=4, adaptive=adaptive)]
    solution = line(schedule=phases, precision=precision)
    assert advance._cache_size() == programs
    assert [phase.iterations for phase in solution.phases] == [40, 12]
    assert [h[0] for h in solution.phases[0].history] == [15, 30, 40]
    assert [h[0] for h in solution.phases[1].history] == [4, 8, 12]
    for old, new, (low, high) in zip(first.collocation, solution.collocation, ((0, 0.5), (0.5, 1)), strict=True):
        assert old.shape == new.shape
        assert not np.allclose(old, new)
        assert np.all((new >= low - 1e-6) & (new <= high + 1e-6))
    assert solution.error < 0.1


def test_adaptive_points_gather_where_the_residual_is_large():
    """u'' = a spike at x = 0.9: of 24 points in [0.5, 1], most of the half that moves goes there."""

    class Spike(Line):
        def residual(self, u, p, k):
            return 1e-3 * u.xx - k * jax.numpy.exp(-((p.x - 0.9) ** 2) / (2 * 0.02**2))

    solution = solve(
        Spike, "u", [Phase(Adam(1e-6), 4, resample=2, adaptive=True)], hidden=HIDDEN, points=Points(40, 8, 6), k=2.0
    )
    near = np.abs(solution.collocation[1][:, 0] - 0.9) < 0.05
    assert near.sum() > 15  # evenly spread they would be 8 of 40
    assert (solution.collocation[1][:, 0] < 0.85).sum() >= 12  # the other half stays spread out


# --- Layers between the points ---------------------------------------------------------------------------------------


class Kink(Line):
    """u'' = a narrow peak: u has a kink."""

    conditions = ("u", "c")
    parameters = {"k": (0.5, 2.0)}

    def __init__(self, centre, width):
        self.centre, self.width = centre, width

    def residual(self, u, p, k):
        z = (p.x - self.centre) / self.width
        return u.xx - k * jax.numpy.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / self.width

    def boundary(self):
        return [Dirichlet("x=0", 0.0), Dirichlet("x=1", lambda p, k: k * (1 - self.centre))]

    def reference(self, k):
        def ramp(points):
            z = (points[:, 0] - self.centre) / self.width
            return k * self.width * (z * norm.cdf(z) + norm.pdf(z))

        return ramp


@pytest.fixture(scope="module")
def kink(first):
    x = np.sort(first.collocation[1][:, 0])
    widest = np.argmax(np.diff(x))
    return Kink((x[widest] + x[widest + 1]) / 2, (x[widest + 1] - x[widest]) / 12)


def solved(family, recheck, **options):
    settings = {"hidden": HIDDEN, "points": POINTS, "k": 1.0} | options
    return solve(family, "u,c", [Phase(NEWTON, 20, recheck=recheck)], **settings)


def test_a_layer_between_the_points_is_found_on_fresh_points(kink):
    """The peak lies in the widest gap between the points, and is a twelfth as wide as the gap."""
    blind, seeing = solved(kink, None), solved(kink, 20)
    assert blind.error > 0.1
    assert blind.loss < 1e-6  # the loss does not show it
    assert blind.phases[0].gathered == ()
    (phase,) = seeing.phases
    assert phase.gathered == (20,)
    assert phase.iterations == 40  # the budget again, and no more
    assert seeing.loss > 1e5 * blind.loss  # five units cannot bend so sharply, but the loss no longer hides it


def test_a_solve_stuck_with_a_hidden_layer_is_saved():
    """Reaction: u = 0 solves the equation too, and a layer between the points leads to it."""

    class Reaction(type(find_family("reaction"))):
        conditions = default_conditions = ("u",)

    def of(recheck):
        phases = [Phase(NEWTON, 200, recheck=recheck)]
        options = {"hidden": (10, 10), "points": Points(300, 80, 60), "seed": 2, "check": False}
        return solve(Reaction, "u", phases, rho=12.387697012176162, **options)

    assert of(None).error > 0.1
    saved = of(50)
    assert saved.phases[0].gathered
    assert saved.error < 1e-2


def test_looking_at_fresh_points_changes_nothing_where_nothing_was_missed():
    plain, looked = solved(Line, None, k=2.0), solved(Line, 10, k=2.0)
    assert looked.phases[0].gathered == ()
    np.testing.assert_array_equal(plain.theta, looked.theta)


def test_a_solve_that_found_a_layer_continues_from_its_checkpoint(kink, tmp_path):
    whole, path = solved(kink, 10), tmp_path / "solve.npz"
    solution = None
    while solution is None or path.exists():
        solution = solved(kink, 10, checkpoint=path, seconds=1e-6)
    np.testing.assert_array_equal(solution.theta, whole.theta)
    assert solution.phases[0].gathered == whole.phases[0].gathered
    assert solution.phases[0].iterations == whole.phases[0].iterations
