"""Polynomials against NumPy's own Chebyshev series."""

import numpy as np
from numpy.polynomial import chebyshev

from metalic.families.derivatives import Laplacian, Partial
from metalic.pinn.polynomials import Polynomials, count

LOW, HIGH = np.array([[0.0, -1.0]]), np.array([[0.5, 3.0]])


def test_values_and_derivatives():
    rng = np.random.default_rng(0)
    points = LOW.T + (HIGH - LOW).T * rng.random((2, 7))
    polynomials = Polynomials(LOW, HIGH, 5)
    assert len(polynomials.exponents) == count(5, 2) == 21
    coefficients = rng.normal(size=21)
    table = np.zeros((6, 6))
    table[tuple(polynomials.exponents.T)] = coefficients
    z = 2 * (points - LOW.T) / (HIGH - LOW).T - 1
    slope = (2 / (HIGH - LOW))[0]

    def truth(i, j):
        changed = chebyshev.chebder(chebyshev.chebder(table, i, axis=0), j, axis=1)
        return chebyshev.chebval2d(*z, changed) * slope[0] ** i * slope[1] ** j

    for orders in ((0, 0), (1, 0), (0, 2), (2, 1)):
        derivative = Partial(orders)
        found = coefficients @ polynomials.basis(0, points, [derivative])[derivative]
        np.testing.assert_allclose(found, truth(*orders), rtol=1e-10, atol=1e-10)
    laplacian = Laplacian((2, 2))
    found = coefficients @ polynomials.basis(0, points, [laplacian])[laplacian]
    np.testing.assert_allclose(found, truth(2, 0) + truth(0, 2), rtol=1e-10)
