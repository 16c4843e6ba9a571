"""Boxes, decompositions and their interfaces, against counts and measures known in closed form."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metalic.errors import GeometryError
from metalic.families import Burgers
from metalic.geometry import Box, Decomposition, split

SQUARE = Box(x=(0, 1), y=(0, 1))


def centre(region):
    return (region.low + region.high) / 2


@st.composite
def grids(draw):
    """A box in 1 to 4 coordinates with 0 to 2 cuts along each."""
    names = "xyzt"[: draw(st.integers(1, 4))]
    lows = [draw(st.integers(-3, 3)) for _ in names]
    lengths = [draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in names]
    cuts = [draw(st.sampled_from([[], [0.5], [0.25, 0.7]])) for _ in names]
    box = Box(**{n: (low, low + length) for n, low, length in zip(names, lows, lengths, strict=True)})
    inner = {n: [low + f * s for f in c] for n, low, s, c in zip(names, lows, lengths, cuts, strict=True)}
    return box, inner, [len(c) + 1 for c in cuts]


# --- Boxes -----------------------------------------------------------------------------------------------------------


def test_a_box_knows_its_sides():
    box = Box(x=(-1, 2), t=(0, 4))
    assert box.names == ("x", "t")
    assert box.measure == 12
    assert box.low.tolist() == [-1, 0]
    assert box.high.tolist() == [2, 4]
    assert box.replaced(t=(1, 2)) == Box(x=(-1, 2), t=(1, 2))
    assert box == Box(x=(-1.0, 2.0), t=(0.0, 4.0))
    assert hash(box) == hash(Box(x=(-1.0, 2.0), t=(0.0, 4.0)))
    assert box != Box(t=(0, 4), x=(-1, 2))  # the order of coordinates is part of a box


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({}, "1 to 4 coordinates, not 0"),
        (dict.fromkeys("vwxyz", (0, 1)), "1 to 4 coordinates, not 5"),
        ({"d": (0, 1)}, "cannot be called 'd'"),
        ({"_x": (0, 1)}, "cannot be called '_x'"),
        ({"x": 1.0}, "side x .* pair"),
        ({"x": (0, 1, 2)}, "side x .* pair"),
        ({"x": ("a", "b")}, "side x .* pair"),
        ({"x": (1, 1)}, "side x .* low < high"),
        ({"x": (1, 0)}, "side x .* low < high"),
        ({"x": (0, math.inf)}, "side x .* finite"),
        ({"x": (math.nan, 1)}, "side x .* finite"),
    ],
)
def test_a_bad_box_is_refused(sides, message):
    with pytest.raises(GeometryError, match=message):
        Box(**sides)


# --- Grids -----------------------------------------------------------------------------------------------------------


@given(grids())
def test_interfaces_of_a_grid(grid):
    """Between the cells of a grid: one interface per shared face, none across a corner, normals from a to b."""
    box, cuts, counts = grid
    cells = split(box, **cuts)
    assert len(cells) == math.prod(counts)
    per_axis = [(n - 1) * math.prod(counts) // n for n in counts]
    assert len(cells.interfaces) == sum(per_axis)
    area = np.zeros(len(counts))
    boxes = list(cells.subdomains.values())
    for interface in cells.interfaces:
        assert interface.a < interface.b
        (patch,) = interface.patches
        towards = (centre(boxes[interface.b]) - centre(boxes[interface.a]))[patch.axis]
        assert towards * patch.sign > 0
        assert patch.low[patch.axis] == patch.high[patch.axis]
        area[patch.axis] += patch.measure
    np.testing.assert_allclose(area, np.array(counts) - 1)  # a cut is a whole cross-section, whose measure is 1


@given(grids())
def test_boundary_patches_of_a_grid_make_up_the_surface(grid):
    box, cuts, _ = grid
    cells = split(box, **cuts)
    found = dict.fromkeys((f"{n}={end}" for n in box.names for end in ("min", "max")), 0.0)
    for k in range(len(cells)):
        for patch in cells.boundaries[k]:
            name, end = patch.name.split("=")
            axis = box.names.index(name)
            assert patch.axis == axis
            assert patch.sign == (1 if end == "max" else -1)
            assert patch.low[axis] == patch.high[axis] == (box.high if end == "max" else box.low)[axis]
            found[patch.name] += patch.measure
    assert found == pytest.approx(dict.fromkeys(found, 1.0))  # in units of the whole face


def test_two_by_two():
    cells = split(Box(x=(0, 1), t=(0, 2)), x=[0.3], t=[1.5])
    assert cells.names == ("1", "2", "3", "4")  # t runs fastest: 1, 2 have x < 0.3
    found = {(i.a, i.b): i.patches for i in cells.interfaces}
    assert set(found) == {(0, 1), (2, 3), (0, 2), (1, 3)}  # no interface across the corner
    (patch,) = found[0, 1]
    assert (patch.low, patch.high, patch.axis, patch.sign) == ((0.0, 1.5), (0.3, 1.5), 1, 1)
    (patch,) = found[1, 3]
    assert (patch.low, patch.high, patch.axis, patch.sign) == ((0.3, 1.5), (0.3, 2.0), 0, 1)


def test_one_coordinate():
    line = split(Box(x=(0, 3)), x=[1, 2])
    assert [(i.a, i.b, i.patches[0].low, i.patches[0].measure) for i in line.interfaces] == [
        (0, 1, (1.0,), 1.0),
        (1, 2, (2.0,), 1.0),
    ]
    assert line.boundaries[1] == ()
    assert [patch.name for patch in line.boundaries[2]] == ["x=max"]


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ({"x": [0.0]}, "cuts in x .*inside"),
        ({"x": [1.0]}, "cuts in x .*inside"),
        ({"x": [1.5]}, "cuts in x .*inside"),
        ({"y": [0.6, 0.4]}, "cuts in y must increase"),
        ({"y": [0.5, 0.5]}, "cuts in y must increase"),
        ({"z": [0.5]}, "no coordinate z .*allowed are x, y"),
    ],
)
def test_bad_cuts_are_refused(cuts, message):
    with pytest.raises(GeometryError, match=message):
        split(SQUARE, **cuts)


# --- Unions of boxes -------------------------------------------------------------------------------------------------


def test_the_interface_of_burgers_is_two_lines_with_normals_outwards():
    (interface,) = Burgers.decomposition.interfaces
    assert (interface.a, interface.b) == (0, 1)
    assert {(p.low, p.high, p.axis, p.sign) for p in interface.patches} == {
        ((-0.1, 0.0), (-0.1, 1.0), 0, -1),
        ((0.1, 0.0), (0.1, 1.0), 0, 1),
    }


def test_the_boundary_of_burgers():
    faces = [
        sorted((patch.name, round(patch.measure, 12)) for patch in Burgers.decomposition.boundaries[k]) for k in (0, 1)
    ]
    assert faces[0] == [("t=max", 0.1), ("t=min", 0.1)]  # 0.2 of a side of length 2
    assert faces[1] == [*[("t=max", 0.45)] * 2, *[("t=min", 0.45)] * 2, ("x=max", 1.0), ("x=min", 1.0)]


def test_bounding_boxes_hold_a_whole_union():
    low, high = Burgers.decomposition.bounding_boxes()
    assert low.tolist() == [[-0.1, 0.0], [-1.0, 0.0]]
    assert high.tolist() == [[0.1, 1.0], [1.0, 1.0]]


def test_boxes_of_unequal_size_share_only_what_they_share():
    cells = Decomposition(
        SQUARE,
        {
            "bottom": Box(x=(0, 1), y=(0, 0.5)),
            "left": Box(x=(0, 0.25), y=(0.5, 1)),
            "right": Box(x=(0.25, 1), y=(0.5, 1)),
        },
    )
    found = {(i.a, i.b): sum(p.measure for p in i.patches) for i in cells.interfaces}
    assert found == {(0, 1): 0.25, (0, 2): 0.75, (1, 2): 0.5}


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        ({"a": Box(x=(0, 0.6), y=(0, 1)), "b": Box(x=(0.4, 1), y=(0, 1))}, "'a' and 'b' overlap"),
        ({"a": [Box(x=(0, 0.6), y=(0, 1)), Box(x=(0.4, 1), y=(0, 1))]}, "'a'.* boxes of a union overlap"),
        ({"a": Box(x=(0, 0.4), y=(0, 1)), "b": Box(x=(0.5, 1), y=(0, 1))}, "hole.* 90 %"),
        ({"a": SQUARE, "b": Box(x=(1, 2), y=(0, 1))}, "'b'.* sticks out"),
        ({"a": SQUARE.replaced(y=(-0.1, 1))}, "'a'.* sticks out"),
        ({"a": Box(x=(0, 1), t=(0, 1))}, "'a' has coordinates"),
        ({"a": Box(x=(0, 1))}, "'a' has coordinates"),
        ({}, "at least one subdomain"),
    ],
)
def test_a_bad_decomposition_is_refused(boxes, message):
    with pytest.raises(GeometryError, match=message):
        Decomposition(SQUARE, boxes)


@pytest.mark.parametrize("gap", [1e-8, 5e-7])
def test_a_gap_that_separates_neighbours_is_a_hole(gap):
    """Where two faces are too far apart to be one interface, nothing would stitch the subdomains."""
    with pytest.raises(GeometryError, match="hole"):
        Decomposition(Box(x=(0, 1)), {"a": Box(x=(0, 0.4)), "b": Box(x=(0.4 + gap, 1))})


def test_rounding_is_no_gap():
    cells = Decomposition(Box(x=(0, 1)), {"a": Box(x=(0, 0.1 + 0.2)), "b": Box(x=(0.3, 1))})
    assert len(cells.interfaces) == 1


# --- Points and faces ------------------------------------------------------------------------------------------------


def test_membership_is_that_of_closed_boxes():
    cells = Burgers.decomposition
    x, t = (grid.ravel() for grid in np.meshgrid(np.linspace(-1.2, 1.2, 49), [-0.1, 0.0, 0.5, 1.0, 1.1]))
    inside = cells.membership(np.stack([x, t], axis=1))
    level = (t >= 0) & (t <= 1)
    slack = 1e-8
    np.testing.assert_array_equal(inside[0], level & (np.abs(x) <= 0.1 + slack))
    np.testing.assert_array_equal(inside[1], level & (np.abs(x) >= 0.1 - slack) & (np.abs(x) <= 1 + slack))
    assert inside.sum(axis=0).max() == 2  # x = 0.1 is in both


def test_every_cell_holds_its_own_corners():
    cells = split(SQUARE, x=[0.5], y=[0.5])
    assert cells.membership(np.array([[0.5, 0.5]])).sum() == 4
    assert cells.membership(np.array([[0.5, 0.2]])).sum() == 2
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    assert cells.membership(corners).sum(axis=0).tolist() == [1, 1, 1, 1]
    assert not cells.membership(np.array([[np.nan, 0.5]])).any()


@pytest.mark.parametrize(
    ("text", "face"),
    [
        ("x=-1", "x=min"),
        (" x = -1.0 ", "x=min"),
        ("x=1", "x=max"),
        ("t=min", "t=min"),
        ("t=1e0", "t=max"),
        ("t=0", "t=min"),
    ],
)
def test_faces_have_one_canonical_name(text, face):
    assert Burgers.domain.face(text) == face


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y=0", "'y=0': allowed are x=min, x=max, t=min, t=max"),
        ("x", "'x'.* number, min or max"),
        ("x=left", "'x=left'.* number, min or max"),
        ("x=0.5", "'x=0.5'.* from -1 to 1"),
        ("x=nan", "'x=nan'"),
        ("", "no face ''"),
    ],
)
def test_a_bad_face_is_refused(text, message):
    with pytest.raises(GeometryError, match=message):
        Burgers.domain.face(text)


def test_undivided():
    whole = Burgers.decomposition.single()
    assert whole.interfaces == ()
    assert whole.subdomains == {"whole": Burgers.domain}
    assert whole == Decomposition(Burgers.domain, {"whole": Burgers.domain})
    assert whole != Burgers.decomposition
