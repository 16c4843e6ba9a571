"""One side of an interface: which derivatives laws look up there, and its flux."""

import numpy as np
import pytest
from small import Room

from metalic.conditions import Catalogue, Side, touched
from metalic.errors import ConditionError
from metalic.families import find_family


def test_laws_touch_only_what_they_need():
    family = find_family("kdv")

    def channels(name):
        condition = next(c for c in Catalogue(family).conditions if c.name == name)

        def run(look):
            one = Side(family, look, (0.5, 0.5), (), {"nu": 2.0})
            return condition.law(one, one, np.array([0.0, 1.0]))

        return {derivative.orders for _, derivative in touched(run)}

    assert channels("u") == {(0, 0)}
    assert channels("xx") == {(2, 0)}
    assert channels("t") == {(0, 1)}
    assert channels("r") == {(0, 0), (1, 0), (0, 1), (3, 0)}
    assert channels("gr") == {(0, 0), (1, 0), (0, 1), (3, 0), (2, 0), (1, 1), (4, 0), (0, 2), (3, 1)}


def test_a_flux_is_asked_for_only_where_there_is_one():
    one = Side(Room(), lambda channel: 0.0, (0, 0, 0), (), {})
    with pytest.raises(ConditionError, match="'room' has no flux"):
        one.flux()
