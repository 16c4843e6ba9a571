"""What is read off networks, against differences of their plain implementation, and on either side of an interface."""

import jax.numpy as jnp
import numpy as np
import plain
import pytest
from small import HIDDEN, Line, Quad, untrained

from metalic.errors import FamilyError, GeometryError
from metalic.families import Poisson
from metalic.pinn import reader

ROUNDING = 1e-7  # of high-order differences, see helpers/plain.py


def own_function(solution, k):
    """Network k as a function of raw points, with derivatives by differences."""

    def call(points):
        z = (np.atleast_2d(points) - solution.centre[k]) * solution.slope[k]
        return plain.forward(solution.theta[k], z, HIDDEN, len(solution.family.components))

    return plain.Function(call, plain.STEP / solution.slope[k])


# --- Derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "axes"), [(("x",), (0,)), (("t",), (1,)), (("xx",), (0, 0)), (("x", "t"), (0, 1)), (("xxt",), (0, 0, 1))]
)
def test_derivatives_are_differences(names, axes):
    solution, points = untrained(Quad), np.array([[0.15, 0.3], [0.2, 0.7]])
    found = solution.d(*names)(points)
    assert found.shape == (2, 2)
    truth = own_function(solution, 0).d(*axes)(points)
    np.testing.assert_allclose(found, truth, rtol=ROUNDING, atol=ROUNDING * np.abs(truth).max())


def test_shapes_are_those_of_values():
    line, quad = untrained(Line), untrained(Quad)
    x = np.linspace(0, 1, 4)
    assert line.d("x")(x=0.3).shape == ()
    assert line.d("x")(x=x[:, None]).shape == (4, 1)
    assert line.d("x")(x=[]).shape == (0,)
    assert quad.d("x")(x=x, t=0.5).shape == quad(x=x, t=0.5).shape == (4, 2)
    np.testing.assert_array_equal(line.d("x")(x[:, None]), line.d("x")(x=x))


def test_more_points_than_are_evaluated_at_once(monkeypatch):
    solution, x = untrained(Line), np.linspace(0, 1, 150)
    whole = solution.d("x")(x=x)
    monkeypatch.setattr(reader, "MOST", 64)
    np.testing.assert_allclose(solution.d("x")(x=x), whole, rtol=1e-13)


@pytest.mark.parametrize("name", ["z", "", "xz", 3])
def test_a_derivative_is_made_of_coordinates(name):
    with pytest.raises(FamilyError, match="made of the coordinates x, t"):
        untrained(Quad).d(name)


def test_derivatives_are_inside_the_domain_only():
    with pytest.raises(GeometryError, match=r"1 point\(s\) lie outside the domain"):
        untrained(Line).d("x")(x=1.2)


# --- Fluxes and residuals --------------------------------------------------------------------------------------------


def test_flux_and_residual_are_those_of_the_family():
    solution, at = untrained(Quad, {"c": 1.5}), {"x": 0.7, "t": [0.2, 0.8]}  # in subdomain '3', where k = 0.5
    u, by_x, by_t = solution(**at), solution.d("x")(**at), solution.d("t")(**at)
    flux = solution.flux(**at)
    np.testing.assert_allclose(flux["t"], u, rtol=1e-12)
    np.testing.assert_allclose(flux["x"], np.stack([-0.5 * u[:, 1], -(1.5**2) * u[:, 0]], axis=-1), rtol=1e-12)
    truth = [by_t[:, 0] - 0.5 * by_x[:, 1], by_t[:, 1] - 1.5**2 * by_x[:, 0] + u[:, 0] * u[:, 1]]
    np.testing.assert_allclose(solution.residual(**at), np.stack(truth, axis=-1), rtol=1e-11)


def test_without_a_flux_there_is_none_to_read():
    class Plain(Line):
        flux = None

    for read in (lambda s: s.flux(x=0.5), lambda s: s.flow("x=0")):
        with pytest.raises(FamilyError, match="'plain' has no flux"):
            read(untrained(Plain))


# --- Laws ------------------------------------------------------------------------------------------------------------


def test_a_law_of_the_user():
    solution, x = untrained(Line, {"k": 2.0}), np.linspace(0, 1, 5)
    energy = solution.read(lambda u, p, k: 0.5 * u.x**2 + k * p.x * jnp.sin(u.value))
    truth = 0.5 * solution.d("x")(x=x[:2]) ** 2 + 2.0 * x[:2] * np.sin(solution(x=x[:2]))
    np.testing.assert_allclose(energy(x=x[:2]), truth, rtol=1e-12)
    both = solution.read(lambda u, p: (u, {"slope": u.x}))(x=x)
    np.testing.assert_allclose(both[0], solution(x=x), rtol=1e-12)
    np.testing.assert_allclose(both[1]["slope"], solution.d("x")(x=x), rtol=1e-12)
    np.testing.assert_array_equal(solution.read(lambda u, p: 7.0)(x=x), np.full(5, 7.0))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda u, p: np.sin(u), "write jnp.sin"),
        (lambda u, p: u.z, "not a derivative"),
        (lambda u, p: p.k, "a point has no 'k'"),
        (lambda u: u, "cannot be evaluated"),
        (lambda u, p: {}, "returned nothing"),
        ("u.x", "a law is a function"),
    ],
)
def test_a_law_that_cannot_be_evaluated_is_refused(law, message):
    with pytest.raises(FamilyError, match=message):
        untrained(Line).read(law)(x=0.5)


# --- Sides -----------------------------------------------------------------------------------------------------------


def test_on_an_interface_each_side_has_its_own_values():
    solution = untrained(Line)
    sides = [solution.side(name) for name in ("1", "2")]
    for k, side in enumerate(sides):
        assert side(x=0.5) == pytest.approx(own_function(solution, k)([[0.5]])[0, 0], rel=1e-12)
        assert side.d("x")(x=0.5) == pytest.approx(own_function(solution, k).d(0)(np.array([[0.5]]))[0, 0], rel=1e-7)
        assert side.flux(x=0.5)["x"] == side.d("x")(x=0.5)
    assert sides[0](x=0.5) != pytest.approx(sides[1](x=0.5), rel=1e-3)
    assert solution.d("x")(x=0.5) == pytest.approx(np.mean([side.d("x")(x=0.5) for side in sides]), rel=1e-12)


def test_a_side_has_a_name_and_an_end():
    solution = untrained(Line)
    with pytest.raises(GeometryError, match=r"no subdomain '3': those of 'line' are 1, 2"):
        solution.side("3")
    for read in (solution.side("1"), solution.side("1").d("x")):
        with pytest.raises(GeometryError, match=r"1 point\(s\) lie outside subdomain '1', the first at x=0.7"):
            read(x=[0.3, 0.7])


# --- Integrals -------------------------------------------------------------------------------------------------------


def test_integrals_are_sums_over_fine_grids():
    """The midpoint rule with n cells misses by |f''| / (24 n^2) at most."""
    solution = untrained(Poisson)
    middle = (np.arange(400) + 0.5) / 400
    lower = solution(x=middle[:, None], y=0.5 * middle)
    assert solution.integral(over="1") == pytest.approx(lower.mean() / 2, abs=1e-4)
    assert solution.integral() == pytest.approx(solution.integral(over="1") + solution.integral(over="2"), rel=1e-12)
    assert solution.integral(over="y=0") == pytest.approx(solution(x=middle, y=0.0).mean(), abs=1e-4)
    assert solution.integral(over="1|2") == pytest.approx(solution(x=middle, y=0.5).mean(), abs=1e-4)
    assert solution.side("2").integral(over="1|2") == pytest.approx(
        solution.side("2")(x=middle, y=0.5).mean(), abs=1e-4
    )
    assert solution.side("2").integral() == solution.integral(over="2")
    square = solution.integral(lambda u, p: u.y**2, over="x=1")
    assert square == pytest.approx((solution.d("y")(x=1.0, y=middle) ** 2).mean(), abs=1e-3)
    assert solution.integral(lambda u, p: 1.0, nodes=1) == pytest.approx(1.0, rel=1e-12)


def test_gauss_theorem():
    """In each subdomain, what flows out through its boundary is the integral of the divergence."""
    solution = untrained(Poisson)
    lower = solution.side("1")
    sides = sum(
        solution.integral(lambda u, p: u.x, over=f"x={end}", nodes=60) * sign for end, sign in ((1, 1), (0, -1))
    )
    assert np.isfinite(sides)
    out = lower.flow("1|2") + solution.flow("y=0")
    along_x = lower.integral(lambda u, p: u.xx)
    assert out == pytest.approx(lower.integral(lambda u, p: u.yy), rel=1e-9)
    assert lower.integral(lambda u, p: u.xx + u.yy) == pytest.approx(out + along_x, rel=1e-9)
    assert solution.flow("2|1") == pytest.approx(-solution.flow("1|2"), rel=1e-12)


def test_flows_of_a_system():
    solution, middle = untrained(Quad, {"c": 1.0}), (np.arange(2000) + 0.5) / 2000
    end = solution(x=middle, t=2.0).mean(axis=0)  # the flux along t is u
    np.testing.assert_allclose(solution.flow("t=2"), end, atol=1e-5)
    np.testing.assert_allclose(solution.integral(over="t=2"), end, atol=1e-5)
    with pytest.raises(GeometryError, match="not through '1'"):
        solution.flow("1")
