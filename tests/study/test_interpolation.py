"""Where members lie in their box, and what is interpolated: by hand."""

import numpy as np
import pytest
from untrained import solution

import metalic as mt
from metalic.study.interpolation import at_unit, coefficients, halfway, in_logarithms, neighbours, place_of
from metalic.study.members import Member, row_of
from metalic.study.networks import Networks

BURGERS, ADVECTION = ({name: mt.find_family(name).parameters for name in ("burgers", "advection")}).values()


def test_wide_boxes_are_measured_in_logarithms():
    assert in_logarithms(0.001, 0.05)
    assert not in_logarithms(1.0, 30.0)
    assert not in_logarithms(0.0, 50.0)
    assert place_of(BURGERS, {"nu": np.sqrt(0.001 * 0.05)}) == pytest.approx(0.5)
    assert place_of(ADVECTION, {"beta": 15.5}) == pytest.approx(0.5)


@pytest.mark.parametrize("boxes", [BURGERS, ADVECTION])
def test_places_and_parameters_are_inverse(boxes):
    ((name, box),) = boxes.items()
    for unit in (0.0, 0.3, 1.0):
        assert place_of(boxes, {name: at_unit(unit, box)}) == pytest.approx(unit)


def test_halfway_is_halfway_in_the_box():
    for boxes in (BURGERS, ADVECTION):
        ((name, box),) = boxes.items()
        a, b = ({name: at_unit(unit, box)} for unit in (0.2, 0.6))
        assert place_of(boxes, halfway(boxes, a, b)) == pytest.approx(0.4)


def test_coefficients_by_hand() -> None:
    np.testing.assert_allclose(coefficients(np.array([[-1.0], [3.0]])), [0.75, 0.25])
    triangle = np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 2.0]])
    np.testing.assert_allclose(coefficients(triangle), [1 / 3, 1 / 3, 1 / 3])
    assert coefficients(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])) is not None  # on a line through the point
    assert coefficients(np.array([[1.0, 0.0], [2.0, 1.0]])) is None
    assert coefficients(np.array([[1.0], [1.1]])) is None  # 11 times the step between them


def test_neighbours_on_a_line_are_one_on_either_side():
    group = []
    for away in (0.1, 0.2, -0.4, -0.5):
        one = solution(a=1 + away)
        group.append((Member(row_of(one, 1), Networks.of(one)), np.array([away])))
    assert [away for _, away in neighbours(group)] == [0.1, -0.4]
    assert [away for _, away in neighbours(group[:2])] == [0.1, 0.2]  # beyond the end of the line
