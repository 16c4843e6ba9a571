"""Scrambled Sobol points, bit for bit those of `scipy.stats.qmc.Sobol`.

They are computed here because importing `scipy.stats` takes a second, a third of a whole solve from a library. The
direction numbers are those of Joe and Kuo (2008), the scrambling is Matousek's (a random lower triangular matrix and a
shift). Letters: d coordinates, n points, B bits of a coordinate.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, UInt32

BITS = 30
POLYNOMIALS = (1, 3, 7, 11, 13, 19, 25, 37)  # primitive polynomials modulo 2, a bit for each coefficient
INITIAL = ((), (1,), (1, 3), (1, 3, 1), (1, 1, 1), (1, 1, 3, 3), (1, 3, 5, 13), (1, 1, 5, 5, 17))
MOST = len(POLYNOMIALS)  # coordinates


def sobol(n: int, d: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """The first n points of a sequence that a child of `rng` scrambles."""
    child, order = rng.spawn(1)[0], np.arange(n)
    shift = child.integers(0, 2, size=(d, BITS), dtype=np.uint32) @ _powers()
    lower = np.tril(child.integers(0, 2, size=(d, BITS, BITS), dtype=np.uint32), -1) + np.eye(BITS, dtype=np.uint32)
    directions, gray = _scrambled(lower, _directions(d)), order ^ (order >> 1)
    numbers = np.tile(shift, (n, 1))
    for bit in range(n.bit_length()):
        numbers[gray >> bit & 1 == 1] ^= directions[:, bit]
    return numbers / 2**BITS


def _powers() -> UInt32[np.ndarray, "B"]:
    return (2 ** np.arange(BITS)).astype(np.uint32)


def _scrambled(lower: UInt32[np.ndarray, "d B B"], directions: UInt32[np.ndarray, "d B"]) -> UInt32[np.ndarray, "d B"]:
    """Each number's bits, the highest first, times the matrix modulo 2."""
    highest_first = np.arange(BITS - 1, -1, -1, dtype=np.uint32)[:, None]
    bits = directions[:, None, :] >> highest_first & 1
    return np.einsum("dbj,b->dj", lower @ bits % 2, _powers()[::-1])


def _directions(d: int) -> UInt32[np.ndarray, "d B"]:
    """Direction numbers, from a linear recurrence modulo 2 in each coordinate."""
    rows = []
    for polynomial, initial in zip(POLYNOMIALS[:d], INITIAL):
        row, degree = list(initial) or [1] * BITS, len(initial)
        while len(row) < BITS:
            new = row[-degree]
            for k in range(degree):
                if polynomial >> (degree - 1 - k) & 1:
                    new ^= row[-1 - k] << (k + 1)
            row.append(new)
        rows.append([number << (BITS - 1 - j) for j, number in enumerate(row)])
    return np.array(rows, dtype=np.uint32)
