"""Activations: their derivatives against automatic differentiation, one function for NumPy and JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from metalic.families.derivatives import Partial
from metalic.pinn.activations import ACTIVATIONS

pytestmark = pytest.mark.usefixtures("double")

PLAIN = {"tanh": jnp.tanh, "sine": jnp.sin}
EXACT = 1e-12  # two exact methods in float64, up to fifth derivatives


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_of_one_variable(name):
    z, function = jnp.linspace(-2, 2, 9), PLAIN[name]
    for found in ACTIVATIONS[name].derivatives(z, 5):
        np.testing.assert_allclose(found, jax.vmap(function)(z), rtol=EXACT, atol=EXACT)
        function = jax.grad(function)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_series_of_a_polynomial(name):
    """z = a + 3 x - x^2 has the coefficients a, 3, -1; those of f(z) are its derivatives / k!."""
    a = jnp.asarray([[-0.4, 0.0, 1.3]])
    orders = tuple(Partial((k,)) for k in range(5))
    z = dict(zip(orders, (a, 3.0 + 0 * a, -1.0 + 0 * a, 0 * a, 0 * a)))
    found, function = ACTIVATIONS[name].series(z, orders), lambda x, a: PLAIN[name](a + 3 * x - x**2)
    for order in orders:
        truth = jax.vmap(lambda one, f=function: f(0.0, one))(a[0]) / order.scale
        np.testing.assert_allclose(found[order][0], truth, rtol=EXACT, atol=EXACT)
        function = jax.grad(function)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_numpy_and_jax_agree(name):
    z = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(ACTIVATIONS[name].value(z, np), PLAIN[name](z), rtol=1e-15, atol=1e-15)
