"""Each reference against a second method that shares no step with it, to 1e-6 relative in L2, off any grid.

poisson: double sine series. burgers: mapped Chebyshev collocation and Radau, and a published slope.
kdv: tenth-order finite differences and the Gauss method of order six, and the exact cnoidal wave.
"""

import math
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BarycentricInterpolator
from scipy.special import ellipj, ellipk, erf

from metalic.errors import GeometryError, ParameterError
from metalic.families.references import burgers, evolve_kdv, kdv, kdv_initial, poisson

AGREE = 1e-6  # what "gold standard" means: two independent methods agree to this


def distance(u, truth):
    return np.linalg.norm(u - truth) / np.linalg.norm(truth)


def scattered(n, low, high):
    return np.random.default_rng(7).uniform(low, high, size=(n, 2))


# --- Poisson -------------------------------------------------------------------------------------------------------


def sine_series(s, points, terms=500):
    """Odd frequencies up to 1000; what they leave out is largest for a unit source, 4e-7 of u near a corner."""
    frequencies = np.pi * np.arange(1, 2 * terms, 2)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    x = ((nodes + 1) / 2 + np.arange(500)[:, None]).ravel() / 500
    g = np.ones_like(x) if s == 0 else (erf((x - 0.25) * s) - erf((x - 0.75) * s)) / (2 * erf(s / 4))
    source = 2 * np.sin(np.outer(frequencies, x)) @ (g * np.tile(weights, 500) / 1000)
    modes = -np.outer(source, source) / (frequencies[:, None] ** 2 + frequencies**2)
    left, right = (np.sin(np.outer(column, frequencies)) for column in points.T)
    return np.sum(left @ modes * right, axis=1)


@pytest.mark.parametrize("s", [0.0, 1e-3, 1.0, 20.0, 50.0])
def test_poisson_is_the_sine_series(s):
    points = scattered(2000, 0, 1)
    points[:200] = points[:200] ** 4  # some crowd in a corner, where the solution is singular if s is small
    truth = sine_series(s, points)
    assert distance(poisson(s)(points), truth) < AGREE
    # The corner crowd by itself too; the solution is small there, so this is the harder demand.
    assert distance(poisson(s)(points[:200]), truth[:200]) < AGREE


def test_poisson_with_a_unit_source_is_the_exact_series():
    """u = -x (1 - x) / 2 + sum of 4 sin(k x) cosh(k (y - 1/2)) / (k^3 cosh(k / 2)), k = pi, 3 pi, ...

    For y in [0.02, 0.98] the terms fall like exp(-0.02 k), so that 500 of them are exact in float64.
    """
    points = scattered(1000, (0, 0.02), (1, 0.98))
    x, y = points.T[:, :, None]
    k = np.pi * np.arange(1, 1000, 2)
    ratio = (np.exp(-k * y) + np.exp(-k * (1 - y))) / (1 + np.exp(-k))  # cosh(k (y - 1/2)) / cosh(k / 2)
    truth = np.sum(4 / k**3 * np.sin(k * x) * ratio, axis=1) - (x * (1 - x) / 2)[:, 0]
    assert distance(poisson(0.0)(points), truth) < 1e-11


def test_poisson_is_continuous_down_to_s_zero_without_warnings():
    points = scattered(100, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = {s: poisson(s)(points) for s in (0.0, 1e-300, 1e-12, 9e-9, 1.1e-8, 1e-6)}
    for u in values.values():  # the source differs from 1 by O(s^2)
        np.testing.assert_allclose(u, values[0.0], rtol=1e-11)


@pytest.mark.parametrize("s", [0.0, 3.0, 50.0])
def test_poisson_vanishes_on_the_boundary_and_has_the_symmetries_of_the_square(s):
    u, points = poisson(s), scattered(100, 0, 1)
    for axis in (0, 1):
        for side in (0.0, 1.0):
            edge = points.copy()
            edge[:, axis] = side
            np.testing.assert_allclose(u(edge), 0, atol=1e-15)
    np.testing.assert_allclose(u(points[:, ::-1]), u(points), atol=1e-14)
    np.testing.assert_allclose(u(1 - points), u(points), atol=1e-14)
    assert np.all(u(points) < 0)  # the source is positive


# --- Burgers -------------------------------------------------------------------------------------------------------


def chebyshev(n):
    """Nodes on [-1, 1] and the differentiation matrix, with the negative-sum trick on its diagonal."""
    x = -np.cos(np.pi * np.arange(n + 1) / n)
    weights = (-1.0) ** np.arange(n + 1)
    weights[[0, -1]] /= 2
    gaps = x[:, None] - x + np.eye(n + 1)
    D = weights / weights[:, None] / gaps
    np.fill_diagonal(D, 0)
    return x, D - np.diag(D.sum(axis=1))


def collocated_burgers(nu, times, n=96, stretch=4.0):
    """The odd half x in [0, 1] on Chebyshev nodes that a sinh map crowds at the shock; returns u(x) per time."""
    z, D = chebyshev(n)
    xi = (z + 1) / 2
    x = np.sinh(stretch * xi) / np.sinh(stretch)
    D = np.diag(2 * np.sinh(stretch) / (stretch * np.cosh(stretch * xi))) @ D
    first, second = D[1:-1, 1:-1], nu * (D @ D)[1:-1, 1:-1]
    run = solve_ivp(
        lambda t, u: second @ u - u * (first @ u),
        (0, times[-1]),
        -np.sin(np.pi * x[1:-1]),
        method="Radau",
        t_eval=times,
        jac=lambda t, u: second - np.diag(first @ u) - u[:, None] * first,
        rtol=1e-9,
        atol=1e-10,
    )
    assert run.success
    levels = np.pad(run.y, ((1, 1), (0, 0)))
    # The order of the nodes is shuffled because the interpolator's products overflow for sorted ones.
    return lambda at: BarycentricInterpolator(xi, levels, rng=0)(np.arcsinh(at * np.sinh(stretch)) / stretch)


@pytest.mark.parametrize("nu", [0.001, 0.0036, 0.01, 0.05])
def test_burgers_is_the_collocation_solution(nu):
    times = np.array([0.01, 0.1, 0.25, 0.3183, 0.4, 0.55, 0.77, 1.0])
    x = np.random.default_rng(3).uniform(0, 1, 300)
    x[:100] *= 0.02  # a third of them inside the shock
    truth = collocated_burgers(nu, times)(x)
    for t, level in zip(times, truth.T, strict=True):
        points = np.stack([x, np.full_like(x, t)], axis=1)
        assert distance(burgers(nu)(points), level) < AGREE


def test_burgers_has_the_published_slope():
    """Basdevant et al. (1986): for nu = 0.01 / pi, max |u_x(0, t)| = 152.00516 at t = 1.6037 / pi."""
    h = 1e-5  # u(h) / h is the slope up to (152 h)^2 / 3 relative; Richardson removes that term
    at = np.array([[h, 1.6037 / np.pi], [2 * h, 1.6037 / np.pi]])
    near, far = burgers(0.01 / np.pi)(at) / at[:, 0]
    assert (4 * near - far) / 3 == pytest.approx(-152.00516, abs=1e-4)


@pytest.mark.parametrize("nu", [0.001, 0.01, 0.05])
def test_burgers_starts_from_its_data_is_odd_and_vanishes_at_the_ends(nu):
    u, points = burgers(nu), scattered(500, (-1, 0), (1, 1))
    x, t = points.T
    np.testing.assert_allclose(u(np.stack([x, 0 * t], axis=1)), -np.sin(np.pi * x), atol=1e-15)
    for tiny in (1e-300, 1e-14):
        np.testing.assert_allclose(u(np.stack([x, 0 * t + tiny], axis=1)), -np.sin(np.pi * x), atol=1e-13)
    np.testing.assert_allclose(u(points * [-1, 1]), -u(points), atol=1e-13)
    for wall in (-1.0, 0.0, 1.0):
        np.testing.assert_allclose(u(np.stack([0 * x + wall, t], axis=1)), 0, atol=1e-13)
    assert np.all(np.abs(u(points)) <= 1)  # the maximum principle


# --- Korteweg-de Vries ---------------------------------------------------------------------------------------------


def central(order, width):
    """Weights of the central difference of this derivative on the points -width..width, from Taylor's conditions."""
    offsets = np.arange(-width, width + 1) / width  # in [-1, 1], else rounding spoils the weights
    target = np.zeros(2 * width + 1)
    target[order] = math.factorial(order) / width**order
    return np.linalg.solve(np.vander(offsets, increasing=True).T, target)


def circulant(weights, n):
    width = len(weights) // 2
    return sum(w * np.roll(np.eye(n), j, axis=1) for j, w in zip(range(-width, width + 1), weights, strict=True))


def differenced_kdv(nu, n=150, steps=1600):
    """Stencils of order ten in x and the three-stage Gauss method in t, at every level; stages by fixed point."""
    dx, h = 20 / n, 20 / steps
    root = np.sqrt(15)
    A = np.array(
        [
            [5 / 36, 2 / 9 - root / 15, 5 / 36 - root / 30],
            [5 / 36 + root / 24, 2 / 9, 5 / 36 - root / 24],
            [5 / 36 + root / 30, 2 / 9 + root / 15, 5 / 36],
        ]
    )
    first, third = central(1, 5) / dx, circulant(central(3, 6) / dx**3, n)
    implicit = np.linalg.inv(np.eye(3 * n) + h * np.kron(A, third))  # slopes K with K = -third (u + h A K) + flux

    def flux(stages):
        squares = np.pad(stages**2, ((0, 0), (5, 5)), mode="wrap")
        return -0.5 * nu * sum(w * squares[:, j : j + n] for j, w in enumerate(first))

    levels = [kdv_initial(dx * np.arange(n))]
    slopes = np.zeros((3, n))
    for _ in range(steps):
        u, linear = levels[-1], -third @ levels[-1]
        for _ in range(30):
            previous = slopes
            slopes = (implicit @ (linear + flux(u + h * A @ slopes)).ravel()).reshape(3, n)
            if np.abs(slopes - previous).max() < 1e-11:
                break
        else:
            raise AssertionError("the stages did not converge")
        levels.append(u + h * np.array([5, 8, 5]) / 18 @ slopes)
    return np.array(levels)


@pytest.mark.parametrize("nu", [1.0, 6.0, 10.0])
def test_kdv_is_the_finite_difference_solution(nu):
    levels = differenced_kdv(nu)[::80]
    x, t = np.meshgrid(20 * np.arange(150) / 150, np.linspace(0, 20, len(levels)))
    u = kdv(nu)(np.stack([x.ravel(), t.ravel()], axis=1)).reshape(levels.shape)
    assert distance(u, levels) < AGREE
    assert distance(u[-1], levels[-1]) < AGREE


@pytest.mark.parametrize(("nu", "m"), [(1.0, 0.9), (6.0, 0.999), (10.0, 0.999)])
def test_kdv_carries_the_cnoidal_wave(nu, m):
    """u = (12 / nu) kappa^2 dn^2(kappa (x - c t) | m), c = 4 kappa^2 (2 - m), is exact and has the period 2 K / kappa.

    The points are off the stepper's grid and levels, so this also measures the interpolation.
    """
    kappa = 2 * ellipk(m) / 20
    speed = 4 * kappa**2 * (2 - m)

    def wave(x):
        return 12 / nu * kappa**2 * ellipj(kappa * x, m)[2] ** 2

    points = scattered(2000, 0, 20)
    assert distance(evolve_kdv(nu, wave)(points), wave(points[:, 0] - speed * points[:, 1])) < 1e-7


@pytest.mark.parametrize("nu", [1.0, 3.3, 10.0])
def test_kdv_starts_from_its_data_is_periodic_and_satisfies_the_equation_off_grid(nu):
    u, points = kdv(nu), scattered(300, (0.5, 0.5), (19.5, 19.5))
    x, t = points.T
    np.testing.assert_allclose(u(np.stack([x, 0 * t], axis=1)), kdv_initial(x), atol=1e-12)
    np.testing.assert_allclose(u(np.stack([0 * t, t], axis=1)), u(np.stack([0 * t + 20, t], axis=1)), atol=1e-13)

    def derivative(axis, order, step):
        shift = step * np.eye(2)[axis]
        return (
            sum(w * u(points + j * shift) for j, w in zip(range(-4, 5), central(order, 4), strict=True)) / step**order
        )

    residual = derivative(1, 1, 3e-3) + nu * u(points) * derivative(0, 1, 0.05) + derivative(0, 3, 0.05)
    assert distance(residual + derivative(1, 1, 3e-3), derivative(1, 1, 3e-3)) < 1e-5  # error of the differences


def test_kdv_initial_is_smooth_across_the_period_and_the_same_in_jax():
    x = np.linspace(0, 20, 81)
    np.testing.assert_allclose(kdv_initial(x - 20), kdv_initial(x), atol=1e-12)
    np.testing.assert_allclose(kdv_initial(jnp.asarray(x, jnp.float32), jnp), kdv_initial(x), rtol=1e-4)
    slope = jax.vmap(jax.grad(lambda a: kdv_initial(a, jnp)))(jnp.asarray(x, jnp.float32))
    expected = (kdv_initial(x + 1e-5) - kdv_initial(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(slope, expected, atol=1e-5)


# --- What all have in common -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "low", "high"),
    [(poisson(0.0), (0, 0), (1, 1)), (burgers(0.001), (-1, 0), (1, 1)), (kdv(10.0), (0, 0), (20, 20))],
)
class TestEveryReference:
    def test_is_finite_to_the_corners_and_treats_points_one_by_one(self, reference, low, high):
        corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])], dtype=float)
        points = np.concatenate([scattered(5000, low, high), corners])  # more than one chunk
        values = reference(points)
        assert values.shape == (5004,)
        assert np.all(np.isfinite(values))
        np.testing.assert_allclose(reference(points[::-1])[::-1], values, atol=1e-13)
        assert reference(points[:0]).shape == (0,)

    def test_survives_pickling(self, reference, low, high):
        points = scattered(10, low, high)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(reference))(points), reference(points))

    def test_refuses_points_it_does_not_know(self, reference, low, high):
        with pytest.raises(GeometryError, match="outside"):
            reference(np.array([[high[0], high[1] + 0.1]]))
        with pytest.raises(GeometryError, match="outside"):
            reference(np.array([[np.nan, high[1]]]))
        with pytest.raises(GeometryError, match="shape"):
            reference(np.zeros(2))


@pytest.mark.parametrize(("solve", "value"), [(poisson, -1.0), (poisson, 51.0), (burgers, 1e-4), (kdv, np.nan)])
def test_parameters_outside_the_verified_box_are_refused(solve, value):
    with pytest.raises(ParameterError, match="outside"):
        solve(value)


def test_a_parameter_is_solved_once():
    assert poisson(2.0) is poisson(np.float64(2.0))
    assert burgers(float(np.float32(0.05)))(np.array([[0.5, 0.0]])) == pytest.approx(-1)  # a bound through float32
