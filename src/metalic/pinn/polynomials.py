"""Polynomials on boxes, in products of Chebyshev's, with their derivatives: plain NumPy, nothing is compiled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..families.derivatives import Derivative


@dataclass(frozen=True)
class Polynomials:
    """All products T_i(x) T_j(y)... of a total degree up to `degree`, on K boxes scaled to [-1, 1]^d each."""

    low: Float[np.ndarray, "K d"]
    high: Float[np.ndarray, "K d"]
    degree: int

    @property
    def exponents(self) -> np.ndarray:
        """(M, d), by total degree: those of a lower degree come first."""
        every = itertools.product(range(self.degree + 1), repeat=self.low.shape[1])
        return np.array(sorted((e for e in every if sum(e) <= self.degree), key=lambda e: (sum(e), e)))

    def basis(
        self, k: int, x: Float[np.ndarray, "d N"], derivatives: Sequence[Derivative]
    ) -> dict[Derivative, Float[np.ndarray, "M N"]]:
        """Derivatives of all polynomials of box k at points of it."""
        slope = 2 / (self.high[k] - self.low[k])
        z = (x - self.low[k][:, None]) * slope[:, None] - 1
        terms = {term for derivative in derivatives for term in derivative.terms}
        top = np.max([term.orders for term in terms], axis=0)
        along = [_chebyshev(z_i, self.degree, order) for z_i, order in zip(z, top)]
        factors = list(zip(along, self.exponents.T, slope))
        partial = {
            term: math.prod((t[n][e] * s**n for n, (t, e, s) in zip(term.orders, factors)), start=np.ones(1))
            for term in terms
        }
        return {d: np.sum([partial[term] for term in d.terms], axis=0) for d in derivatives}


def count(degree: int, d: int) -> int:
    """How many polynomials of d variables there are up to a total degree."""
    return math.comb(degree + d, d)


def _chebyshev(x: Float[np.ndarray, "N"], degree: int, order: int) -> Float[np.ndarray, "n p N"]:
    """The derivatives 0..order of T_0..T_degree, from T_(n+1) = 2 x T_n - T_(n-1)."""
    t = np.zeros((order + 1, max(degree, 1) + 1, len(x)))
    t[0, 0], t[0, 1] = 1, x
    if order:
        t[1, 1] = 1
    for n in range(1, degree):
        for k in range(order + 1):
            t[k, n + 1] = 2 * x * t[k, n] + (2 * k * t[k - 1, n] if k else 0) - t[k, n - 1]
    return t
