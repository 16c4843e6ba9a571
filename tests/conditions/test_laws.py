"""Each law against sympy on closed-form fields."""

import numpy as np
import pytest
import sympy as sp

from metalic.conditions import Catalogue, Side
from metalic.families import Dirichlet, Family, find_family
from metalic.families.fields import components_of, rows
from metalic.geometry import Box, split

X, Y, T = sp.symbols("x y t")


POINT = {"x": sp.Rational(3, 5), "y": sp.Rational(1, 2), "t": sp.Rational(1, 2)}


SOFT = sp.Rational(1, 10**6)  # what stands for s = 0 inside the source


def bump(z, s):
    return (sp.erf((z - sp.Rational(1, 4)) * s) - sp.erf((z - sp.Rational(3, 4)) * s)) / (2 * sp.erf(s / 4))


# Family: parameters, residual and flux of a field v as sympy sees them, normal, and an exact solution.
SOUND = {
    "poisson": (
        {"s": 0.0},
        lambda v: sp.diff(v, X, 2) + sp.diff(v, Y, 2) - bump(X, SOFT) * bump(Y, SOFT),
        lambda v: sp.diff(v, Y),
        (X**2 + Y**2) / 4 + sp.exp(X) * sp.sin(Y),
    ),
    "advection": ({"beta": 7.0}, lambda v: sp.diff(v, T) + 7 * sp.diff(v, X), None, sp.sin(X - 7 * T)),
    "reaction": (
        {"rho": 4.0},
        lambda v: sp.diff(v, T) - 4 * v * (1 - v),
        None,
        1 / (1 + sp.exp(-4 * T) * (2 + sp.sin(X))),
    ),
    "burgers": (
        {"nu": 0.05},
        lambda v: sp.diff(v, T) + v * sp.diff(v, X) - sp.diff(v, X, 2) / 20,
        lambda v: v**2 / 2 - sp.diff(v, X) / 20,
        sp.Rational(1, 3) - sp.tanh(10 * (X - T / 3)) * 1,
    ),
    "heat": (
        dict.fromkeys("abcd", 1.0),
        lambda v: sp.diff(v, T) - sp.diff(v, X, 2),
        None,
        sp.exp(-(sp.pi**2) * T) * sp.cos(sp.pi * X) + sp.exp(T) * sp.sinh(X),
    ),
    "kdv": (
        {"nu": 3.0},
        lambda v: sp.diff(v, T) + 3 * v * sp.diff(v, X) + sp.diff(v, X, 3),
        None,
        sp.Rational(12, 3) / 4 / sp.cosh((X - T) / 2) ** 2,
    ),
}


MINE, THEIRS = sp.sin(2 * X) * (1 + Y + T**2), X**3 * Y**2 * T + sp.cos(Y + 2 * T)


CASES = [(family, name) for family in SOUND for name in Catalogue(find_family(family)).names]


def side(family, field, values):
    symbols = [sp.Symbol(name) for name in family.coordinates]
    at = [POINT[name] for name in family.coordinates]

    def look(channel):
        orders = zip(symbols, channel[1].orders, strict=True)
        derivative = field
        for symbol, order in orders:
            derivative = sp.diff(derivative, symbol, order)
        return float(derivative.subs(dict(zip(symbols, at, strict=True))).evalf(20))

    return Side(family, look, [float(c) for c in at], (), values)


def law(family, name, mine, theirs):
    """The rows of a condition for two sympy fields; the normal is that of the family's interface, from b to a."""
    values, *_ = SOUND[family.name]
    condition = next(c for c in Catalogue(family).conditions if c.name == name)
    normal = np.zeros(2)
    normal[family.decomposition.interfaces[0].patches[0].axis] = -1.0
    return np.asarray(rows(condition.law(side(family, mine, values), side(family, theirs, values), normal)))


def expected(family, name, v, w):
    _, residual, flux, _ = SOUND[family.name]
    symbols = [sp.Symbol(n) for n in family.coordinates]
    formulas = {
        "u": [v - w],
        "uavg": [(v - w) / 2],
        "r": [residual(v), residual(w)],
        "rc": [residual(v) - residual(w)],
        "gr": [sp.diff(residual(f), z) for f in (v, w) for z in symbols],
    }
    if name == "c":
        wanted = [-(flux(v) - flux(w))]
    elif name in formulas:
        wanted = formulas[name]
    else:
        wanted = [sp.diff(v - w, *(sp.Symbol(letter) for letter in name))]
    at = {sp.Symbol(n): POINT[n] for n in family.coordinates}
    return [float(expression.subs(at).evalf(20)) for expression in wanted]


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(("name", "condition"), CASES)
def test_a_law_is_its_formula(name, condition):
    family = find_family(name)
    other = {sp.Symbol(n) for n in "xyt"} - {sp.Symbol(n) for n in family.coordinates}
    mine, theirs = (field.subs(dict.fromkeys(other, 0)) for field in (MINE, THEIRS))
    truth = expected(family, condition, mine, theirs)
    assert np.max(np.abs(truth)) > 1e-3  # a check that could not fail would be none
    np.testing.assert_allclose(law(family, condition, mine, theirs), truth, rtol=1e-10, atol=1e-11)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(("name", "condition"), CASES)
def test_a_smooth_exact_solution_satisfies_every_condition(name, condition):
    """Residuals to rounding (third derivatives of the steepest field are near 1e3); jumps exactly."""
    family = find_family(name)
    solution = SOUND[name][3]
    found = law(family, condition, solution, solution)
    np.testing.assert_allclose(found, 0, atol=1e-9 if condition in ("r", "gr") else 0)


@pytest.mark.usefixtures("double")
def test_systems_and_materials():
    """Every component and equation has its row; each side uses its own coefficients and all its fluxes."""

    class Bars(Family):
        domain = Box(x=(0, 1), y=(0, 1))
        decomposition = split(domain, x=[0.5])
        components = ("a", "b")
        coefficients = {"k": {"1": 2.0, "2": 10.0}}

        def residual(self, u, p):
            return p.k * u.a.xx + p.x * u.b, u.b.yy

        def flux(self, u, p):
            return {"x": (p.k * u.a.x, u.b.x), "y": (u.a.y, u.b.y)}

        def boundary(self):
            return [Dirichlet("x=0", 0.0, of="a")]

    def flat(k, factor):
        return Side(
            Bars(), lambda c: factor * (1.0 + c[0] + 10 * c[1].orders[0] + 100 * c[1].orders[1]), (0.5, 0.25), (k,), {}
        )

    left, right = flat(2.0, 1.0), flat(10.0, 3.0)
    laws = {c.name: c for c in Catalogue(Bars()).conditions}
    n = np.array([1.0, 0.0])
    a, a_x, b, b_x = 1.0, 11.0, 2.0, 12.0
    np.testing.assert_allclose(rows(laws["u"].law(left, right, n)), [a - 3 * a, b - 3 * b])
    np.testing.assert_allclose(rows(laws["c"].law(left, right, n)), [2 * a_x - 30 * a_x, b_x - 3 * b_x])
    np.testing.assert_allclose(rows(laws["x"].law(left, right, n)), [a_x - 3 * a_x, b_x - 3 * b_x])
    mine, theirs = [2 * 21 + 0.5 * b, 202], [30 * 21 + 1.5 * b, 606]
    np.testing.assert_allclose(rows(laws["r"].law(left, right, n)), [*mine, *theirs])
    # d/dx (k a_xx + x b) = k a_xxx + b + x b_x; d/dy = k a_xxy + x b_y; b_yyx, b_yyy; in this order for one side.
    gradient = [2 * 31 + b + 0.5 * b_x, 212, 2 * 121 + 0.5 * 102, 302]
    np.testing.assert_allclose(rows(laws["gr"].law(left, left, n)), [*gradient, *gradient])
    assert [f.value for f in components_of(left.u)] == [a, b]
