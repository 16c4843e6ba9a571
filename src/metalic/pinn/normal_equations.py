"""The Gauss-Newton system of a sum of squares, by blocks; no Jacobian of everything is ever formed.

A row of residuals depends on the weights of one subdomain or of two neighbours. Rows are added some at a time: those
of a batch of points, with their derivatives by the weights of either side.
"""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .blocks import Edges, Solver, factorise

STRIPS = 4


class Rows(eqx.Module):
    """Weighted rows r of N points of each of B subdomains or pairs, and their Jacobians by the P weights of side a, or
    of sides a and b. `sides` names the subdomains on either side."""

    r: Float[Array, "B N"]
    by_side: tuple[Float[Array, "B P N"], ...]
    sides: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    def jacobians(self, i: int) -> dict[int, Float[Array, "P N"]]:
        """Those of rows r[i] by the weights of each subdomain, which may be on both sides of a periodic boundary."""
        found: dict[int, Array] = {}
        for owners, jacobian in zip(self.sides, self.by_side):
            k = owners[i]
            found[k] = found[k] + jacobian[i] if k in found else jacobian[i]
        return found


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

    def plus(self, *batches: Rows) -> NormalEquations:
        """With more rows. Those of all batches that belong to the same subdomain or pair are multiplied together: one
        long product costs less than several short ones."""
        own: dict[int, list[tuple[Array, Array]]] = {}
        shared: dict[tuple[int, int], list[tuple[Array, Array]]] = {}
        for rows in batches:
            for i in range(len(rows.r)):
                jacobians = rows.jacobians(i)
                for k, jacobian in jacobians.items():
                    own.setdefault(k, []).append((jacobian, rows.r[i]))
                if len(jacobians) == 2:
                    low, high = sorted(jacobians)
                    shared.setdefault((low, high), []).append((jacobians[low], jacobians[high]))
        gradient, diagonal, coupling = self.gradient, list(self.diagonal), list(self.coupling)
        for k, found in own.items():
            jacobian, r = (jnp.concatenate(parts, axis=-1) for parts in zip(*found))
            jacobian = jax.lax.optimization_barrier(jacobian)  # else XLA rearranges the rows: 1.6x overall
            diagonal[k] = diagonal[k] + gram(jacobian)
            gradient = gradient.at[k].add(jacobian @ r)
        for edge, pairs in shared.items():
            by_low, by_high = (jnp.concatenate(parts, axis=-1) for parts in zip(*pairs))
            e = self.edges.index(edge)
            coupling[e] = coupling[e] + by_high @ by_low.T
        value = self.value + sum(jnp.sum(rows.r * rows.r) for rows in batches)
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
