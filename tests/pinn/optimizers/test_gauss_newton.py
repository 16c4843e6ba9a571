"""Gauss-Newton against the exact minimum of a linear problem, and where it stops."""

import jax
import jax.numpy as jnp
import numpy as np
from objectives import LeastSquares, linear, run
from small import Short, problem

from metalic.pinn import GaussNewton
from metalic.pinn.optimizers import Status, advance


def test_gauss_newton_takes_one_undamped_step_on_a_linear_problem(double):
    matrix, right = jnp.asarray([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]]), jnp.asarray([1.0, 2.0, 3.0])
    one = LeastSquares((matrix, right), linear)
    state, _ = run(GaussNewton(damping=1e-15), one, jnp.zeros((1, 2)), 1)
    truth, *_ = np.linalg.lstsq(np.asarray(matrix), np.asarray(right))
    np.testing.assert_allclose(state.theta[0], truth, rtol=1e-12)


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
