"""A solution is a function of points; its pictures and its summary."""

import json

import numpy as np
import plain
import pytest
from small import HIDDEN, Quad, untrained

from metalic.errors import FileError, GeometryError
from metalic.families import Burgers, Poisson
from metalic.pinn.optimizers import Status


def own_values(solution, k, points):
    """Network k by the plain implementation."""
    z = (np.atleast_2d(points) - solution.centre[k]) * solution.slope[k]
    return plain.forward(solution.theta[k], z, HIDDEN, len(solution.family.components))


# --- Calling ---------------------------------------------------------------------------------------------------------


def test_inside_a_subdomain_it_is_its_own_network():
    solution = untrained(Poisson)
    for k, y in ((0, 0.2), (1, 0.9)):
        assert solution(x=0.3, y=y) == pytest.approx(own_values(solution, k, [0.3, y])[0, 0], rel=1e-12)


def test_on_an_interface_it_is_the_average():
    solution = untrained(Poisson)
    both = [own_values(solution, k, [0.3, 0.5])[0, 0] for k in (0, 1)]
    assert both[0] != pytest.approx(both[1], rel=1e-3)
    assert solution(x=0.3, y=0.5) == pytest.approx(np.mean(both), rel=1e-12)


def test_where_four_meet_it_is_the_average_of_four():
    solution = untrained(Quad)
    truth = np.mean([own_values(solution, k, [0.4, 1.0])[0] for k in range(4)], axis=0)
    np.testing.assert_allclose(solution(x=0.4, t=1.0), truth, rtol=1e-12)


def test_a_union_of_boxes_is_one_network():
    solution = untrained(Burgers)
    for x in (-0.5, 0.5):
        assert solution(x=x, t=0.3) == pytest.approx(own_values(solution, 1, [x, 0.3])[0, 0], rel=1e-12)
    assert solution(x=0.0, t=0.3) == pytest.approx(own_values(solution, 0, [0.0, 0.3])[0, 0], rel=1e-12)


def test_numbers_arrays_and_points_agree():
    solution = untrained(Poisson)
    x, y = np.linspace(0, 1, 5)[:, None], np.linspace(0, 1, 7)
    grid = solution(x=x, y=y)
    assert grid.shape == (5, 7)
    assert solution(x=0.25, y=0.5).shape == ()
    assert solution(x=0.25, y=0.5) == pytest.approx(grid[1, 3], rel=1e-13)
    points = np.array([[0.25, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(solution(points), [grid[1, 3], grid[4, 6]], rtol=1e-13)
    np.testing.assert_array_equal(solution(points.tolist()), solution(points))
    np.testing.assert_allclose(solution([0.25, 0.5]), [grid[1, 3]], rtol=1e-13)
    assert solution(x=[], y=[]).shape == (0,)
    assert solution(x=[0, 1], y=1).shape == (2,)  # whole numbers too


def test_components_are_the_last_axis():
    solution = untrained(Quad)
    assert solution(x=0.1, t=0.1).shape == (2,)
    assert solution(x=np.full((3, 4), 0.1), t=0.1).shape == (3, 4, 2)
    assert solution(np.full((6, 2), 0.1)).shape == (6, 2)


@pytest.mark.parametrize("at", [{"x": 1.1, "y": 0.5}, {"x": [0.5, -0.01], "y": 0.5}, {"x": np.nan, "y": 0.5}])
def test_outside_the_domain_there_is_no_solution(at):
    with pytest.raises(GeometryError, match=r"1 point\(s\) lie outside the domain Box\(x=.* first at x="):
        untrained(Poisson)(**at)


@pytest.mark.parametrize(
    ("points", "at", "message"),
    [
        (None, {"x": 0.5}, "coordinates x, y are needed, not x"),
        (None, {}, "coordinates x, y are needed, not none"),
        (None, {"x": 0.5, "y": 0.5, "t": 0.5}, "coordinates x, y are needed"),
        (None, {"x": [0.1, 0.2], "y": [0.1, 0.2, 0.3]}, "do not fit together"),
        ([[0.1, 0.2, 0.3]], {}, r"shape \(n, 2\)"),
        ([[0.1, 0.2]], {"x": 0.5}, "not both"),
        (np.zeros((2, 3, 2)), {}, r"shape \(n, 2\)"),
        ([["a", "b"]], {}, "number"),
    ],
)
def test_points_that_make_no_sense_are_reported(points, at, message):
    with pytest.raises(GeometryError, match=message):
        untrained(Poisson)(points, **at)


# --- Summary ---------------------------------------------------------------------------------------------------------


def test_the_summary_is_json_and_complete():
    solution = untrained(Poisson, {"s": 20.0}, status=Status.BUDGET)
    summary = json.loads(json.dumps(solution.to_dict(), allow_nan=False))
    assert summary["family"] == "poisson"
    assert summary["parameters"] == {"s": 20.0}
    assert (summary["conditions"], summary["index"]) == (["u"], 1)
    assert (summary["seed"], summary["schedule"], summary["error"]) == (0, "custom", 0.5)
    for phase in summary["phases"]:
        assert phase["optimizer"] == "adam"
        assert (phase["iterations"], phase["seconds"], phase["loss"], phase["error"]) == (7, 1.5, 0.125, 0.5)
        assert phase["stop_reason"] == "budget used up"
    assert "history" in solution.to_dict(history=True)["phases"][0]
    assert solution.seconds == 3.0
    assert "poisson(s=20)" in repr(solution)
    assert "error 0.5" in repr(solution)


def test_a_diverged_summary_is_json_too():
    solution = untrained(Poisson, error=100.0, status=Status.DIVERGED)
    assert solution.diverged
    assert json.loads(json.dumps(solution.to_dict(), allow_nan=False))["diverged"] is True


def test_terms_need_the_training_points():
    with pytest.raises(FileError, match="does not have its training points"):
        untrained(Poisson).terms()
