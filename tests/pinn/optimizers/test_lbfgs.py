"""L-BFGS against SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
from objectives import run
from scipy.optimize import minimize
from small import LIMITED


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
