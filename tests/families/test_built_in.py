"""The built-in families: parameters, cuts, and references that satisfy the data."""

import jax.numpy as jnp
import numpy as np
import pytest

from metalic.families import (
    BUILT_IN,
    Advection,
    Burgers,
    KdV,
    Periodic,
    find_family,
)
from metalic.geometry import split
from metalic.pinn.laws import Place, System
from metalic.pinn.network import Network


@pytest.mark.parametrize(
    ("name", "parameters", "coordinates", "cut"),
    [
        ("poisson", {"s": (0, 50)}, {"x": (0, 1), "y": (0, 1)}, ("y", 0.5)),
        ("poisson-unit", {}, {"x": (0, 1), "y": (0, 1)}, ("y", 0.5)),
        ("advection", {"beta": (1, 30)}, {"x": (0, 2 * np.pi), "t": (0, 1)}, ("t", 0.5)),
        ("reaction", {"rho": (1, 15)}, {"x": (0, 2 * np.pi), "t": (0, 1)}, ("t", 0.5)),
        ("heat", dict.fromkeys("abcd", (-2, 2)), {"x": (-1, 1), "t": (0, 1)}, ("t", 0.5)),
        ("kdv", {"nu": (1, 10)}, {"x": (0, 20), "t": (0, 20)}, ("t", 10)),
    ],
)
def test_the_protocol_of_a_built_in_family(name, parameters, coordinates, cut):
    family = find_family(name)
    assert family.name == name
    assert dict(family.parameters) == parameters
    assert family.domain.sides == coordinates
    assert family.decomposition == split(family.domain, **{cut[0]: [cut[1]]})


def test_there_are_seven():
    assert set(BUILT_IN) == {"poisson", "advection", "reaction", "burgers", "heat", "kdv", "poisson-unit"}
    assert dict(Burgers.parameters) == {"nu": (0.001, 0.05)}
    assert Burgers.domain.sides == {"x": (-1, 1), "t": (0, 1)}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_reference_satisfies_the_data(name):
    """At points of the faces that carry Dirichlet data, the reference is that data."""
    family = find_family(name)
    values = {n: 0.3 * low + 0.7 * high for n, (low, high) in family.parameters.items()}
    reference = family.reference(**values)
    rng = np.random.default_rng(0)
    for condition in family.boundary():
        if isinstance(condition, Periodic):
            continue
        for face in condition.faces:
            coordinate, end = family.domain.face(face).split("=")
            points = rng.uniform(family.domain.low, family.domain.high, (5, 2))
            axis = family.coordinates.index(coordinate)
            points[:, axis] = (family.domain.low if end == "min" else family.domain.high)[axis]
            for point, value in zip(points, reference(points), strict=True):
                unknown = family.unknown(lambda channel, value=value: value)
                residual = condition.law(unknown, family.point(point), {}, values)
                assert abs(float(residual)) < 1e-6  # float32 outside a solve


def test_kdv_is_periodic_in_its_value_and_two_derivatives():
    assert Periodic("x", order=3) in KdV().boundary()


pytestmark = pytest.mark.usefixtures("double")


def test_final_data_is_an_option():
    assert [c.faces for c in Advection().boundary()] == [("t=0", "x=min", "x=max")]
    assert [c.faces for c in Advection(final_data=True).boundary()] == [("t=0", "x=min", "x=max", "t=1")]
    assert Advection() != Advection(final_data=True)


@pytest.mark.parametrize("nu", [0.001, 0.0173])
def test_burgers_final_data_is_its_reference(nu):
    plain, given = Burgers(), Burgers(final_data=True)
    assert plain != given
    assert vars(plain) == {}, "ledgers of Burgers have no options"
    assert [c.faces for c in plain.boundary()] == [("t=0", "x=-1", "x=1")]
    _, final = System(given, Network(2, 1, (3,))).boundary
    for x in (-0.6, 0.003, 0.9):
        place = Place(np.array([x, 1.0]), np.zeros(0), np.array([0.0, 1.0]), {"nu": nu})
        (missing,) = final.rows(final.channels, jnp.array([0.25]), jnp.array([0.25]), place, place)
        (truth,) = given.reference(nu)(np.array([[x, 1.0]]))
        assert missing == pytest.approx(0.25 - truth, abs=1e-12)
