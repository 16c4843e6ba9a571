"""The Gauss-Newton system of a sum of squares, by blocks; no Jacobian of everything is ever formed.

A row of residuals depends on the weights of one subdomain or of two neighbours. Rows are added some at a time: those
of a batch of points, with their derivatives by the weights of either side.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .blocks import Edges, Solver, factorise

STRIPS = 4


class Rows(NamedTuple):
    """Weighted rows r of N points of each of B subdomains or pairs, and their Jacobians by the P weights of side a, or
    of sides a and b."""

    r: Float[Array, "B N"]
    by_side: tuple[Float[Array, "B P N"], ...]


class NormalEquations(eqx.Module):
    """L = |r|^2, half its gradient J^T r, and J^T J by blocks: `diagonal[k]`, and `coupling[e]` for the edges (low,
    high) of the graph of neighbours, rows of the higher subdomain. Only lower triangles of diagonal blocks are filled.
    """

    value: Float[Array, ""]
    gradient: Float[Array, "K P"]
    diagonal: tuple[Float[Array, "P P"], ...]
    coupling: tuple[Float[Array, "P P"], ...]
    edges: Edges = eqx.field(static=True)

    @classmethod
    def empty(cls, theta: Float[Array, "K P"], edges: Edges) -> NormalEquations:
        """Those of no rows."""
        count, size = theta.shape
        block = jnp.zeros((size, size), theta.dtype)
        return cls(jnp.zeros((), theta.dtype), jnp.zeros_like(theta), (block,) * count, (block,) * len(edges), edges)

    def plus(self, rows: Rows, *sides: tuple[int, ...]) -> NormalEquations:
        """With more rows; `sides` names the subdomains on side a, and on side b if there is one."""
        gradient, diagonal, coupling = self.gradient, list(self.diagonal), list(self.coupling)
        for i in range(len(rows.r)):
            own: dict[int, Array] = {}  # a subdomain may be on both sides, across a periodic boundary
            for owners, j in zip(sides, rows.by_side):
                own[owners[i]] = own[owners[i]] + j[i] if owners[i] in own else j[i]
            for k, j in own.items():
                j = jax.lax.optimization_barrier(j)  # keeps XLA from recomputing or rearranging the rows: 1.6x overall
                diagonal[k] = diagonal[k] + gram(j)
                gradient = gradient.at[k].add(j @ rows.r[i])
            if len(own) == 2:
                low, high = sorted(own)
                e = self.edges.index((low, high))
                coupling[e] = coupling[e] + own[high] @ own[low].T
        value = self.value + jnp.sum(rows.r * rows.r)
        return NormalEquations(value, gradient, tuple(diagonal), tuple(coupling), self.edges)

    @property
    def scale(self) -> Float[Array, "K P"]:
        """The diagonal of J^T J."""
        return jnp.stack([jnp.diagonal(block) for block in self.diagonal])

    def factorise(self, damping: Float[Array, "K P"]) -> Solver:
        """A function right -> x with (J^T J + diag(damping)) x = right."""
        return factorise(self.diagonal, self.coupling, self.edges, damping)


def gram(rows: Float[Array, "P N"]) -> Float[Array, "P P"]:
    """rows rows^T, lower triangle only (10/16 of the arithmetic with four strips)."""
    size = rows.shape[0]
    cuts = [round(i * size / STRIPS) for i in range(STRIPS + 1)]
    parts = []
    for start, stop in itertools.pairwise(cuts):
        parts.append(jnp.pad(rows[start:stop] @ rows[:stop].T, ((0, 0), (0, size - stop))))
    return jnp.concatenate(parts)
