"""The complete set: what the equation itself asks for across each cut."""

import pytest

import metalic as mt
from metalic.conditions import complete_set
from metalic.families import find_family


def names(family):
    return [condition.name for condition in complete_set(find_family(family))]


@pytest.mark.parametrize(
    ("family", "complete"),
    [
        ("poisson", ["u", "c"]),  # second order across the cut: u and the flux u_y
        ("burgers", ["u", "c"]),
        ("heat", ["u"]),  # cut in time, where the equation is of first order
        ("reaction", ["u"]),
        ("kdv", ["u"]),
    ],
)
def test_of_families(family, complete):
    assert names(family) == complete


class Bar(mt.Family):
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])

    def residual(self, u, p):
        return u.xx - 1.0

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0)]


def test_without_a_flux_it_is_the_derivative():
    assert names(Bar) == ["u", "x"]


class Traffic(Bar):
    """u_t + (k u)_x = 0, and k jumps: what is conserved is the flux, and u jumps."""

    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    coefficients = {"k": {"1": 1.0, "2": 2.0}}

    def residual(self, u, p):
        return u.t + p.k * u.x

    def flux(self, u, p):
        return {"x": p.k * u, "t": u}


def test_what_is_conserved_may_jump_with_its_coefficient():
    assert names(Traffic) == ["c"]


class Beam(mt.Family):
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])

    def residual(self, u, p):
        return u.xxxx - 1.0

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0), mt.Neumann("x=0", "x=1", 0.0)]


class Hinge(Beam):
    complete_conditions = ("u", "xx")


class BadHinge(Beam):
    complete_conditions = ("u", "bend")


def test_a_fourth_order_equation_needs_four():
    assert names(Beam) == ["u", "x", "xx", "xxx"]


def test_a_family_has_the_last_word():
    assert names(Hinge) == ["u", "xx"]
    with pytest.raises(mt.MetalicError, match="names 'bend'"):
        names(BadHinge)


def test_an_undivided_family_needs_none():
    assert names(find_family("poisson").undivided()) == []


class Disc(mt.Family):
    """A coordinate with the name of a condition."""

    domain = mt.Box(r=(1, 2))
    decomposition = mt.split(domain, r=[1.5])

    def residual(self, u, p):
        return u.rr + u.r / p.r

    def boundary(self):
        return [mt.Dirichlet("r=1", 0.0), mt.Dirichlet("r=2", 1.0)]


def test_a_coordinate_may_have_the_name_of_a_condition():
    catalogue = mt.Catalogue(find_family(Disc))
    assert catalogue.names == ("u", "uavg", "r", "rc", "gr", "d_r", "d_rr")
    assert names(Disc) == ["u", "d_r"]
