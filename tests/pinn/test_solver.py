"""Solves: determinism, precision, sampling, schedules, sets per phase; on a line whose program compiles in seconds."""

import jax
import numpy as np
import pytest
from scipy.stats import norm
from small import ADAM, HIDDEN, NEWTON, POINTS, Line

from metalic.errors import MetalicError
from metalic.families import Dirichlet, find_family
from metalic.geometry import Points
from metalic.geometry.sampling import SAMPLINGS
from metalic.pinn import Adam, Phase
from metalic.pinn.optimizers import advance
from metalic.pinn.solution import relative_error
from metalic.solving import solve

SHORT = (Phase(ADAM, 60), Phase(NEWTON, 12))


def line(conditions="u,c", schedule=SHORT, **settings):
    return solve(Line, conditions, schedule, **({"hidden": HIDDEN, "points": POINTS, "k": 2.0} | settings))


@pytest.fixture(scope="module")
def first():
    return line()


# --- A run is a function of its arguments ----------------------------------------------------------------------------


def test_it_solves(first):
    """An exact solution is known: sin(2 x) / sin(2)."""
    x = np.linspace(0, 1, 17)
    truth = np.sin(2 * x) / np.sin(2)
    assert first.error < 1e-2
    np.testing.assert_allclose(first(x=x), truth, atol=0.02)
    grid = np.linspace(0, 1, 41)
    exact = np.sin(2 * grid) / np.sin(2)
    assert first.error == pytest.approx(np.linalg.norm(first(x=grid) - exact) / np.linalg.norm(exact), rel=1e-12)


def test_the_same_seed_gives_the_same_bits(first):
    again = line()
    np.testing.assert_array_equal(again.theta, first.theta)
    assert again.error == first.error
    assert [h[::2] for p in again.phases for h in p.history] == [h[::2] for p in first.phases for h in p.history]


def test_another_seed_gives_other_bits_but_the_same_solution(first):
    other = line(seed=1)
    assert not np.array_equal(other.theta, first.theta)
    assert not np.array_equal(other.collocation[0], first.collocation[0])
    assert other.error < 1e-2


def test_the_users_jax_setting_stays_as_it_was():
    for setting in (False, True):
        with jax.enable_x64(setting):
            line(schedule=[Phase(ADAM, 1)])
            assert jax.config.jax_enable_x64 is setting
            assert jax.numpy.ones(1).dtype == (np.float64 if setting else np.float32)
            with pytest.raises(MetalicError):
                line(k=99)
            assert jax.config.jax_enable_x64 is setting


def test_single_precision(first):
    single = line(precision="float32")
    assert single.theta.dtype == np.float32
    assert first.theta.dtype == np.float64
    assert single.error < 0.05
    assert not single.diverged


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling(sampling, first):
    programs = advance._cache_size()
    solution = line(sampling=sampling)
    assert solution.error < 0.05
    assert advance._cache_size() == programs  # on a line they all give as many points as asked for


@pytest.mark.parametrize("scaling", ["none", "domain", "subdomain"])
def test_every_scaling(scaling):
    solution = line(scaling=scaling)
    assert solution.error < 0.05
    low, high = (0.0, 1.0) if scaling == "none" else (-1.0, 0.0) if scaling == "domain" else (-1.0, 1.0)
    ends = (np.array([[0.0], [0.5]]) - solution.centre[0]) * solution.slope[0]
    np.testing.assert_allclose(ends.ravel(), [low, high if scaling != "none" else 0.5])


# --- Conditions ------------------------------------------------------------------------------------------------------


def test_without_conditions_the_halves_do_not_meet(first):
    apart = line("none")
    assert apart.conditions == ((), ())
    assert apart.error > 10 * first.error


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ("u", (("u",), ("u",))),
        (None, (("u", "c"), ("u", "c"))),
        (2, (("c",), ("c",))),
        ([0, 1], (("c",), ("c",))),
        ("u;u,c", (("u",), ("u", "c"))),
        ("none;c", ((), ("c",))),
        ([["u"], ["u", "c"]], (("u",), ("u", "c"))),
        ([(), ("c",)], ((), ("c",))),
        ([[1, 0], [1, 1]], (("u",), ("u", "c"))),
    ],
)
def test_sets_for_all_phases_or_one_each(given, sets, first):
    programs = advance._cache_size()
    solution = line(given, [Phase(ADAM, 2), Phase(NEWTON, 1)])
    assert solution.conditions == sets
    assert [phase.index for phase in solution.phases] == [sum({"u": 1, "c": 2}[n] for n in one) for one in sets]
    assert advance._cache_size() == programs  # one program for all


def test_a_function_chooses_with_the_loss_in_sight():
    asked = []

    def choose(phase, loss):
        asked.append((phase, loss))
        return "u" if phase == 0 else ["u", "c"]

    solution = line(choose)
    assert solution.conditions == (("u",), ("u", "c"))
    assert asked == [(0, None), (1, solution.phases[0].loss)]


def test_a_phase_may_have_its_own_set():
    solution = line("u", [Phase(ADAM, 2), Phase(NEWTON, 1, conditions="c")])
    assert solution.conditions == (("u",), ("c",))


# --- Phases ----------------------------------------------------------------------------------------------------------


def test_budgets_and_reports():
    seen = []
    solution = line(schedule=[Phase(ADAM, 260), Phase(NEWTON, 23)], progress=seen.append)
    assert [phase.iterations for phase in solution.phases] == [260, 23]
    assert [phase.stop_reason for phase in solution.phases] == ["budget used up"] * 2
    assert [(r.phase, r.iteration) for r in seen] == [(0, 0), (0, 250), (0, 260), (1, 0), (1, 10), (1, 20), (1, 23)]
    assert [r.iteration for r in seen if r.loss is None] == [0, 0]
    assert {(r.phases, r.optimizer, r.iterations) for r in seen} == {(2, "adam", 260), (2, "gauss-newton", 23)}
    assert [h[0] for phase in solution.phases for h in phase.history] == [250, 260, 10, 20, 23]
    assert seen[-1].loss == solution.loss == solution.phases[-1].history[-1][2]
    assert seen[-1].error == solution.error == solution.phases[-1].history[-1][3]


def test_the_loss_reported_is_that_of_the_networks(first):
    terms = first.terms()
    total = terms["residual"] + 20 * terms["boundary"] + 5 * (terms["u"] + terms["c"])
    assert first.loss == pytest.approx(total, rel=1e-9)


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
    assert blind.loss < 1e-6  # nothing in the loss tells
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


def test_weights_of_the_loss():
    """Without boundary data nothing holds the ends; with much of it they are met."""
    free, held = (line(lambda_boundary=weight) for weight in (0.0, 1e4))
    assert abs(held(x=1.0) - 1) < 0.01
    assert abs(free(x=1.0) - 1) > 0.1
    loose, tight = (line(lambda_interface=weight).terms() for weight in (1e-6, 1e3))
    assert tight["u"] < 0.1 * loose["u"]


# --- The edges of families -------------------------------------------------------------------------------------------


def test_heat_with_zero_amplitudes_has_an_absolute_error():
    """The solution is zero, so a relative error would be 0/0: what is reported is the root mean square."""
    values = dict.fromkeys("abcd", 0.0)
    solution = solve("heat", "u", [Phase(ADAM, 3)], hidden=(3,), points=POINTS, parameters=values)
    on_grid = solution(find_family("heat").error_points())
    assert solution.error == pytest.approx(np.sqrt(np.mean(on_grid**2)), rel=1e-12)
    assert 0 < solution.error < 100


def test_poisson_at_its_softest_and_beyond_its_box():
    soft = solve("poisson", "u,c", [Phase(ADAM, 40)], hidden=(3,), points=POINTS, s=0)
    assert not soft.diverged
    assert np.isfinite(soft.theta).all()
    assert soft.phases[0].loss > 0
    assert 0 < soft.error < 100
    beyond = solve("poisson", "u,c", [Phase(ADAM, 2)], hidden=(3,), points=POINTS, s=60, extrapolate=True)
    assert beyond.error is None  # there is no reference that far out
    assert beyond.parameters == {"s": 60.0}


@pytest.mark.parametrize(
    ("values", "reference", "error"),
    [
        ([[3.0], [4.0]], [[3.0], [4.0]], 0.0),
        ([[3.0], [4.0]], [[0.0], [4.0]], 0.75),
        ([[3.0], [4.0]], [[0.0], [0.0]], np.sqrt(12.5)),
        ([[1e9], [0.0]], [[1.0], [1.0]], 100.0),
        ([[np.nan], [0.0]], [[1.0], [1.0]], 100.0),
        ([[np.inf], [0.0]], [[0.0], [0.0]], 100.0),
    ],
)
def test_the_error_is_relative_and_at_most_100(values, reference, error):
    assert relative_error(np.array(values), np.array(reference)) == pytest.approx(error)
