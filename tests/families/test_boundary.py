"""Boundary conditions on a polynomial whose derivatives are known by sympy, and the normals that faces get."""

import numpy as np
import pytest
import sympy as sp

from metalic.errors import FamilyError
from metalic.families import Dirichlet, Family, Neumann, Periodic, Robin
from metalic.families.derivatives import Partial
from metalic.families.fields import Point, make_unknown
from metalic.geometry import Box, split
from metalic.pinn.laws import Place, System
from metalic.pinn.network import Network

pytestmark = pytest.mark.usefixtures("double")

X, T = sp.symbols("x t")
POLYNOMIAL = 1 + 2 * X - 3 * T + X**2 * T - X * T**3
AT = {X: 0.7, T: 0.4}
POINT = Point({"x": 0.7, "t": 0.4})


def lookup(fields, at):
    """Channels of sympy expressions at a point."""

    def look(channel):
        component, (a, b) = channel[0], channel[1].orders
        return float(sp.diff(fields[component], X, a, T, b).subs(at))

    return look


def polynomial(at=AT):
    return make_unknown(lookup([POLYNOMIAL], at), ("u",), ("x", "t"))


def exact(expression):
    return float(expression.subs(AT))


U, U_X, U_T = exact(POLYNOMIAL), exact(sp.diff(POLYNOMIAL, X)), exact(sp.diff(POLYNOMIAL, T))


def test_dirichlet():
    assert Dirichlet("x=0", 0.25).law(polynomial(), POINT, {"x": -1.0}, {}) == pytest.approx(U - 0.25)


@pytest.mark.parametrize("number", [1, np.float32(1), np.int64(1), np.float64(1)], ids=lambda n: type(n).__name__)
def test_a_value_is_any_real_number(number):
    assert Dirichlet("x=0", number).law(polynomial(), POINT, {}, {}) == pytest.approx(U - 1)


def test_a_condition_is_printed_as_it_is_written():
    def inflow(p, k):
        return k * p.x

    assert repr(Dirichlet("x=0", "x=1", 0.0)) == "Dirichlet('x=0', 'x=1', 0.0)"
    assert repr(Dirichlet("t=0", inflow, of="v")) == "Dirichlet('t=0', inflow(p, k), of='v')"
    assert repr(Neumann("x=1", lambda p: p.t)) == "Neumann('x=1', <lambda>(p))"
    assert repr(Robin("x=1", 0.5, alpha=1.0, beta=2.0)) == "Robin('x=1', 0.5, alpha=1.0, beta=2.0)"
    assert repr(Periodic("x")) == "Periodic(coordinate='x', order=2)"


def test_values_are_functions_of_the_point_and_of_the_parameters_they_name():
    parameters = {"c": 3.0, "k": 5.0}

    def residual(value):
        return Dirichlet("x=0", value).law(polynomial(), POINT, {}, parameters)

    assert residual(lambda p: p.x + p.t) == pytest.approx(U - 1.1)
    assert residual(lambda p, k: k * p.x) == pytest.approx(U - 3.5)
    assert residual(lambda p, **all: all["c"] + all["k"]) == pytest.approx(U - 8)


@pytest.mark.parametrize(("normal", "expected"), [({"x": 1.0}, U_X), ({"x": -1.0}, -U_X)])
def test_neumann_is_the_derivative_along_the_outward_normal(normal, expected):
    assert Neumann("x=1", 0.5).law(polynomial(), POINT, normal, {}) == pytest.approx(expected - 0.5)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_in_time_neumann_is_the_plain_derivative(sign):
    assert Neumann("t=0", 0.5).law(polynomial(), POINT, {"t": sign}, {}) == pytest.approx(U_T - 0.5)


def test_robin():
    condition = Robin("x=0", lambda p, c: c * p.t, alpha=2.0, beta=3.0)
    assert condition.law(polynomial(), POINT, {"x": -1.0}, {"c": 5.0}) == pytest.approx(2 * U - 3 * U_X - 2.0)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_periodic_compares_value_and_derivatives_along_its_coordinate(order):
    left, right = polynomial({X: 0, T: 0.4}), polynomial({X: 1, T: 0.4})
    expected = [
        float((sp.diff(POLYNOMIAL, X, k).subs(X, 0) - sp.diff(POLYNOMIAL, X, k).subs(X, 1)).subs(T, 0.4))
        for k in range(order)
    ]
    np.testing.assert_allclose(Periodic("x", order).law(left, POINT, {}, {}, right), expected, atol=1e-14)
    assert Periodic("x").order == 2


def test_components_are_named():
    u = make_unknown(lookup([POLYNOMIAL, X * T], AT), ("h", "v"), ("x", "t"))
    assert Dirichlet("x=0", 0.0, of="v").law(u, POINT, {}, {}) == pytest.approx(0.28)
    assert Neumann("x=0", 0.0, of="v").law(u, POINT, {"x": -1.0}, {}) == pytest.approx(-0.4)
    with pytest.raises(FamilyError, match="several components: say which one"):
        Dirichlet("x=0", 0.0).law(u, POINT, {}, {})
    with pytest.raises(FamilyError, match=r"no component 'w'.* allowed are h, v"):
        Dirichlet("x=0", 0.0, of="w").law(u, POINT, {}, {})
    assert len(Periodic("x", 2).law(u, POINT, {}, {}, u)) == 4


@pytest.mark.parametrize("make", [Dirichlet, Neumann])
@pytest.mark.parametrize("arguments", [(0.0,), ("x=0",), ("x=0", "x=1"), (0.0, "x=0"), (1, 0.0)])
def test_faces_come_first_and_the_value_last(make, arguments):
    with pytest.raises(FamilyError, match=f"{make.__name__} takes faces and a value last"):
        make(*arguments)


# --- Through a family ------------------------------------------------------------------------------------------------


class Walls(Family):
    """Every kind of condition on its faces."""

    domain = Box(x=(0, 1), t=(0, 1))
    decomposition = split(domain, t=[0.5])

    def residual(self, u, p):
        return u.t

    def boundary(self):
        return [
            Neumann("x=0", "x=1", 0.0),
            Neumann("t=0", lambda p: p.x),
            Robin("x=max", 1.0, alpha=1.0, beta=1.0),
            Neumann("x=0", "t=0", 0.0),
        ]


def law_on(number, normal):
    """The rows of boundary law `number` for the polynomial at AT."""
    system = System(Walls(), Network(2, 1, (3,)))
    place = Place((0.7, 0.4), (), normal, {})
    look = lookup([POLYNOMIAL], AT)
    return float(np.ravel(system.boundary[number].evaluate(look, look, place, place))[0])


def test_the_law_of_a_face_uses_its_own_normal():
    assert law_on(0, (-1.0, 0.0)) == pytest.approx(-U_X)
    assert law_on(0, (1.0, 0.0)) == pytest.approx(U_X)
    assert law_on(1, (0.0, -1.0)) == pytest.approx(U_T - 0.7)
    assert law_on(2, (1.0, 0.0)) == pytest.approx(U + U_X - 1)


def test_one_condition_may_hold_in_space_and_in_time():
    assert law_on(3, (-1.0, 0.0)) == pytest.approx(-U_X)
    assert law_on(3, (0.0, -1.0)) == pytest.approx(U_T)


def test_a_condition_touches_only_the_derivatives_of_its_faces():
    across, initial, robin, both = System(Walls(), Network(2, 1, (3,))).boundary
    assert across.channels == ((0, Partial((1, 0))),)
    assert initial.channels == ((0, Partial((0, 1))),)
    assert set(robin.channels) == {(0, Partial((0, 0))), (0, Partial((1, 0)))}
    assert set(both.channels) == {(0, Partial((0, 1))), (0, Partial((1, 0)))}
