"""Block elimination against a dense solver on chains and grids of subdomains."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalic.pinn import blocks

pytestmark = pytest.mark.usefixtures("double")

SIZE = 4


def grid(nx, ny):
    index = {cell: n for n, cell in enumerate(itertools.product(range(nx), range(ny)))}
    pairs = [(index[i, j], index[i + 1, j]) for i in range(nx - 1) for j in range(ny)]
    return nx * ny, tuple(sorted(pairs + [(index[i, j], index[i, j + 1]) for i in range(nx) for j in range(ny - 1)]))


GRAPHS = {
    "one": (1, ()),
    "pair": (2, ((0, 1),)),
    "chain": (5, tuple((k, k + 1) for k in range(4))),
    "ring": (4, ((0, 1), (0, 3), (1, 2), (2, 3))),
    "star": (4, ((0, 3), (1, 3), (2, 3))),
    "apart": (3, ()),
    "2x2": grid(2, 2),
    "3x3": grid(3, 3),
}


def system(count, edges, seed=0):
    """A positive definite matrix with these blocks, as rows of residuals that touch one or two subdomains make it."""
    rng = np.random.default_rng(seed)
    H = np.zeros((count * SIZE, count * SIZE))
    for members in [*((k,) for k in range(count)), *edges]:
        J = np.zeros((2 * SIZE, count * SIZE))
        for k in members:
            J[:, k * SIZE : (k + 1) * SIZE] = rng.normal(size=(2 * SIZE, SIZE))
        H += J.T @ J
    part = H.reshape(count, SIZE, count, SIZE).swapaxes(1, 2)
    # Above the diagonal of a diagonal block there may be anything: only lower triangles are filled.
    diagonal = tuple(jnp.asarray(np.tril(part[k, k]) + 99 * np.triu(np.ones((SIZE, SIZE)), 1)) for k in range(count))
    coupling = tuple(jnp.asarray(part[high, low]) for low, high in edges)
    damping, right = rng.uniform(0.1, 1, (count, SIZE)), rng.normal(size=(count, SIZE))
    truth = np.linalg.solve(H + np.diag(damping.ravel()), right.ravel()).reshape(count, SIZE)
    return diagonal, coupling, jnp.asarray(damping), jnp.asarray(right), truth


@pytest.mark.parametrize("dense_up_to", [0, 1200], ids=["elimination", "dense"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_damped_system_is_solved(name, dense_up_to, monkeypatch):
    monkeypatch.setattr(blocks, "DENSE_UP_TO", dense_up_to)
    count, edges = GRAPHS[name]
    diagonal, coupling, damping, right, truth = system(count, edges)

    @jax.jit
    def both(right):
        solve = blocks.factorise(diagonal, coupling, edges, damping)
        return solve(right), solve(2 * right)  # a factor serves many

    once, twice = both(right)
    np.testing.assert_allclose(once, truth, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(twice, 2 * truth, rtol=1e-9, atol=1e-11)


@settings(max_examples=6)
@given(st.integers(3, 7), st.data())
def test_any_graph(count, data):
    pairs = list(itertools.combinations(range(count), 2))
    edges = tuple(sorted(data.draw(st.sets(st.sampled_from(pairs), max_size=8))))
    diagonal, coupling, damping, right, truth = system(count, edges)
    damped = tuple(block + jnp.diag(extra) for block, extra in zip(diagonal, damping, strict=True))
    np.testing.assert_allclose(blocks._eliminate(damped, coupling, edges)(right), truth, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["pair", "2x2"])
@pytest.mark.parametrize("dense_up_to", [0, 1200], ids=["elimination", "dense"])
def test_an_indefinite_system_gives_no_numbers(name, dense_up_to, monkeypatch):
    monkeypatch.setattr(blocks, "DENSE_UP_TO", dense_up_to)
    count, edges = GRAPHS[name]
    diagonal, coupling, damping, right, _ = system(count, edges)
    assert np.isnan(blocks.factorise(diagonal, coupling, edges, -1e3 * damping)(right)).any()


def test_elimination_begins_where_the_degree_is_least():
    assert blocks.elimination_order(*GRAPHS["star"]) == [0, 1, 2, 3]
    assert blocks.elimination_order(5, ((0, 4), (1, 4), (2, 4), (3, 4)))[:3] == [0, 1, 2]
    order = blocks.elimination_order(*GRAPHS["3x3"])
    assert sorted(order) == list(range(9))
    assert set(order[:4]) == {0, 2, 6, 8}  # corners first
