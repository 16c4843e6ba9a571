"""Damped Gauss-Newton systems, solved by the structure of the interface graph.

Interiors couple only through interfaces, so J^T J has a block per subdomain and a block per pair of neighbours. A
small system is factorised as one dense matrix, which is fastest; a larger one by block Cholesky elimination in
minimum-degree order, whose cost grows with the number of subdomains and their fill-in, not with its cube.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax.lax.linalg import cholesky, triangular_solve
from jaxtyping import Array, Float

Edges = tuple[tuple[int, int], ...]
DENSE_UP_TO = 1200


Solver = Callable[[Float[Array, "K P"]], Float[Array, "K P"]]


def factorise(
    diagonal: tuple[Float[Array, "P P"], ...],
    coupling: tuple[Float[Array, "P P"], ...],
    edges: Edges,
    damping: Float[Array, "K P"],
) -> Solver:
    """A function right -> x with (H + diag(damping)) x = right; x is NaN if the matrix is not positive definite."""
    damped = tuple(block + jnp.diag(extra) for block, extra in zip(diagonal, damping))
    if damping.size <= DENSE_UP_TO or len(diagonal) == 1:
        return _dense(damped, coupling, edges)
    return _eliminate(damped, coupling, edges)


def _dense(
    diagonal: tuple[Float[Array, "P P"], ...], coupling: tuple[Float[Array, "P P"], ...], edges: Edges
) -> Solver:
    zero = jnp.zeros_like(diagonal[0])
    blocks = [[zero] * len(diagonal) for _ in diagonal]
    for k, block in enumerate(diagonal):
        blocks[k][k] = block
    for (low, high), block in zip(edges, coupling):
        blocks[high][low] = block
    factor = cholesky(jnp.block(blocks), symmetrize_input=False)

    def solve(right: Float[Array, "K P"]) -> Float[Array, "K P"]:
        return _backward(factor, _forward(factor, right.reshape(-1, 1))).reshape(right.shape)

    return solve


def _forward(factor: Float[Array, "P P"], right: Float[Array, "P n"]) -> Float[Array, "P n"]:
    return triangular_solve(factor, right, left_side=True, lower=True)


def _backward(factor: Float[Array, "P P"], right: Float[Array, "P n"]) -> Float[Array, "P n"]:
    return triangular_solve(factor, right, left_side=True, lower=True, transpose_a=True)


def elimination_order(count: int, edges: Edges) -> list[int]:
    """Minimum degree: always the subdomain with the fewest neighbours left; its neighbours become a clique."""
    near: dict[int, set[int]] = {k: set() for k in range(count)}
    for low, high in edges:
        near[low].add(high)
        near[high].add(low)
    order = []
    while near:
        k = min(near, key=lambda i: (len(near[i]), i))
        neighbours = near.pop(k)
        for i in neighbours:
            near[i] = (near[i] | neighbours) - {i, k}
        order.append(k)
    return order


def _eliminate(
    diagonal: tuple[Float[Array, "P P"], ...], coupling: tuple[Float[Array, "P P"], ...], edges: Edges
) -> Solver:
    """Right-looking block Cholesky: `below[k][i]` is block (i, k) of the factor, i eliminated after k."""
    order = elimination_order(len(diagonal), edges)
    place = {k: n for n, k in enumerate(order)}
    own = list(diagonal)
    below: dict[int, dict[int, Array]] = {k: {} for k in order}
    for (low, high), block in zip(edges, coupling):
        first, second = sorted((low, high), key=place.__getitem__)
        below[first][second] = block if second == high else block.T
    for k in order:
        own[k] = cholesky(own[k], symmetrize_input=False)
        below[k] = {i: _forward(own[k], block.T).T for i, block in below[k].items()}
        for i, left in below[k].items():
            own[i] = own[i] - left @ left.T
            for j, other in below[k].items():
                if place[i] > place[j]:
                    update = left @ other.T
                    below[j][i] = below[j][i] - update if i in below[j] else -update

    def solve(right: Float[Array, "K P"]) -> Float[Array, "K P"]:
        vectors = [row[:, None] for row in right]
        for k in order:
            vectors[k] = _forward(own[k], vectors[k])
            for i, left in below[k].items():
                vectors[i] = vectors[i] - left @ vectors[k]
        for k in reversed(order):
            for i, left in below[k].items():
                vectors[k] = vectors[k] - left.T @ vectors[i]
            vectors[k] = _backward(own[k], vectors[k])
        return jnp.stack([vector[:, 0] for vector in vectors])

    return solve
