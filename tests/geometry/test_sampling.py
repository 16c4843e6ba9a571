"""Points: how many, where, and that only the seed decides them."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from metalic.errors import GeometryError
from metalic.families import Burgers
from metalic.geometry import Box, Patch, Points, Union
from metalic.geometry.sampling import CHEBYSHEV, SAMPLINGS, allocate, unit_points

samplings = pytest.mark.parametrize("sampling", SAMPLINGS)
measures = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_points_within_a_subdomain():
    points = Points(10, within={"left": 30})
    assert (points.inside("left"), points.inside("right"), points.times(3).inside("left")) == (30, 10, 90)
    assert points == Points(10, within=points.within)
    assert hash(points) != hash(Points(10))
    assert repr(Points(10)) == "Points(collocation=10, boundary=100, interface=101)"  # as old ledgers have it
    assert repr(points).endswith("within={'left': 30})")
    points.check(["left", "right"])
    with pytest.raises(GeometryError, match=r"within 'left': there is no such subdomain \(a, b\)"):
        points.check(["a", "b"])


@pytest.mark.parametrize("within", [{"a": 0}, {"a": "x"}, {3: 5}, 5, [("a",)]])
def test_points_within_subdomains_are_numbers_by_name(within):
    with pytest.raises(GeometryError, match="numbers by name"):
        Points(within=within)


def test_there_are_five():
    assert SAMPLINGS == ("random", "grid", "latin", "sobol", "poisson")


@settings(max_examples=300)
@example(5, [1.0, 1.0, 1.0, 0.5])  # the smallest has its one point: what is left belongs to a larger one
@given(st.integers(1, 2000), measures)
def test_allocation_is_proportional(total, measures):
    counts = allocate(total, measures)
    shares = total * np.array(measures) / sum(measures)
    assert min(counts) >= 1
    assert all(abs(count - share) < 1 + 1e-9 for count, share in zip(counts, shares, strict=True))
    if shares.min() >= 1:
        assert sum(counts) == total
    assert total <= sum(counts) <= total + len(measures)


def test_allocation_gives_the_rest_to_the_largest_remainders():
    assert allocate(10, [1, 1, 1]) == [4, 3, 3]
    assert allocate(802, [1.0, 1.0]) == [401, 401]
    assert allocate(7, [0.55, 0.25, 0.2]) == [4, 2, 1]  # shares 3.85, 1.75, 1.4
    assert allocate(1, [5.0, 1.0]) == [1, 1]  # nothing goes without points


@samplings
@settings(max_examples=40)
@given(n=st.integers(1, 60), d=st.integers(1, 4), seed=st.integers(0, 3))
def test_points_are_in_the_unit_cube_and_as_many_as_asked_for(sampling, n, d, seed):
    points = unit_points(n, d, sampling, rng(seed))
    assert points.shape[1] == d
    assert np.all((points >= 0) & (points <= 1))
    if sampling == "grid":  # a product of numbers per axis, not above n, and no axis could have one more
        per_axis = [len(np.unique(column)) for column in points.T]
        assert len(points) == math.prod(per_axis) <= n
        assert len(points) // min(per_axis) * (min(per_axis) + 1) > n
    else:
        assert len(points) == n


@samplings
def test_only_the_seed_decides(sampling):
    first, again, other = (unit_points(64, 2, sampling, rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert first.shape == other.shape
    assert np.array_equal(first, other) == (sampling == "grid")


def test_random_points_are_uniform_and_independent():
    points = unit_points(4000, 2, "random", rng())
    # Standard errors at n = 4000: mean 0.0046, correlation 0.016; five of them.
    np.testing.assert_allclose(points.mean(axis=0), 0.5, atol=0.023)
    assert abs(np.corrcoef(points.T)[0, 1]) < 0.08


def test_grid_points_are_cell_centres():
    np.testing.assert_allclose(unit_points(4, 1, "grid", rng()).ravel(), [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(unit_points(7, 2, "grid", rng()).mean(axis=0), 0.5)
    assert len(unit_points(1000, 2, "grid", rng())) == 32 * 31
    assert len(unit_points(1000, 3, "grid", rng())) == 1000


@pytest.mark.parametrize("sampling", ["latin", "sobol"])
def test_every_axis_is_stratified(sampling):
    """One point in each of the n slices of every axis (Sobol: for powers of two)."""
    points = unit_points(64, 3, sampling, rng())
    for column in points.T:
        assert sorted(np.floor(64 * column).astype(int)) == list(range(64))


def test_sobol_points_fill_squares_evenly():
    points = unit_points(64, 2, "sobol", rng())
    cells = np.floor(8 * points).astype(int)
    assert len({tuple(cell) for cell in cells}) == 64  # a (0, 6, 2)-net: one point in each of 8 x 8 squares


@pytest.mark.parametrize(("n", "d"), [(100, 2), (50, 1), (60, 3)])
def test_poisson_disc_points_keep_their_distance(n, d):
    apart, random = (pdist(unit_points(n, d, sampling, rng())).min() for sampling in ("poisson", "random"))
    assert apart > 0.4 * n ** (-1 / d)
    assert random < 0.4 * n ** (-1 / d)


def test_an_unknown_sampling_is_refused():
    with pytest.raises(GeometryError, match="no sampling 'halton': allowed are random, grid, latin, sobol, poisson"):
        unit_points(3, 2, "halton", rng())


@samplings
def test_points_of_a_union_of_boxes(sampling):
    boxes = [Box(x=(0, 1), y=(0, 1)), Box(x=(2, 5), y=(-1, 0))]
    points = Union(*boxes).sample(400, sampling, rng())
    inside = [np.all((points >= box.low) & (points <= box.high), axis=1) for box in boxes]
    assert np.all(inside[0] ^ inside[1])
    wanted = [100, 300] if sampling != "grid" else [100, 17 * 17]
    assert [int(part.sum()) for part in inside] == wanted


@samplings
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_points_of_a_patch(sampling, axis):
    low, high = [0.0, 1.0, 2.0], [3.0, 3.0, 3.0]
    low[axis] = high[axis] = 0.75
    patch = Patch(tuple(low), tuple(high), axis, -1, measure=1.0)
    points = patch.sample(16, sampling, rng())
    assert points.shape == (16, 3)
    assert np.all(points[:, axis] == 0.75)
    assert np.all((points >= low) & (points <= high))
    others = np.delete(points, axis, axis=1)
    assert np.all(np.ptp(others, axis=0) > 0.5 * np.delete(np.array(high) - low, axis))  # spread over the patch
    expected = np.zeros(3)
    expected[axis] = -1
    np.testing.assert_array_equal(patch.normals(2), [expected, expected])


@samplings
def test_a_patch_of_a_line_is_one_point(sampling):
    points = Patch((0.5,), (0.5,), 0, 1, measure=1.0).sample(16, sampling, rng())
    np.testing.assert_array_equal(points, [[0.5]])


@pytest.mark.parametrize("bad", [0, -3, 2.5, "many", None])
@pytest.mark.parametrize("which", ["collocation", "boundary", "interface"])
def test_numbers_of_points_are_positive_integers(which, bad):
    with pytest.raises(GeometryError, match=f"number of {which} points .* not {bad!r}"):
        Points(**{which: bad})


def test_the_numbers_of_the_paper():
    assert Points() == Points(collocation=1000, boundary=100, interface=101)
    assert Burgers.points == Points(collocation=1000, boundary=100, interface=802)


def test_points_for_polynomials_gather_at_the_faces():
    """Chebyshev's density 1 / (pi sqrt(x (1 - x))) has a third of its mass within 0.067 of the ends."""
    points = unit_points(4000, 2, CHEBYSHEV, np.random.default_rng(0))
    outer = np.mean((points < 0.0669873) | (points > 0.9330127), axis=0)  # (1 - cos(pi / 6)) / 2
    np.testing.assert_allclose(outer, 1 / 3, atol=0.01)


def test_points_of_all_subdomains_together() -> None:
    points = Points(10, 6, 4, within={"b": 30})
    assert points.together(["a", "b"]) == Points(40, 12, 4)
