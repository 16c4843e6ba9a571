"""The loss against its rows and terms, gradients against differences, on problems with every feature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from featured import all_rows, every, jitted_rows, made, sets
from small import Ring, problem

from metalic.families import Poisson
from metalic.families.derivatives import Partial
from metalic.geometry import Points
from metalic.pinn.problem import Problem, condition_rows

pytestmark = pytest.mark.usefixtures("double")


jitted_value, jitted_gradient = jax.jit(Problem.value), jax.jit(Problem.value_and_gradient)
jitted_equations = jax.jit(Problem.normal_equations)


@every
def test_the_loss_is_the_sum_of_squares_of_its_rows(name):
    for one, theta in sets(name):
        total = float(jnp.sum(jitted_rows(one, theta) ** 2))
        assert float(jitted_value(one, theta)) == pytest.approx(total, rel=1e-12)


def test_the_loss_is_the_weighted_sum_of_its_terms():
    for one, theta in sets("quad"):
        parts = jax.jit(Problem.terms)(one, theta)
        chosen = [n for n, on in zip(one.system.catalogue.names, one.active, strict=True) if on]
        total = parts["residual"] + 20 * parts["boundary"] + 5 * sum(parts[n] for n in chosen)
        assert float(jitted_value(one, theta)) == pytest.approx(float(total), rel=1e-12)


@every
def test_the_gradient_is_the_difference_quotient(name):
    """Along random directions; a fourth-order difference with h = 1e-3 is good to about 1e-9."""
    rng = np.random.default_rng(5)
    for one, theta in sets(name):
        loss, gradient = jitted_gradient(one, theta)
        assert float(loss) == pytest.approx(float(jitted_value(one, theta)), rel=1e-12)
        direction, h = jnp.asarray(rng.normal(size=theta.shape)), 1e-3
        f = {j: float(jitted_value(one, theta + j * h * direction)) for j in (-2, -1, 1, 2)}
        slope = (8 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12 * h)
        assert float(jnp.sum(gradient * direction)) == pytest.approx(slope, rel=1e-6)


def test_an_asymmetric_condition_is_seen_from_both_sides():
    """Lean at an interface across x, by hand: n = (1, 0) from a, (-1, 0) from b, each with its own material."""
    one, theta = made("quad")
    block = one.interface
    needed = ((0, Partial((0, 0))), (1, Partial((0, 0))), (1, Partial((1, 0))))
    channels = jax.jit(lambda *at: one.system.network.channels(*at, needed))
    lean = [view for view in one.system.views if view.law.name == "lean"]
    e = [(a, b) for a, b in zip(block.a, block.b, strict=True)].index((0, 2))
    strength = jnp.ones(len(one.system.conditions))
    rows = [np.asarray(part[e]) for part in jax.jit(lambda t: condition_rows(one, block, lean, strength, t))(theta)]
    x = block.x[e]
    values = {}
    for k in (0, 2):
        z = (x - one.centre[k][:, None]) * one.slope[k][:, None]
        values[k] = channels(theta[k], z, one.slope[k])
    material = {0: 1.0, 2: 0.5}
    root = np.sqrt(np.asarray(block.weight[e]))
    for found, (a, b, n) in zip(rows, ((0, 2, 1.0), (2, 0, -1.0)), strict=True):
        first = -2 * values[b][0]
        second = material[a] * values[a][2] * n + material[b] * values[b][1]
        np.testing.assert_allclose(found, [first * root, second * root], rtol=1e-12)


def test_curvature_is_the_second_derivative_along_a_step_pulled_back():
    """A central difference: its error falls with the square of h; extrapolated to h = 0 it is the exact one."""
    one, theta = made("ring")
    direction = jnp.asarray(np.random.default_rng(6).normal(size=theta.shape))

    shifted = [all_rows(one, theta + k * 0.01 * direction) for k in range(-4, 5)]
    weights = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
    second = sum(w * np.asarray(rows) for w, rows in zip(weights, shifted, strict=True)) / 0.01**2  # of eighth order
    truth = np.asarray(jax.vjp(lambda s: all_rows(one, s), theta)[1](jnp.asarray(second))[0])
    measure = jax.jit(Problem.curvature)
    error = {h: np.abs(measure(one, theta, direction, h) - truth).max() / np.abs(truth).max() for h in (0.02, 0.04)}
    assert error[0.04] < 0.02
    assert error[0.04] / error[0.02] == pytest.approx(4, abs=0.1)


def test_one_program_serves_all_sets_parameters_and_seeds():
    one, theta = problem(Ring, hidden=(3,), points=Points(7, 5, 4), seed=11, conditions=())
    jitted_equations(one, theta)
    programs = jitted_equations._cache_size()
    for seed in (0, 1):
        for chosen in range(4):
            jitted_equations(*problem(Ring, hidden=(3,), points=Points(7, 5, 4), seed=seed, conditions=chosen))
    assert jitted_equations._cache_size() == programs


def test_an_undivided_problem_has_no_terms_of_conditions():
    one, theta = problem(Poisson().undivided(), hidden=(3,), points=Points(7, 5, 4), conditions="none")
    assert set(jax.jit(Problem.terms)(one, theta)) == {"residual", "boundary"}
    assert one.edges == ()
