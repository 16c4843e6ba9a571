"""Adam against its formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from objectives import run
from small import ADAM

from metalic.errors import ScheduleError
from metalic.pinn import Adam


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


@pytest.mark.parametrize("rate", [0, -1e-3, float("nan")])
def test_a_rate_is_positive(rate):
    with pytest.raises(ScheduleError, match=f"rate is a positive number, not {rate}"):
        Adam(rate)
