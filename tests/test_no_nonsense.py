"""What used to go wrong without a word is refused, or warned of, with what to write instead."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from small import HIDDEN, POINTS, Line, untrained

import metalic as mt
from metalic.conditions import open_faces
from metalic.pinn.laws import System
from metalic.pinn.network import Network


class Plate(mt.Family):
    domain = mt.Box(x=(0, 1), y=(0, 1))
    decomposition = mt.split(domain, y=[0.5])

    def residual(self, u, p):
        return u.laplacian("x", "y") - 1.0

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", "y=0", "y=1", 0.0)]


# --- Fluxes ----------------------------------------------------------------------------------------------------------


class HalfFlux(Plate):
    def flux(self, u, p):
        return {"x": u.x}


def test_a_flux_without_the_direction_of_a_cut_is_refused():
    with pytest.raises(mt.MetalicError, match=r"'halfflux': the domain is cut across y, but the flux has no 'y'"):
        mt.find_family(HalfFlux)
    mt.find_family(HalfFlux().undivided())  # without a cut nothing is missing


# --- Files -----------------------------------------------------------------------------------------------------------


class Shifted(Line):
    name = "line"
    decomposition = mt.split(Line.domain, x=[0.4])


def test_a_solution_on_other_subdomains_is_refused(tmp_path):
    path = untrained(Line).save(tmp_path / "a.npz")
    assert mt.Solution.load(path, Line).hidden == HIDDEN
    with pytest.raises(mt.MetalicError, match="other subdomains"):
        mt.Solution.load(path, Shifted)


# --- Data ------------------------------------------------------------------------------------------------------------


class NoData(Plate):
    def boundary(self):
        return []


class SidesOnly(Plate):
    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0)]


def test_faces_of_which_nothing_is_known_are_named():
    assert open_faces(NoData()) == ["x=min", "x=max", "y=min", "y=max"]
    assert open_faces(SidesOnly()) == ["y=min", "y=max"]


@pytest.mark.parametrize("name", ["poisson", "advection", "reaction", "burgers", "heat", "kdv"])
def test_no_false_alarm(name):
    """The end of time is open in most of them, and KdV is periodic."""
    assert open_faces(mt.find_family(name)) == []


class Loose(Line):
    def boundary(self):
        return []


def test_a_solve_without_data_warns():
    schedule = [mt.Phase(mt.GaussNewton(), 1)]
    with pytest.warns(mt.MetalicWarning, match="'loose' has no boundary condition on x=min, x=max"):
        mt.solve(Loose, "u,c", schedule, k=2.0, hidden=HIDDEN, points=POINTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", mt.MetalicWarning)
        mt.solve(Line, "u,c", schedule, k=2.0, hidden=HIDDEN, points=POINTS)


# --- Attributes ------------------------------------------------------------------------------------------------------


class Own(Plate):
    def __init__(self, thing):
        self.thing = thing


@pytest.mark.parametrize("thing", [jnp.ones(3), {1, 2}, [jnp.ones(2)]])
def test_attributes_that_cannot_be_compared_are_refused(thing):
    with pytest.raises(mt.MetalicError, match=r"attribute 'thing' cannot be a .*np.asarray"):
        mt.find_family(Own(thing))
    with pytest.raises(mt.MetalicError, match="attribute 'thing'"):
        mt.solve(Own(thing))


@pytest.mark.parametrize("thing", [np.ones(3), (1, 2), frozenset({1}), "text", [1, [2]], {"a": 1}])
def test_plain_attributes_are_welcome(thing):
    assert mt.find_family(Own(thing)) == Own(thing)


class Varying(Plate):
    coefficients = {"k": {"1": 1.0, "2": lambda p: p.x}}


def test_a_function_as_a_coefficient_is_refused():
    with pytest.raises(mt.MetalicError, match=r"coefficient 'k' is a number for each subdomain.*function of p"):
        mt.find_family(Varying)


# --- Laws ------------------------------------------------------------------------------------------------------------


class Disc(mt.Family):
    """u'' + u' / r = 1 on a ring; `r` is also the name of a condition, the residual."""

    domain = mt.Box(r=(1, 2))
    decomposition = mt.split(domain, r=[1.5])

    def residual(self, u, p):
        return u.rr + u.r / p.r - 1.0

    def boundary(self):
        return [mt.Dirichlet("r=1", "r=2", 0.0)]

    def reference(self):
        b = -3 / (4 * np.log(2))
        return lambda points: (points[:, 0] ** 2 - 1) / 4 + b * np.log(points[:, 0])


def test_a_coordinate_may_be_called_r():
    settings = {"hidden": HIDDEN, "points": POINTS, "check": False}
    solution = mt.solve(Disc, "u,d_r", [mt.Phase(mt.GaussNewton(), 60)], **settings)
    assert solution.error < 1e-3
    assert solution.d("r")(r=1.5) == pytest.approx(1.5 / 2 - 3 / (4 * np.log(2)) / 1.5, abs=1e-2)
    assert "r" in mt.Catalogue(Disc()).names


def family_with(law):
    return type("Odd", (Plate,), {"residual": lambda self, u, p: law(u)})()


@pytest.mark.parametrize(
    ("law", "instead"),
    [
        (lambda u: u.xx + (u > 0), r"jnp.where\(u.value > 0"),
        (lambda u: u.xx + (u <= 1), r"jnp.where\(u.value > 0"),
        (lambda u: u.xx + np.sin(u), r"write jnp.sin\(u.value\)"),
        (lambda u: u.xx + np.exp(u.x), r"use jax.numpy, as in jnp.sin"),
    ],
)
def test_the_message_says_what_to_write(law, instead):
    with pytest.raises(mt.MetalicError, match=instead):
        System(family_with(law), Network(2, 1, (3,))).residual  # noqa: B018


def test_powers_and_numbers_of_numpy_work():
    system = System(family_with(lambda u: 2**u + np.float64(3) * u + np.float64(1) - u.xx), Network(2, 1, (3,)))
    values = jnp.array([2.0, 5.0])  # u and u_xx
    found = system.residual.rows(system.residual.channels, values, values, system._example, system._example)
    assert float(found[0]) == pytest.approx(4 + 6 + 1 - 5)
