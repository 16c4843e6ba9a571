"""The built-in families: parameters, cuts, and references that satisfy the data."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_bvp, solve_ivp

from metalic.families import (
    BUILT_IN,
    Advection,
    Burgers,
    KdV,
    Materials,
    Neumann,
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
        ("layer", {"pe": (10, 500)}, {"x": (0, 1)}, ("x", 0.5)),
        ("oscillator", {"k": (5, 60)}, {"x": (0, 1)}, ("x", 0.5)),
    ],
)
def test_the_protocol_of_a_built_in_family(name, parameters, coordinates, cut):
    family = find_family(name)
    assert family.name == name
    assert dict(family.parameters) == parameters
    assert family.domain.sides == coordinates
    assert family.decomposition == split(family.domain, **{cut[0]: [cut[1]]})


def test_all_of_them():
    first = {"poisson", "advection", "reaction", "burgers", "heat", "kdv", "poisson-unit"}
    assert set(BUILT_IN) == first | {"layer", "turning", "oscillator", "materials"}
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
        if isinstance(condition, Periodic | Neumann) or family.coefficients:
            continue
        for face in condition.faces:
            coordinate, end = family.domain.face(face).split("=")
            points = rng.uniform(family.domain.low, family.domain.high, (5, len(family.coordinates)))
            axis = family.coordinates.index(coordinate)
            points[:, axis] = (family.domain.low if end == "min" else family.domain.high)[axis]
            for point, value in zip(points, reference(points), strict=True):
                unknown = family.unknown(lambda channel, value=value: value)
                residual = condition.law(unknown, family.point(point), {}, values)
                assert abs(float(residual)) < 1e-6  # float32 outside a solve


@pytest.mark.parametrize("eps", [0.004, 0.1])
@pytest.mark.parametrize(
    ("name", "low", "data", "second"),
    [
        ("layer", 0.0, (0.0, 0.0), lambda x, slope, eps: (slope - 1) / eps),
        (
            "turning",
            -1.0,
            (-2.0, 0.0),
            lambda x, slope, eps: -x * slope / eps - np.pi**2 * np.cos(np.pi * x) - np.pi * x * np.sin(np.pi * x) / eps,
        ),
    ],
)
def test_layers_agree_with_collocation(name, low, data, second, eps):
    """SciPy's solver of boundary value problems knows nothing of the formulas."""
    mesh = np.linspace(low, 1, 2001)
    found = solve_bvp(
        lambda x, y: np.stack([y[1], second(x, y[1], eps)]),
        lambda a, b: np.array([a[0] - data[0], b[0] - data[1]]),
        mesh,
        np.zeros((2, len(mesh))),
        tol=1e-8,
        max_nodes=100_000,
    )
    assert found.success
    x = np.linspace(low, 1, 777)
    family = find_family(name)
    exact = family.reference(**{parameter: 1 / eps if parameter == "pe" else eps for parameter in family.parameters})
    np.testing.assert_allclose(exact(x[:, None]), found.sol(x)[0], atol=1e-6)


def test_the_oscillator_agrees_with_a_time_integrator():
    found = solve_ivp(lambda x, y: [y[1], -(17.0**2) * y[0]], (0, 1), [0, 17.0], rtol=1e-10, atol=1e-12, max_step=0.01)
    exact = find_family("oscillator").reference(k=17.0)(found.t[:, None])
    np.testing.assert_allclose(exact, found.y[0], atol=1e-7)


def test_two_materials_have_one_flux():
    """By differences of fourth order: no source on either side, equal values and fluxes at the cut, and the data."""
    family, q, h, y = Materials(), 7.0, 1e-3, np.linspace(0.1, 0.9, 5)
    exact = family.reference(q=q)

    def u(x, y):
        return exact(np.stack(np.broadcast_arrays(x, y), axis=-1))

    for x in (0.2, 0.9):
        five = -4 * u(x, y) + u(x + h, y) + u(x - h, y) + u(x, y + h) + u(x, y - h)
        np.testing.assert_allclose(five / h**2, 0, atol=1e-3)
    steps = h * np.arange(1, 6)[:, None]
    left, right = (np.array([u(0.5 + sign * step, y) for step in steps[:, 0]]) for sign in (-1, 1))
    powers = np.vander(np.arange(1, 6), increasing=True).T
    values, slopes = np.linalg.solve(powers, [1, 0, 0, 0, 0]), np.linalg.solve(powers, [0, 1, 0, 0, 0]) / h
    np.testing.assert_allclose(values @ left, values @ right, atol=1e-9)
    np.testing.assert_allclose(-slopes @ left, q * (slopes @ right), rtol=1e-6)
    (data,) = family.boundary()
    for x, second in ((0.0, 0.0), (1.0, 1.0)):
        point = family.point([x, 0.3], [second])
        value = float(u(x, np.array([0.3]))[0])
        assert data.law(family.unknown(lambda _, value=value: value), point, {}, {"q": q}) == pytest.approx(
            0, abs=1e-12
        )


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
