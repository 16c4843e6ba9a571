"""The catalogue of each family, and sets in every notation."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalic.conditions import Catalogue, Condition, default_conditions
from metalic.errors import ConditionError
from metalic.families import Dirichlet, Family, Poisson, find_family
from metalic.geometry import Box, split

TIME = ("u", "uavg", "r", "rc", "gr", "t", "x", "xx", "tt")
NINE = {
    "poisson": ("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "yy"),
    "poisson-unit": ("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "yy"),
    "advection": TIME,
    "reaction": TIME,
    "heat": TIME,
    "kdv": TIME,
    "burgers": ("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "tt"),
}
POISSON = Catalogue(Poisson())


# --- The catalogue ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(NINE))
def test_nine_conditions_in_their_fixed_order(family):
    catalogue = Catalogue(find_family(family))
    assert catalogue.names == NINE[family]
    assert len(catalogue) == 9
    assert all(condition.description and condition.formula for condition in catalogue.conditions)


def test_a_family_may_be_given_by_its_name_or_its_class():
    assert Catalogue("poisson").names == Catalogue(Poisson).names == POISSON.names


class Plain(Family):
    """Three coordinates, no flux, nothing declared."""

    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))
    decomposition = split(domain, t=[0.5])

    def residual(self, u, p):
        return u.t - u.xx - u.yy

    def boundary(self):
        return [Dirichlet("t=0", 0.0)]


def test_the_rule_follows_coordinates_and_flux():
    assert Catalogue(Plain()).names == ("u", "uavg", "r", "rc", "gr", "x", "y", "t", "xx", "yy", "tt")
    fluid = type("Fluid", (Plain,), {"flux": lambda self, u, p: {"t": u.value}})
    assert Catalogue(fluid()).names == ("u", "uavg", "r", "rc", "gr", "c", "x", "y", "t", "xx", "yy", "tt")


def test_default_conditions():
    assert default_conditions(Plain()).names == ("u", "t")  # no flux: the derivative across the cut
    assert default_conditions(Poisson()).names == ("u", "c")
    assert default_conditions(find_family("poisson-unit")).names == ("uavg", "c", "yy")  # the paper's best
    assert default_conditions(find_family("burgers")).names == ("u", "c", "x")
    for family in ("advection", "reaction", "heat", "kdv"):
        assert default_conditions(find_family(family)).names == ("u",)


def test_a_coordinate_may_have_the_name_of_a_condition():
    """With coordinates (r, z) the name 'r' means the residual; the derivative along r is 'd_r'."""
    domain = Box(r=(1, 2), z=(0, 1))
    body = {"domain": domain, "decomposition": split(domain, z=[0.5]), "residual": lambda self, u, p: u.rr + u.zz}
    body["boundary"] = lambda self: [Dirichlet("r=1", 0.0)]
    names = Catalogue(type("Polar", (Plain,), body)()).names
    assert names == ("u", "uavg", "r", "rc", "gr", "d_r", "z", "d_rr", "zz")


class Jump(Condition):
    """An own condition: a prescribed jump, seen differently from the two sides."""

    name, description, formula = "jump", "prescribed jump", "u - u' - n_y"

    def law(self, a, b, n):
        return a.u - b.u.value - n[1]


def test_own_conditions_come_last():
    own = type("Own", (Poisson,), {"own_conditions": (Jump(),)})
    assert Catalogue(own()).names == (*NINE["poisson"], "jump")
    assert Catalogue(own()).parse("jump").index == 512


@pytest.mark.parametrize("name", ["u", ""])
def test_own_conditions_need_names_of_their_own(name):
    clash = type("Clash", (Jump,), {"name": name})
    own = type("Own", (Poisson,), {"own_conditions": (clash(),)})
    with pytest.raises(ConditionError, match="distinct names"):
        Catalogue(own())


# --- Sets ------------------------------------------------------------------------------------------------------------


def test_all_512_sets_translate_both_ways():
    seen = set()
    for bits in itertools.product([0, 1], repeat=9):
        index = sum(2**i * bit for i, bit in enumerate(bits))
        names = tuple(name for name, bit in zip(NINE["poisson"], bits, strict=True) if bit)
        for notation in (index, str(index), np.int64(index), names, list(names), ",".join(names), bits, np.array(bits)):
            assert POISSON.parse(notation).names == names
        assert POISSON.parse(names).index == index
        assert POISSON.parse(index).bits == bits
        seen.add(names)
    assert len(seen) == 512


@given(st.permutations(NINE["poisson"]), st.integers(0, 9))
def test_the_order_in_which_names_are_given_does_not_matter(names, count):
    chosen = set(names[:count])
    expected = tuple(name for name in NINE["poisson"] if name in chosen)
    assert POISSON.parse(names[:count]).names == expected
    assert POISSON.parse(" , ".join(names[:count])).names == expected
    assert POISSON.parse(chosen).names == expected


def test_words_for_all_and_none():
    assert POISSON.parse("all").names == NINE["poisson"]
    for nothing in ("none", "", " ", [], (), 0, "0", [0] * 9, np.zeros(9)):
        assert POISSON.parse(nothing).names == ()
    assert POISSON.parse([True] * 9).names == NINE["poisson"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("uavgg", "no condition 'uavgg' for family 'poisson': allowed are u, uavg, .*yy. Did you mean 'uavg'"),
        ("u,zz", "no condition 'zz'"),
        (["u", "yyy"], "no condition 'yyy'.* Did you mean 'yy'"),
        (["u", 1], "no condition '1'"),
        (512, r"index 512 is outside 0\.\.511"),
        ("512", r"index 512 is outside 0\.\.511"),
        (-1, r"index -1 is outside 0\.\.511"),
        ([1, 0], "0/1 vector of conditions has 9 entries"),
        ([2] * 9, "0/1 vector"),
        ([0.5] * 9, "0/1 vector"),
        (1.5, "1.5"),
        (None, "None"),
        (True, "True"),
        (np.zeros((2, 9)), "0/1 vector"),
    ],
)
def test_what_is_not_a_set_is_reported(given, message):
    with pytest.raises(ConditionError, match=message):
        POISSON.parse(given)
