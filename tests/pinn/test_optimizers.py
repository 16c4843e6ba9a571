"""What holds for every optimizer, and each against something known: SciPy's L-BFGS-B, the exact minimum, divergence."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from small import ADAM, HIDDEN, LIMITED, NEWTON, POINTS, Broken, Line, problem

from metalic.errors import ScheduleError
from metalic.pinn import LBFGS, Adam, GaussNewton, Phase
from metalic.pinn.normal_equations import NormalEquations
from metalic.pinn.objective import Objective
from metalic.pinn.optimizers import Status, advance, restart, start
from metalic.solving import solve

EVERY = {optimizer.name: optimizer for optimizer in (ADAM, LIMITED, NEWTON)}
every = pytest.mark.parametrize("optimizer", EVERY.values(), ids=EVERY)
BUDGET = {"adam": 300, "lbfgs": 40, "gauss-newton": 15}


@pytest.fixture
def line(double):
    return problem(Line, {"k": 2.0})


def run(optimizer, one, theta, iterations):
    return advance(optimizer, one, start(optimizer, one, theta), jnp.asarray(iterations))


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


class LeastSquares(Objective):
    """|r(theta)|^2 of plain rows, everything by automatic differentiation of dense matrices."""

    data: tuple[jax.Array, ...]
    rows: Callable[..., jax.Array] = eqx.field(static=True)
    edges: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())

    def value(self, theta):
        return jnp.sum(self.rows(theta, *self.data) ** 2)

    def value_and_gradient(self, theta):
        return jax.value_and_grad(self.value)(theta)

    def normal_equations(self, theta):
        r = self.rows(theta, *self.data)
        J = jax.jacobian(self.rows)(theta, *self.data)
        diagonal = tuple(J[:, k].T @ J[:, k] for k in range(len(theta)))
        coupling = tuple(J[:, high].T @ J[:, low] for low, high in self.edges)
        return NormalEquations(r @ r, jnp.einsum("rkp,r->kp", J, r), diagonal, coupling, self.edges)

    def curvature(self, theta, direction):
        along = lambda s: self.rows(theta + s * direction, *self.data)  # noqa: E731
        second = jax.jacfwd(jax.jacfwd(along))(0.0)
        return jax.vjp(lambda t: self.rows(t, *self.data), theta)[1](second)[0]


def rosenbrock(theta):
    x, y = theta[0]
    return jnp.stack([10 * (y - x**2), 1 - x])


def linear(theta, matrix, right):
    return matrix @ theta.ravel() - right


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


def test_gauss_newton_takes_one_undamped_step_on_a_linear_problem(double):
    matrix, right = jnp.asarray([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]]), jnp.asarray([1.0, 2.0, 3.0])
    one = LeastSquares((matrix, right), linear)
    state, _ = run(GaussNewton(damping=1e-15), one, jnp.zeros((1, 2)), 1)
    truth, *_ = np.linalg.lstsq(np.asarray(matrix), np.asarray(right))
    np.testing.assert_allclose(state.theta[0], truth, rtol=1e-12)


# --- Adam ------------------------------------------------------------------------------------------------------------


def test_adam_is_its_formula(line):
    """Three steps of Kingma and Ba's algorithm 1, written down again."""
    one, theta = line
    state, _ = run(ADAM, one, theta, 3)
    gradient = jax.jit(lambda t: one.value_and_gradient(t)[1])
    x, m, v = np.array(theta), 0.0, 0.0
    for t in (1, 2, 3):
        g = np.asarray(gradient(jnp.asarray(x)))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x -= 1e-2 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(state.theta, x, rtol=1e-11, atol=1e-12)


# --- L-BFGS ----------------------------------------------------------------------------------------------------------


def test_lbfgs_is_as_good_as_scipys(line):
    """Same start, same memory, 100 iterations: line searches differ, so paths do; losses agree within a factor of 10
    (over which the loss falls by about as many thousands)."""
    one, theta = line
    state, _ = run(LIMITED, one, theta, 100)
    objective = jax.jit(lambda flat: one.value_and_gradient(flat.reshape(theta.shape)))

    def evaluated(flat):
        loss, gradient = objective(jnp.asarray(flat))
        return float(loss), np.ravel(gradient)

    options = {"maxiter": 100, "maxcor": 50, "ftol": 0, "gtol": 0}
    peer = minimize(evaluated, np.ravel(theta), jac=True, method="L-BFGS-B", options=options)
    assert float(state.loss) < 10 * peer.fun
    assert peer.fun < 1e-3 * float(one.value(theta))


# --- Stop reasons ----------------------------------------------------------------------------------------------------


class Short(Broken):
    """One subdomain, u' = 1."""

    def residual(self, u, p, k):
        return u.x - 1.0


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


def test_gauss_newton_stops_where_the_gradient_is_small(double):
    one, theta = problem(Short, hidden=(2,), conditions="none")
    gradient = jax.jit(lambda t: jnp.abs(one.value_and_gradient(t)[1]).max())
    optimizer = GaussNewton(gradient_tolerance=1e-4)
    state, done = run(optimizer, one, theta, 1000)
    assert Status(int(state.status)) is Status.GRADIENT
    assert int(done) < 1000
    assert gradient(theta) > 1
    assert gradient(state.theta) < 1e-3  # it takes the step that it has computed, which may overshoot a little
    again, done = advance(optimizer, one, state, jnp.asarray(50))
    assert int(done) == 0  # it says that it is done, and stays so
    np.testing.assert_array_equal(again.theta, state.theta)


def test_every_status_has_its_reason():
    assert len({status.reason for status in Status}) == len(Status)
    assert Status.RUNNING.reason == "budget used up"


@pytest.mark.parametrize("rate", [0, -1e-3, float("nan")])
def test_a_rate_is_positive(rate):
    with pytest.raises(ScheduleError, match=f"rate is a positive number, not {rate}"):
        Adam(rate)


def test_equal_optimizers_are_one():
    assert Adam(1e-2) == ADAM
    assert hash(GaussNewton()) == hash(NEWTON)
    assert LBFGS(history=10) != LIMITED
