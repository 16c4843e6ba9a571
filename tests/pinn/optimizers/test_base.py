"""What holds for every optimizer: the loss falls, steps add up, exact minima are found, divergence is an outcome."""

import jax.numpy as jnp
import numpy as np
import pytest
from objectives import LeastSquares, linear, rosenbrock, run
from small import ADAM, HIDDEN, LIMITED, NEWTON, POINTS, Broken, Line, Short, problem

from metalic.pinn import LBFGS, Adam, GaussNewton, Phase
from metalic.pinn.optimizers import Status, advance, restart
from metalic.solving import solve

EVERY = {optimizer.name: optimizer for optimizer in (ADAM, LIMITED, NEWTON)}
every = pytest.mark.parametrize("optimizer", EVERY.values(), ids=EVERY)
BUDGET = {"adam": 300, "lbfgs": 40, "gauss-newton": 15}


# --- Conformance -----------------------------------------------------------------------------------------------------


@every
def test_the_loss_falls_and_is_that_of_the_weights(optimizer, line):
    one, theta = line
    state, done = run(optimizer, one, theta, BUDGET[optimizer.name])
    assert int(done) == BUDGET[optimizer.name]
    assert Status(int(state.status)) is Status.RUNNING
    assert float(state.loss) < 0.1 * float(one.value(theta))
    if optimizer.name != "adam":  # Adam reports the loss before its last step
        assert float(one.value(state.theta)) == pytest.approx(float(state.loss), rel=1e-9)
    assert state.theta.dtype == jnp.float64


@every
def test_steps_add_up(optimizer, line):
    """Ten steps at once are ten steps in two portions, to the last bit; zero steps change nothing."""
    one, theta = line
    whole, _ = run(optimizer, one, theta, 10)
    state, done = run(optimizer, one, theta, 4)
    assert int(done) == 4
    state, done = advance(optimizer, one, state, jnp.asarray(6))
    assert int(done) == 6
    np.testing.assert_array_equal(state.theta, whole.theta)
    still, done = advance(optimizer, one, state, jnp.asarray(0))
    assert int(done) == 0
    np.testing.assert_array_equal(still.theta, state.theta)


@every
def test_one_program_serves_every_start(optimizer, line):
    one, theta = line
    run(optimizer, one, theta, 1)
    programs = advance._cache_size()
    for seed, chosen in ((1, "u"), (2, "none"), (3, "u,c")):
        other, weights = problem(Line, {"k": 1.0 + 0.1 * seed}, seed=seed, conditions=chosen)
        state, _ = run(optimizer, other, weights, 2)
        advance(optimizer, other, restart(optimizer, other, state), jnp.asarray(1))
    assert advance._cache_size() == programs


@every
def test_new_points_are_taken_up(optimizer, line):
    """After a restart the loss is that of the new points."""
    one, theta = line
    other, _ = problem(Line, {"k": 2.0}, seed=5)
    state, _ = run(optimizer, one, theta, 3)
    before = float(other.value(state.theta))
    state, _ = advance(optimizer, other, restart(optimizer, other, state), jnp.asarray(1))
    if optimizer.name == "adam":
        assert float(state.loss) == pytest.approx(before, rel=1e-12)
    else:
        assert float(state.loss) == pytest.approx(float(other.value(state.theta)), rel=1e-9)
        assert float(state.loss) < before


@every
@pytest.mark.parametrize("k", [1.0, -1.0], ids=["nan", "inf"])
def test_what_is_not_finite_is_an_outcome(optimizer, k):
    seen = []
    result = solve(
        Broken, "none", [Phase(optimizer, 20), Phase(ADAM, 5)], hidden=(2,), points=POINTS, k=k, progress=seen.append
    )
    assert result.diverged
    assert result.error == 100.0
    assert len(result.phases) == 1  # nothing comes after it
    assert result.phases[0].status is Status.DIVERGED
    assert result.phases[0].stop_reason == "diverged (loss not finite)"
    assert result.phases[0].iterations <= 1
    assert result.to_dict()["phases"][0]["loss"] is None
    assert seen[-1].error == 100.0


def test_divergence_on_the_way_is_an_outcome_too():
    result = solve(Line, "u", [Phase(Adam(1e200), 50)], hidden=HIDDEN, points=POINTS, k=2.0)
    assert result.diverged
    assert result.error == 100.0
    assert 1 < result.phases[0].iterations < 50


# --- Objectives that are no PDE --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("optimizer", "iterations", "near"),
    [(Adam(2e-2, 1e-4, 20_000), 20_000, 1e-6), (LBFGS(), 100, 1e-6), (GaussNewton(), 100, 1e-9)],
    ids=EVERY,
)
def test_rosenbrock(optimizer, iterations, near, double):
    """From the classical start (-1.2, 1); the minimum is 0 at (1, 1)."""
    one = LeastSquares((), rosenbrock)
    state, done = run(optimizer, one, jnp.asarray([[-1.2, 1.0]]), iterations)
    assert Status(int(state.status)) is not Status.DIVERGED
    assert int(done) <= iterations
    np.testing.assert_allclose(state.theta, [[1.0, 1.0]], atol=near)


@pytest.mark.parametrize(
    ("optimizer", "iterations", "near"),
    [(Adam(5e-2, 1e-6, 4000), 4000, 1e-5), (LBFGS(), 200, 1e-5), (GaussNewton(), 50, 1e-8)],
    ids=EVERY,
)
def test_linear_least_squares(optimizer, iterations, near, double):
    """Two coupled blocks of three unknowns, against NumPy's solver; the residual at the minimum is not zero."""
    rng = np.random.default_rng(3)
    matrix, right = rng.normal(size=(10, 6)), rng.normal(size=10)
    truth, (least,), *_ = np.linalg.lstsq(matrix, right)
    one = LeastSquares((jnp.asarray(matrix), jnp.asarray(right)), linear, ((0, 1),))
    state, _ = run(optimizer, one, jnp.zeros((2, 3)), iterations)
    np.testing.assert_allclose(np.ravel(state.theta), truth, atol=near)
    assert float(one.value(state.theta)) == pytest.approx(least, rel=1e-6)


# --- Stop reasons ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("optimizer", "reason", "iterations"),
    [
        (LBFGS(gradient_tolerance=1e9), "gradient below tolerance", 0),
        (LBFGS(gradient_tolerance=0.0, change_tolerance=1e9), "change below tolerance", 1),
        (GaussNewton(change_tolerance=1e9), "change below tolerance", 1),
    ],
    ids=["lbfgs-gradient", "lbfgs-change", "newton-change"],
)
def test_tolerances_stop_a_run(optimizer, reason, iterations):
    result = solve(Short, "none", [Phase(optimizer, 50)], hidden=(2,), points=POINTS, k=0.5)
    assert result.phases[0].stop_reason == reason
    assert result.phases[0].iterations == iterations
    assert np.isfinite(result.phases[0].loss)


def test_every_status_has_its_reason():
    assert len({status.reason for status in Status}) == len(Status)
    assert Status.BUDGET.reason == "budget used up"


def test_equal_optimizers_are_one():
    assert Adam(1e-2) == ADAM
    assert hash(GaussNewton()) == hash(NEWTON)
    assert LBFGS(history=10) != LIMITED
