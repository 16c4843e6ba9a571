"""The unknown at one point: derivatives by name, arithmetic, components, and what a law is seen to touch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalic.conditions import touched
from metalic.errors import FamilyError
from metalic.families.derivatives import Laplacian, Partial
from metalic.families.fields import Point, components_of, make_unknown, parse_derivative, rows

XT = ("x", "t")


def unknown(components=("u",), names=XT):
    """An unknown whose channel (i, (a, b)) has the value 100 i + 10 a + b + 2."""

    def look(channel):
        orders = channel[1].orders
        return jnp.asarray(100.0 * channel[0] + 10 * orders[0] + orders[-1] + 2)

    return make_unknown(look, components, names)


# --- Names of derivatives --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names", "index"),
    [
        ("x", XT, (1, 0)),
        ("t", XT, (0, 1)),
        ("xt", XT, (1, 1)),
        ("tx", XT, (1, 1)),
        ("xxx", XT, (3, 0)),
        ("xtxt", XT, (2, 2)),
        ("xyzt", ("x", "y", "z", "t"), (1, 1, 1, 1)),
        ("x1x2x1", ("x1", "x2"), (2, 1)),
        ("x1_x2", ("x1", "x2"), (1, 1)),
        ("theta_theta", ("r", "theta"), (0, 2)),
        ("thetar", ("r", "theta"), (1, 1)),
        ("r_theta", ("r", "theta"), (1, 1)),
        ("xx", ("x",), (2,)),
        ("ab", ("a", "ab"), (0, 1)),  # "b" is no coordinate, so there is one reading
        ("y", XT, None),
        ("xq", XT, None),
        ("X", XT, None),
        ("x1", ("x", "t"), None),
    ],
)
def test_derivatives_are_read_from_coordinate_names(text, names, index):
    assert parse_derivative(text, names) == index


@given(st.lists(st.sampled_from(["x", "t", "rho", "phi"]), max_size=6))
def test_every_word_of_coordinates_is_read_as_their_counts(word):
    names = ("x", "t", "rho", "phi")
    expected = tuple(word.count(name) for name in names)
    assert parse_derivative("".join(word), names) == expected
    assert parse_derivative("_".join(word), names) == expected


@pytest.mark.parametrize(
    ("text", "names"), [("xx", ("x", "xx")), ("ab", ("a", "b", "ab")), ("aab", ("a", "ab", "aab"))]
)
def test_ambiguous_names_are_refused(text, names):
    with pytest.raises(FamilyError, match=f"'{text}' can be read in several ways"):
        parse_derivative(text, names)


def test_names_that_read_alike_are_reached_by_d():
    u = make_unknown(lambda c: c[1], ("u",), ("x", "xx"))
    assert u.d("x", "x") == Partial((2, 0))
    assert u.d("xx") == Partial((0, 1))


# --- A field ---------------------------------------------------------------------------------------------------------


def test_derivatives_are_attributes():
    u = unknown()
    assert (u.value, u.x, u.t, u.xt, u.xxt) == (2, 12, 3, 13, 23)
    assert (u.d(), u.d("x"), u.d("t", "x"), u.d("x", "x", "t")) == (2, 12, 13, 23)


def test_a_field_is_its_value_in_arithmetic():
    u, v = unknown(("u", "v"))
    value, other = 2.0, 102.0
    assert (u + 3, 3 + u, u + v) == (value + 3, 3 + value, value + other)
    assert (u - 3, 3 - u, u - v) == (value - 3, 3 - value, value - other)
    assert (u * 3, 3 * u, u * v) == (value * 3, 3 * value, value * other)
    assert (u / 4, 4 / u, v / u) == (value / 4, 4 / value, other / value)
    assert (-u, u**3, u**u) == (-value, value**3, value**value)


@pytest.mark.parametrize("number", [np.float64(3.0), np.array(3.0), jnp.asarray(3.0)], ids=["numpy", "array", "jax"])
def test_a_field_meets_arrays_from_either_side(number):
    u = unknown()
    for result, expected in ((number * u, 6), (u * number, 6), (number + u, 5), (number - u, 1), (number / u, 1.5)):
        assert float(rows(result)[0]) == expected


def test_a_field_goes_through_functions_and_traces():
    def law(a):
        field = make_unknown(lambda c: a[c[1].orders[0]], ("u",), ("x",))
        return a[0] * field + jnp.exp(field.value) * field.x

    a = jnp.array([0.5, 3.0])
    assert float(jax.jit(law)(a)) == pytest.approx(0.25 + np.exp(0.5) * 3, rel=1e-6)


def test_an_unknown_derivative_is_reported():
    with pytest.raises(FamilyError, match=r"'u\.y' is not a derivative.* coordinates x, t"):
        _ = unknown().y
    with pytest.raises(FamilyError, match=r"'v\.xz' is not a derivative"):
        _ = unknown(("u", "v")).v.xz
    with pytest.raises(FamilyError, match="no coordinate 'z'; the coordinates are x, t"):
        unknown().d("x", "z")


def test_a_laplacian_names_its_coordinates():
    u = make_unknown(lambda c: c[1], ("u",), ("x", "y", "t"))
    assert u.laplacian("x", "y") == Laplacian((2, 2, 0))
    assert u.laplacian("t", "x") == Laplacian((2, 0, 2))
    assert u.laplacian("y") == u.yy == Partial((0, 2, 0))
    for wrong in ((), ("x", "x")):
        with pytest.raises(FamilyError, match=r"names its coordinates, each once, as in u\.laplacian"):
            u.laplacian(*wrong)
    with pytest.raises(FamilyError, match="no coordinate 'z'; the coordinates are x, y, t"):
        u.laplacian("x", "z")


# --- Components, points, rows ----------------------------------------------------------------------------------------


def test_components_by_name():
    u = unknown(("h", "v"))
    assert (u.h.value, u.v.value, u["v"].x, u.h.t) == (2, 102, 112, 3)
    assert [float(field.value) for field in u] == [2, 102]
    assert [float(field.value) for field in components_of(u)] == [2, 102]
    assert len(components_of(unknown())) == 1
    with pytest.raises(FamilyError, match="no component 'w' of the unknown: allowed are h, v"):
        _ = u.w
    with pytest.raises(FamilyError, match="no component 'x'"):
        _ = u["x"]


def test_a_point_has_coordinates_and_coefficients():
    p = Point({"x": 1.0, "t": 2.0, "kappa": 3.0})
    assert (p.x, p.t, p.kappa) == (1, 2, 3)
    with pytest.raises(FamilyError, match="a point has no 'y': it has x, t, kappa"):
        _ = p.y


def test_rows_flatten_what_a_law_returns():
    u = unknown()
    np.testing.assert_array_equal(rows(3.0), [3])
    np.testing.assert_array_equal(rows(u), [2])
    np.testing.assert_array_equal(rows((u, u.x, (1, jnp.array([4.0, 5.0])))), [2, 12, 1, 4, 5])


@pytest.mark.parametrize("nothing", [None, (), [None]])
def test_a_law_that_returns_nothing_is_refused(nothing):
    with pytest.raises(FamilyError, match="a law returned nothing"):
        rows(nothing)


# --- What a law touches ----------------------------------------------------------------------------------------------


def seen(law, components=("u",)):
    return touched(lambda look: law(make_unknown(look, components, XT)))


def test_only_what_is_used_is_touched():
    assert seen(lambda u: u.t + u.value * u.x) == {(0, Partial((0, 1))), (0, Partial((0, 0))), (0, Partial((1, 0)))}
    assert seen(lambda u: u.xxx) == {(0, Partial((3, 0)))}
    assert seen(lambda u: 3.0) == frozenset()
    assert seen(lambda u: 2 * jnp.sin(u.value) + 1) == {(0, Partial((0, 0)))}
    assert seen(lambda u: (u.a.x, u.b.t), ("a", "b")) == {(0, Partial((1, 0))), (1, Partial((0, 1)))}


def test_touching_computes_nothing():
    """A law is only traced: one that would blow up at the zeros does no harm, a branch on values is reported."""
    assert seen(lambda u: 1 / u.value) == {(0, Partial((0, 0)))}
    with pytest.raises(jax.errors.TracerBoolConversionError):
        seen(lambda u: u.x if u.value > 0 else 0.0)
