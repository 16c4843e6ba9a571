"""Solves: determinism, sets per phase, the edges of families; on a line whose program compiles in seconds."""

import jax
import numpy as np
import pytest
from small import ADAM, NEWTON, POINTS, line

from metalic.errors import MetalicError
from metalic.families import find_family
from metalic.pinn import Phase
from metalic.pinn.optimizers import advance
from metalic.pinn.solution import relative_error
from metalic.solving import solve

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
