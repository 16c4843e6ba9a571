"""What a family declares, how it is found by name, and what is said when something is wrong."""

import jax.numpy as jnp
import numpy as np
import pytest

from metalic.errors import ConditionError, FamilyError, GeometryError, ParameterError
from metalic.families import (
    Advection,
    Dirichlet,
    Family,
    Neumann,
    Periodic,
    Poisson,
    find_family,
)
from metalic.geometry import Box, Points, split
from metalic.pinn.laws import System
from metalic.pinn.network import Network

UNIT = Box(x=(0, 1), t=(0, 1))


class Sound(Family):
    """A family that is right in every way; the wrong ones below differ from it by one thing."""

    parameters = {"c": (1.0, 2.0), "k": (-1.0, 1.0)}
    domain = UNIT
    decomposition = split(UNIT, t=[0.5])

    def residual(self, u, p, c, k):
        return u.tt - c**2 * u.xx + k * u

    def boundary(self):
        return [Dirichlet("x=0", "x=1", 0.0)]


# --- Parameters ------------------------------------------------------------------------------------------------------


def test_parameters_come_back_as_floats_in_order():
    checked = Sound().check_parameters({"k": "0.5", "c": np.float32(1.5)})
    assert list(checked.items()) == [("c", 1.5), ("k", 0.5)]
    assert all(type(value) is float for value in checked.values())


@pytest.mark.parametrize("edge", [{"c": 1.0, "k": -1}, {"c": 2.0, "k": 1}])
def test_a_box_is_closed(edge):
    assert Sound().check_parameters(edge) == edge


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"c": 1.5}, r"'k' is missing; .* c in \[1, 2\], k in \[-1, 1\]"),
        ({"c": 1.5, "k": 0, "q": 1}, r"no parameter 'q'; its parameters: c in \[1, 2\], k in \[-1, 1\]"),
        ({"c": "fast", "k": 0}, "c='fast' is not a number"),
        ({"c": None, "k": 0}, "c=None is not a number"),
        ({"c": [1, 2], "k": 0}, r"c=\[1, 2\] is not a number"),
        ({"c": 1j, "k": 0}, "c=1j is not a number"),
        ({"c": 10**400, "k": 0}, "c=1000.* is not a"),
        ({"c": float("nan"), "k": 0}, "c=nan is not a finite number"),
        ({"c": "inf", "k": 0}, "c=inf is not a finite number"),
        ({"c": 2.5, "k": 0}, r"c=2.5 is outside its box \[1, 2\]; extrapolate=True \(--extrapolate\) allows it"),
    ],
)
def test_wrong_parameters_are_reported(given, message):
    with pytest.raises(ParameterError, match=message):
        Sound().check_parameters(given)


def test_extrapolation_is_allowed_on_request_but_not_to_infinity():
    assert Sound().check_parameters({"c": 2.5, "k": 0}, extrapolate=True) == {"c": 2.5, "k": 0}
    with pytest.raises(ParameterError, match="not a finite number"):
        Sound().check_parameters({"c": float("inf"), "k": 0}, extrapolate=True)


# --- Families that are wrong -----------------------------------------------------------------------------------------


def made(**changes):
    """Sound with attributes changed; REMOVED takes one away."""
    body = {k: v for k, v in vars(Sound).items() if not k.startswith("__")} | changes | {"name": "mine"}
    return type("Mine", (Family,), {k: v for k, v in body.items() if v is not REMOVED})


REMOVED = object()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"domain": REMOVED}, FamilyError, "'mine' has no 'domain'"),
        ({"decomposition": REMOVED}, FamilyError, "'mine' has no 'decomposition'"),
        ({"residual": REMOVED}, FamilyError, "'mine' has no method 'residual'"),
        ({"boundary": REMOVED}, FamilyError, "'mine' has no method 'boundary'"),
        ({"decomposition": Poisson.decomposition}, FamilyError, r"decomposition is of Box\(x=.*, y=.* not of"),
        ({"coefficients": {"kappa": {"1": 1.0}}}, FamilyError, "'kappa' has no value for subdomain '2'"),
        ({"parameters": {"c": (2.0, 1.0)}}, FamilyError, r"'c' needs a box \(low, high\), not \(2.0, 1.0\)"),
        ({"parameters": {"c": (0.0, float("inf"))}}, FamilyError, "'c' needs a box"),
        ({"parameters": {"c": (0.0, 1.0, 2.0)}}, FamilyError, "'c' needs a box"),
        ({"boundary": lambda self: [Dirichlet("y=0", 0.0)]}, GeometryError, "'y=0': allowed are x=min"),
        ({"boundary": lambda self: [Neumann("x=0.5", 0.0)]}, GeometryError, "'x=0.5'.* from 0 to 1"),
        ({"boundary": lambda self: [Periodic("y")]}, FamilyError, r"Periodic\('y'\) names no coordinate"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_reported(changes, error, message):
    with pytest.raises(error, match=message):
        find_family(made(**changes))


@pytest.mark.parametrize(
    ("residual", "message"),
    [
        (lambda self, u, p, c, k: None, "residual: a law returned nothing"),
        (lambda self, u, p, c, k: u.xz, r"residual: 'u\.xz' is not a derivative.* x, t"),
        (lambda self, u, p, c, k: u.x * p.y, "residual: a point has no 'y': it has x, t"),
        (lambda self, u, p, c: u.x, "residual cannot be evaluated .*unexpected keyword argument 'k'"),
        (lambda self, u, p, c, k: np.ones(3) * u.x, r"residual: .*array of shape \(3,\)"),
        (lambda self, u, p, c, k: (u.x, np.ones((1, 2)) * u.t), r"residual: .*array of shape \(1, 2\)"),
        (lambda self, u, p, c, k: u.x if u.value > 0 else 0.0, "residual asks 'if' .* use jnp.where"),
        (lambda self, u, p, c, k: "zero", "residual cannot be evaluated"),
        (lambda self, u, p, c, k: jnp.sin(u), r"residual.* write u\.value, as in jnp\.sin\(u\.value\)"),
        (lambda self, u, p, c, k: {}["missing"], "residual cannot be evaluated .*KeyError"),
    ],
)
def test_a_wrong_residual_is_reported_with_the_name_of_its_family(residual, message):
    system = System(made(residual=residual)(), Network(2, 1, (3,)))
    with pytest.raises(FamilyError, match=f"family 'mine': {message}"):
        _ = system.residual


def test_a_residual_of_the_wrong_shape_is_reported_for_systems_too():
    family = made(components=("h", "v"), residual=lambda self, u, p, c, k: (u.h.x * np.ones(3), u.v.t))
    with pytest.raises(FamilyError, match=r"family 'mine': residual: .*array of shape \(3,\)"):
        _ = System(family(), Network(2, 2, (3,))).residual


def test_wrong_boundary_values_are_reported():
    family = made(boundary=lambda self: [Dirichlet("x=0", lambda p: p.y)])
    with pytest.raises(FamilyError, match="boundary condition 1: a point has no 'y'"):
        _ = System(family(), Network(2, 1, (3,))).boundary
    family = made(components=("h", "v"))
    with pytest.raises(FamilyError, match=r"boundary condition 1: .*several components"):
        _ = System(family(), Network(2, 2, (3,))).boundary


def test_a_condition_that_does_not_exist_is_reported():
    with pytest.raises(ConditionError, match="'mine' lists condition 'c', but has only u, uavg, r, rc, gr, x, t, xx"):
        System(made(conditions=("u", "c"))(), Network(2, 1, (3,)))


# --- Odds and ends ---------------------------------------------------------------------------------------------------


def test_equal_families_share_programs():
    assert Sound() == Sound()
    assert hash(Sound()) == hash(Sound())
    assert Sound() != Poisson()
    assert Advection() != Advection(final_data=True)
    assert Advection(final_data=True) == Advection(final_data=True)


def test_the_error_grid_is_uniform_and_reaches_the_faces():
    points = Poisson().error_points()
    assert points.shape == (101 * 101, 2)
    np.testing.assert_array_equal(points[[0, 1, 101, -1]], [[0, 0], [0, 0.01], [0.01, 0], [1, 1]])
    points = Sound().error_points()  # about ten thousand where the family does not say
    assert points.shape == (10_000, 2)


def test_coefficients_are_a_row_per_subdomain():
    table = {"kappa": {"1": 1.0, "2": 5.0}, "rho": {"2": 7.0, "1": 3.0}}
    np.testing.assert_array_equal(made(coefficients=table)().coefficient_table(), [[1, 3], [5, 7]])
    assert Sound().coefficient_table().shape == (2, 0)
    with pytest.raises(FamilyError, match="cannot be undivided"):
        made(coefficients=table)().undivided()


def test_undivided_keeps_everything_but_the_cut():
    whole = Advection(final_data=True).undivided()
    assert len(whole.decomposition) == 1
    assert whole.final_data
    assert whole.points == Points(2000, 200, 101)  # the union of the points
    assert len(Advection().decomposition) == 2
    assert whole != Advection(final_data=True)
    assert whole == Advection(final_data=True).undivided()
