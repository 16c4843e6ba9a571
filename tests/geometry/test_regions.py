"""Unions of boxes: measures and boundaries known in closed form, and against points thrown at random."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalic.errors import GeometryError
from metalic.families import BUILT_IN, find_family
from metalic.geometry import Box, Decomposition, Union, split

L_SHAPE = Union(Box(x=(0, 2), y=(0, 1)), Box(x=(0, 1), y=(1, 2)))
CELLS = [(i, j, k) for i in range(3) for j in range(2) for k in range(2)]


@st.composite
def unions(draw):
    """Cells of a grid of 3 x 2 x 2, some of them joined along x, so that faces of unequal size meet."""
    chosen = sorted(draw(st.sets(st.sampled_from(CELLS), min_size=1)))
    boxes = []
    for i, j, k in chosen:
        sides = {"x": (i, i + 1), "y": (j, j + 1), "t": (2 * k, 2 * k + 2)}
        if boxes and boxes[-1].sides["x"][1] == i and {**boxes[-1].sides, "x": 0} == {**sides, "x": 0}:
            boxes[-1] = boxes[-1].replaced(x=(boxes[-1].sides["x"][0], i + 1))
        else:
            boxes.append(Box(**sides))
    return Union(*boxes), set(chosen)


@settings(max_examples=60, deadline=None)
@given(unions())
def test_the_boundary_of_a_union_is_what_its_cells_do_not_share(case):
    """Area by face direction, counted cell by cell; every patch has the region behind it and nothing ahead."""
    region, cells = case
    assert region.measure == 2 * len(cells)
    faces = {(cell, axis, sign) for cell in cells for axis in range(3) for sign in (-1, 1)}
    free = [one for one in faces if tuple(np.add(one[0], one[2] * np.eye(3, dtype=int)[one[1]])) not in cells]
    found = np.zeros((3, 2))
    for patch in region.boundary():
        size = np.delete(np.subtract(patch.high, patch.low), patch.axis)
        found[patch.axis, patch.sign > 0] += np.prod(size)
        middle = (np.array(patch.low) + patch.high) / 2
        ahead = middle + 1e-3 * patch.normals(1)
        assert not region.contains(ahead)[0]
        assert region.contains(2 * middle - ahead)[0]
    area = {0: 2, 1: 2, 2: 1}  # of the faces of a cell of 1 x 1 x 2
    expected = [[area[a] * sum(one[1:] == (a, s) for one in free) for s in (-1, 1)] for a in range(3)]
    np.testing.assert_allclose(found, expected)


@settings(max_examples=30, deadline=None)
@given(unions(), st.sampled_from([0.5, 1.0, 1.7]))
def test_parts_of_a_union_have_its_boundary_and_the_cut(case, at):
    region, _ = case
    low, high = region.sides["y"]
    cells = split(region, y=[low + at]) if low + at < high else split(region)
    assert sum(part.measure for part in cells.subdomains.values()) == pytest.approx(region.measure)
    surface = sum(patch.measure for patch in region.boundary())
    assert sum(patch.measure for part in cells.boundaries for patch in part) == pytest.approx(surface)
    assert {patch.name for part in cells.boundaries for patch in part} == {p.name for p in region.boundary()}


def test_an_l_shape():
    assert L_SHAPE.measure == 3
    assert (L_SHAPE.low.tolist(), L_SHAPE.high.tolist()) == ([0, 0], [2, 2])
    assert L_SHAPE.contains(np.array([[0.5, 1.5], [1.5, 0.5], [1.0, 1.0], [1.5, 1.5], [-0.1, 0.5]])).tolist() == [
        *[True] * 3,
        *[False] * 2,
    ]
    assert sum(patch.measure for patch in L_SHAPE.boundary()) == 4  # a length of 8, in units of 2
    found = {(p.name, p.low, p.high, p.sign) for p in L_SHAPE.boundary() if p.name in ("x=1", "y=1")}
    assert found == {("x=1", (1.0, 1.0), (1.0, 2.0), 1), ("y=1", (1.0, 1.0), (2.0, 1.0), 1)}


def test_a_plane_has_one_name_for_all_its_pieces():
    """A U-shape has faces at x = 1 that look to the right and, after a shift by rounding, one more."""
    u_shape = Union(Box(x=(0, 3), y=(0, 1)), Box(x=(0, 1), y=(1, 2)), Box(x=(2, 3), y=(1, 2 + 1e-12)))
    assert [p.sign for p in u_shape.boundary() if p.name == u_shape.face("x=1")] == [1]
    assert [p.sign for p in u_shape.boundary() if p.name == u_shape.face("x=2.0")] == [-1]
    assert len([p for p in u_shape.boundary() if p.name == "y=max"]) == 2
    apart = Union(Box(x=(0, 0.1 + 0.2), y=(0, 1)), Box(x=(0.3, 1), y=(1, 2)))
    assert sorted(p.sign for p in apart.boundary() if p.name == apart.face("x=0.3")) == [-1, 1]


@pytest.mark.parametrize(
    ("text", "name"), [("x=1", "x=1"), ("x=1.0", "x=1"), ("x=2", "x=max"), ("x=min", "x=min"), ("y=0", "y=min")]
)
def test_the_faces_of_an_l_shape(text, name):
    assert L_SHAPE.face(text) == name


def test_a_plane_without_a_face_is_refused():
    with pytest.raises(GeometryError, match=r"'x=0.5': coordinate x .* from 0 to 2, with faces at 0, 1, 2"):
        L_SHAPE.face("x=0.5")


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        ((), "made of boxes"),
        ((1,), "made of boxes"),
        ((Box(x=(0, 1)), Box(y=(0, 1))), "same coordinates"),
        ((Box(x=(0, 1)), Box(x=(0.5, 2))), "overlap"),
    ],
)
def test_a_bad_union_is_refused(boxes, message):
    with pytest.raises(GeometryError, match=message):
        Union(*boxes)


def test_a_subdomain_in_the_notch_sticks_out():
    with pytest.raises(GeometryError, match=r"'b'.* sticks out"):
        Decomposition(L_SHAPE, {"a": L_SHAPE, "b": Box(x=(1, 2), y=(1, 2))})
    with pytest.raises(GeometryError, match=r"hole.* 66.67 %"):
        Decomposition(L_SHAPE, {"a": L_SHAPE.boxes[0]})


def test_a_box_across_the_boxes_of_its_domain_is_inside():
    """How the domain is written as boxes does not matter."""
    tall = {"tall": Box(x=(0, 1), y=(0, 2)), "right": Box(x=(1, 2), y=(0, 1))}
    cells = Decomposition(L_SHAPE, tall)
    assert split(L_SHAPE, x=[1.0]).interfaces == cells.interfaces
    assert sum(patch.measure for patch in cells.boundaries[0]) == 2.5  # a length of 5, in units of 2


def test_the_outline_of_an_l_shape_has_no_line_inside():
    lines = {frozenset(map(tuple, line)) for line in L_SHAPE.outline().tolist()}
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    inside = frozenset([(0, 1), (1, 1)])
    assert inside not in lines
    assert sum(np.abs(np.subtract(*line)).sum() for line in map(tuple, lines)) == 8
    assert {corner for line in lines for corner in line} == {*corners, (0, 1)}  # x = 0 is drawn in two pieces


@pytest.mark.parametrize("cells", [split(L_SHAPE, x=[0.5]), *(find_family(n).decomposition for n in sorted(BUILT_IN))])
def test_a_decomposition_survives_plain_numbers(cells):
    again = Decomposition.from_dict(json.loads(json.dumps(cells.to_dict())))
    assert again == cells
    assert hash(again) == hash(cells)
    assert again.interfaces == cells.interfaces
    assert again != cells.single()
