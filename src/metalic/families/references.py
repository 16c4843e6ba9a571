"""Gold-standard solutions of the families that have no closed form, in float64, at any points of the domain.

poisson: Legendre-Galerkin in Shen's basis (L_k - L_{k+2}) / sqrt(4k + 6), where the stiffness matrix is the identity.
    The mass matrix M is tridiagonal and the right-hand side h h^T separable, so one eigendecomposition of M solves
    4 (U M + M U) = -h h^T. The solution is even in both directions, so only even k appear. With the source f on the
    boundary as well, u = v + f, and v = 0 there solves the same system with f - f_xx - f_yy on the right.
burgers: Cole-Hopf, u = -<sin(pi y)> under the density exp(-[(x - y)^2 / (4 t) + cos(pi y) / (2 pi)] / nu) of y.
    The trapezoidal rule converges exponentially on it; its width is scaled such that t = 0 is not a special case.
kdv: Fourier modes in x and ETDRK4 in t (Kassam and Trefethen 2005), which treats u_xxx exactly;
    a spline of degree seven through the stored time levels gives every t.

A solution is a `BoxReference`: `poisson(s)(points)` takes points of shape (n, 2) and returns the n values there.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Complex, Float
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import eigh_tridiagonal
from scipy.special import erf, roots_legendre

from metalic.errors import GeometryError, ParameterError

Column = Float[np.ndarray, "n"]
Ranges = tuple[tuple[float, float], tuple[float, float]]

_CACHED = 64
_CHUNK = 2048  # points evaluated at once; bounds the memory of one call to some tens of megabytes
_SLACK = 1e-6  # relative; a bound that went through float32 is still inside


class BoxReference(ABC):
    """A solution u on a box of two coordinates, callable at points of shape (n, 2)."""

    domain: ClassVar[Ranges]

    def __call__(self, points: np.ndarray) -> Column:
        points = self._inside(np.asarray(points, dtype=np.float64))
        values = np.empty(len(points))
        for start in range(0, len(points), _CHUNK):
            part = slice(start, start + _CHUNK)
            values[part] = self._evaluate(points[part, 0], points[part, 1])
        return values

    @abstractmethod
    def _evaluate(self, first: Column, second: Column) -> Column:
        """The solution at the points whose coordinates are the two columns, all of them inside the domain."""

    def _inside(self, points: np.ndarray) -> Float[np.ndarray, "n 2"]:
        if points.ndim != 2 or points.shape[1] != 2:
            raise GeometryError(f"points have shape {points.shape}; a reference takes shape (n, 2), a row per point")
        low, high = np.array(self.domain).T
        slack = _SLACK * (high - low)
        if not np.all((points >= low - slack) & (points <= high + slack)):
            raise GeometryError(f"some points are outside the domain {self.domain}; the reference is known only inside")
        return np.clip(points, low, high)


def _parameter(name: str, value: float, low: float, high: float) -> float:
    slack = _SLACK * high
    if not low - slack <= value <= high + slack:
        raise ParameterError(f"{name} = {value} is outside [{low}, {high}], where the reference is verified")
    return float(value)


# --- Poisson -------------------------------------------------------------------------------------------------------

_POISSON_MODES = 192  # even modes, so polynomials up to degree 384; s = 50 needs about 250


@final
@dataclass(frozen=True, eq=False)
class _Poisson(BoxReference):
    coefficients: Float[np.ndarray, "m m"]

    domain: ClassVar[Ranges] = ((0.0, 1.0), (0.0, 1.0))

    def _evaluate(self, first: Column, second: Column) -> Column:
        left, right = _shen_basis(2 * first - 1), _shen_basis(2 * second - 1)
        return np.einsum("nm,nm->n", left @ self.coefficients, right)


@final
@dataclass(frozen=True, eq=False)
class _Lifted(BoxReference):
    """v + f with v = 0 on the boundary."""

    homogeneous: _Poisson
    s: float

    domain: ClassVar[Ranges] = _Poisson.domain

    def _evaluate(self, first: Column, second: Column) -> Column:
        source = _source_factor(first, self.s) * _source_factor(second, self.s)
        return self.homogeneous._evaluate(first, second) + source


@lru_cache(_CACHED)
def poisson(s: float) -> BoxReference:
    """u_xx + u_yy = g(x) g(y) on the unit square, u = 0 on its boundary; s = 0 is the unit source."""
    s = _parameter("s", s, 0.0, 50.0)
    (moments,) = _moments(_source_factor(_poisson_nodes(), s))
    return _solved(np.outer(moments, moments))


@lru_cache(_CACHED)
def poisson_source_on_boundary(s: float) -> BoxReference:
    """The same equation with u = g(x) g(y) on the boundary."""
    s = _parameter("s", s, 0.0, 50.0)
    nodes = _poisson_nodes()
    g, bent = _moments(_source_factor(nodes, s), _source_curvature(nodes, s))
    return _Lifted(_solved(np.outer(g, g) - np.outer(bent, g) - np.outer(g, bent)), s)


def _poisson_nodes() -> Column:
    return (_poisson_tools()[0] + 1) / 2


def _moments(*factors: Column) -> tuple[Float[np.ndarray, "m"], ...]:
    """The factors of a right-hand side in the eigenvectors of M."""
    _, weights, basis, _, vectors = _poisson_tools()
    return tuple(vectors.T @ (basis.T @ (weights * factor)) for factor in factors)


def _solved(right: Float[np.ndarray, "m m"]) -> _Poisson:
    """u = 0 on the boundary, the right-hand side in the eigenvectors of M."""
    *_, masses, vectors = _poisson_tools()
    return _Poisson(vectors @ (-right / (4 * (masses[:, None] + masses))) @ vectors.T)


def _source_factor(x: Column, s: float) -> Column:
    """g of the source g(x) g(y), divided by its maximum g(1/2)."""
    if s < 1e-8:  # g = 1 + O(s^2), which is 1 in float64
        return np.ones_like(x)
    return (erf((x - 0.25) * s) - erf((x - 0.75) * s)) / (2 * erf(s / 4))


def _source_curvature(x: Column, s: float) -> Column:
    """The second derivative of that factor."""
    if s < 1e-8:
        return np.zeros_like(x)
    left, right = x - 0.25, x - 0.75
    bend = left * np.exp(-((left * s) ** 2)) - right * np.exp(-((right * s) ** 2))
    return -2 * s**3 / math.sqrt(math.pi) * bend / erf(s / 4)


def _shen_scale() -> Column:
    return 1 / np.sqrt(8.0 * np.arange(_POISSON_MODES) + 6)


def _shen_basis(x: Column) -> Float[np.ndarray, "n m"]:
    """The even functions (L_k - L_{k+2}) / sqrt(4k + 6) on [-1, 1]; they vanish at both ends."""
    legendre = np.polynomial.legendre.legvander(x, 2 * _POISSON_MODES)[:, ::2]
    return (legendre[:, :-1] - legendre[:, 1:]) * _shen_scale()


@lru_cache(1)
def _poisson_tools() -> tuple[np.ndarray, ...]:
    """What does not depend on s: quadrature nodes and weights, the basis there, eigenvalues and vectors of M."""
    nodes, weights = roots_legendre(3 * _POISSON_MODES)
    k, scale = 2 * np.arange(_POISSON_MODES), _shen_scale()
    diagonal = scale**2 * (2 / (2 * k + 1) + 2 / (2 * k + 5))
    beside = -scale[:-1] * scale[1:] * 2 / (2 * k[:-1] + 5)
    return nodes, weights, _shen_basis(nodes), *eigh_tridiagonal(diagonal, beside)


# --- Burgers -------------------------------------------------------------------------------------------------------

_BURGERS_NODES = 513  # at nu = 0.001 and t = 1 the step is a third of the narrowest width of the density
_BURGERS_CUT = 40.0  # the density is cut where it fell by exp(-40), below rounding


@final
@dataclass(frozen=True, eq=False)
class _Burgers(BoxReference):
    nu: float

    domain: ClassVar[Ranges] = ((-1.0, 1.0), (0.0, 1.0))

    def _evaluate(self, first: Column, second: Column) -> Column:
        return cole_hopf(first, second, self.nu)


def cole_hopf(x: Any, t: Any, nu: Any, xp: ModuleType = np) -> Any:
    """Burgers' solution at x and t of one shape, with NumPy or, traced, with jax.numpy."""
    x, root = xp.asarray(x)[..., None], xp.sqrt(xp.asarray(t))[..., None]
    # |cos(pi y) - cos(pi x)| <= pi |x - y|: the density fell by the cut when |x - y| = sqrt(t) * reach.
    reach = root + xp.sqrt(root**2 + 4 * nu * _BURGERS_CUT)
    steps = reach * xp.linspace(-1.0, 1.0, _BURGERS_NODES)
    y = xp.pi * (x - root * steps)
    exponent = -(steps**2 / 4 + xp.cos(y) / (2 * xp.pi)) / nu
    density = xp.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return -(density * xp.sin(y)).sum(axis=-1) / density.sum(axis=-1)


@lru_cache(_CACHED)
def burgers(nu: float) -> BoxReference:
    """u_t + u u_x = nu u_xx for x in [-1, 1] and t in [0, 1], from -sin(pi x), u = 0 at both ends."""
    return _Burgers(_parameter("nu", nu, 0.001, 0.05))


# --- Korteweg-de Vries ---------------------------------------------------------------------------------------------

_KDV_PERIOD = 20.0
_KDV_END = 20.0
_KDV_GRID = 128  # modes beyond a third of it are below 1e-15 for every nu
_KDV_LEVELS = 2000  # stored intervals in time
_KDV_SUBSTEPS = 4  # steps between two stored levels
_KDV_WAVES = ((0.75, 0.33 * _KDV_PERIOD), (0.4, 0.65 * _KDV_PERIOD))  # speed at nu = 6, centre
_KDV_IMAGES = 3  # on either side; the next one contributes less than 1e-17

Modes = Complex[np.ndarray, "k"]


@final
@dataclass(frozen=True, eq=False)
class _KdV(BoxReference):
    spectrum: BSpline  # of t, with the coefficients of exp(2 pi i k x / period) for k >= 0 as values

    domain: ClassVar[Ranges] = ((0.0, _KDV_PERIOD), (0.0, _KDV_END))

    def _evaluate(self, first: Column, second: Column) -> Column:
        modes = self.spectrum(second)
        waves = np.exp(1j * np.outer(first, _kdv_wavenumbers()[: modes.shape[1]]))
        return np.einsum("nk,nk->n", modes, waves).real


def kdv_initial(x: Any, xp: ModuleType = np) -> Any:
    """Two solitary waves of the nu = 6 equation with their periodic images; xp is numpy or jax.numpy."""
    total = xp.zeros_like(x)
    for speed, centre in _KDV_WAVES:
        for image in range(-_KDV_IMAGES, _KDV_IMAGES + 1):
            sech = 1 / xp.cosh(math.sqrt(speed) / 2 * (x - centre - image * _KDV_PERIOD))
            total = total + 0.5 * speed * sech * sech
    return total


@lru_cache(_CACHED)
def kdv(nu: float) -> BoxReference:
    """u_t + nu u u_x + u_xxx = 0, periodic in x on [0, 20], for t in [0, 20], from `kdv_initial`."""
    return evolve_kdv(_parameter("nu", nu, 1.0, 10.0), kdv_initial)


def evolve_kdv(nu: float, initial: Callable[[Column], Column]) -> BoxReference:
    """The same equation from other smooth periodic data, whose modes must vanish beyond a third of the grid."""
    resolved = _KDV_GRID // 3 + 1  # the two-thirds rule: no product of these modes aliases into them
    start = np.fft.rfft(initial(_KDV_PERIOD * np.arange(_KDV_GRID) / _KDV_GRID), norm="forward")
    step = _etdrk4(nu, resolved, _KDV_END / (_KDV_LEVELS * _KDV_SUBSTEPS))
    levels = [start[:resolved]]
    for _ in range(_KDV_LEVELS):
        modes = levels[-1]
        for _ in range(_KDV_SUBSTEPS):
            modes = step(modes)
        levels.append(modes)
    one_sided = np.array(levels) * np.where(np.arange(resolved) == 0, 1, 2)  # u is real: -k mirrors k
    return _KdV(make_interp_spline(np.linspace(0, _KDV_END, _KDV_LEVELS + 1), one_sided, k=7))


def _kdv_wavenumbers() -> Column:
    return 2 * np.pi / _KDV_PERIOD * np.arange(_KDV_GRID // 2 + 1)


def _etdrk4(nu: float, resolved: int, h: float) -> Callable[[Modes], Modes]:
    """One step of length h for the modes; the phi functions are contour means, stable near zero arguments."""
    k = _kdv_wavenumbers()[:resolved]
    linear = 1j * h * k**3
    ring = linear[:, None] + np.exp(2j * np.pi * (np.arange(32) + 0.5) / 32)
    grown, whole, half = np.exp(ring), np.exp(linear), np.exp(linear / 2)
    midway = h * np.mean((np.exp(ring / 2) - 1) / ring, axis=1)
    first = h * np.mean((-4 - ring + grown * (4 - 3 * ring + ring**2)) / ring**3, axis=1)
    middle = 2 * h * np.mean((2 + ring + grown * (ring - 2)) / ring**3, axis=1)
    last = h * np.mean((-4 - 3 * ring - ring**2 + grown * (4 - ring)) / ring**3, axis=1)

    def flux(modes: Modes) -> Modes:
        u = np.fft.irfft(modes, _KDV_GRID, norm="forward")
        return -0.5j * nu * k * np.fft.rfft(u * u, norm="forward")[:resolved]

    def step(v: Modes) -> Modes:
        at_v = flux(v)
        a = half * v + midway * at_v
        at_a = flux(a)
        at_b = flux(half * v + midway * at_a)
        at_c = flux(half * a + midway * (2 * at_b - at_v))
        return whole * v + first * at_v + middle * (at_a + at_b) + last * at_c

    return step
