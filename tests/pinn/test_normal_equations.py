"""Gauss-Newton systems against a dense Jacobian."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from featured import every, jitted_jacobian, jitted_rows, made, sets

from metalic.pinn.normal_equations import gram
from metalic.pinn.problem import Problem

pytestmark = pytest.mark.usefixtures("double")


jitted_equations = jax.jit(Problem.normal_equations)


@every
def test_normal_equations_are_those_of_a_dense_jacobian(name):
    for one, theta in sets(name):
        equations = jitted_equations(one, theta)
        r = np.asarray(jitted_rows(one, theta))
        count, size = theta.shape
        J = np.asarray(jitted_jacobian(one, theta)).reshape(len(r), count * size)
        H, g = J.T @ J, J.T @ r
        near = 1e-11 * np.abs(H).max()
        assert float(equations.value) == pytest.approx(r @ r, rel=1e-12)
        np.testing.assert_allclose(np.ravel(equations.gradient), g, rtol=1e-10, atol=1e-11 * np.abs(g).max())
        blocks = H.reshape(count, size, count, size).swapaxes(1, 2)
        for k, block in enumerate(equations.diagonal):
            np.testing.assert_allclose(np.tril(block), np.tril(blocks[k, k]), atol=near)
        coupled = dict(zip(equations.edges, equations.coupling, strict=True))
        for low in range(count):
            for high in range(low + 1, count):
                found = coupled.get((low, high), np.zeros((size, size)))  # no edge: nothing in the dense matrix either
                np.testing.assert_allclose(found, blocks[high, low], atol=near)


def test_the_graph_of_subdomains():
    assert made("quad")[0].edges == ((0, 1), (0, 2), (1, 3), (2, 3))
    assert made("ring")[0].edges == ((0, 1), (0, 2), (1, 2))
    assert made("soliton")[0].edges == ((0, 1),)


@pytest.mark.parametrize("size", [1, 3, 4, 10, 13])
def test_gram_fills_the_lower_triangle(size):
    rows = np.random.default_rng(7).normal(size=(size, 5))
    np.testing.assert_allclose(np.tril(gram(jnp.asarray(rows))), np.tril(rows @ rows.T), rtol=1e-13, atol=1e-14)
