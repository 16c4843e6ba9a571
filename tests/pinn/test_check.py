"""The verdict against true errors, which it never sees."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from small import HIDDEN, POINTS, Line, Quad, untrained

import metalic as mt
from metalic.pinn.defect import boxed
from metalic.pinn.judgement import compared
from metalic.pinn.optimizers import Status
from metalic.pinn.refinement import refined
from metalic.pinn.solution import relative_error

SMALL = {"hidden": HIDDEN, "points": POINTS}


def solved(conditions="u,c", iterations=40, **options):
    schedule = [mt.Phase(mt.GaussNewton(), iterations)]
    return mt.solve(Line, conditions, schedule, k=2.0, **(SMALL | options))


@pytest.mark.parametrize("iterations", [2, 10, 40])
def test_the_estimate_is_the_error(iterations):
    solution = solved(iterations=iterations)
    assert solution.check().estimate == pytest.approx(solution.error, rel=0.1)


@pytest.mark.parametrize(("conditions", "jump"), [("u", "the flux"), ("c", "the solution"), ("none", "the solution")])
def test_a_set_that_leaves_the_problem_open_is_found_out(conditions, jump):
    solution = solved(conditions)
    assert solution.error > 0.1
    found = solution.check()
    assert found.verdict == "wrong"
    assert found.estimate == pytest.approx(solution.error, rel=0.1)
    assert any(jump in reason and "1|2" in reason for reason in found.reasons)
    assert any("u" in advice and "c" in advice for advice in found.advice if advice.startswith("conditions="))


def test_verdicts_follow_the_estimate():
    solution = solved()
    estimate = solution.check().estimate
    assert solution.check(good_below=2 * estimate).verdict == "good"
    assert solution.check(good_below=estimate / 2).verdict == "doubtful"
    assert solution.check(good_below=estimate / 100).verdict == "wrong"
    with pytest.raises(mt.MetalicError, match="good_below"):
        solution.check(good_below=0)


def test_measures_are_relative_to_the_terms():
    """A solution twice as large violates the equations as much, relatively; u(1) = 1 it misses by its own size."""
    solution = solved()
    found = solution.check()
    assert max(*found.residual, *found.boundary, *found.jumps["1|2"].values()) < 1e-3
    network, theta = solution.network, np.array(solution.theta)
    for row in theta:
        weights, bias = network.layers(row)[-1]
        weights *= 2
        bias *= 2
    doubled = replace(solution, theta=theta).check()
    assert doubled.boundary[0] == pytest.approx(0.35, abs=0.15)
    assert max(doubled.residual) < 1e-3
    assert doubled.estimate == pytest.approx(1.0, rel=0.01)


def test_a_diverged_run_is_wrong_and_says_so():
    solution = untrained(Line, status=Status.DIVERGED)
    found = solution.check()
    assert (found.verdict, found.estimate) == ("wrong", 100.0)
    assert "diverged" in found.text


def test_a_loaded_solution_can_be_checked(tmp_path):
    solution = solved(check=True)
    loaded = mt.Solution.load(solution.save(tmp_path / "a.npz"), Line)
    assert loaded.checked == solution.checked
    assert loaded.check().estimate == pytest.approx(solution.error, rel=0.1)
    assert json.loads(json.dumps(loaded.to_dict()))["check"]["verdict"] == "good"


def test_single_precision_is_checked_too():
    solution = solved(precision="float32")
    assert solution.check().estimate == pytest.approx(solution.error, rel=0.1)


def test_more_iterations_estimate_the_error_too():
    solution = solved(iterations=8)
    grid = Line().error_points()
    after = refined(solution).values(grid)
    assert relative_error(solution.values(grid), after) == pytest.approx(solution.error, rel=0.5)


def test_boxes_know_whose_they_are():
    family, owners = boxed(mt.find_family("burgers"))
    assert owners == [0, 1, 1]
    assert len(family.decomposition.interfaces) == 2
    family, _ = boxed(mt.find_family(Quad))
    assert family.coefficients["k"] == {"1/0": 1.0, "2/0": 2.0, "3/0": 0.5, "4/0": 3.0}


# --- In a solve ------------------------------------------------------------------------------------------------------


def test_a_solve_that_is_not_good_warns():
    with pytest.warns(mt.MetalicWarning, match="line: wrong.*the flux jumps"):
        solution = solved("u", check=True)
    assert solution.checked.verdict == "wrong"


def test_a_good_solve_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error", mt.MetalicWarning)
        solution = solved(check=True)
    assert solution.checked.good
    assert solved(check=False).checked is None


def test_a_tolerance_is_met_by_continuing():
    start = solved(iterations=5)
    solution = solved(iterations=5, tolerance=start.error / 100)
    assert solution.error < start.error / 50
    assert solution.checked.good
    assert solution.phases[-1].conditions == ("u", "c")


def test_a_tolerance_that_is_not_met_says_what_was_used_up():
    with pytest.warns(mt.MetalicWarning, match="0 seconds are used up"):
        solution = solved(iterations=5, tolerance=1e-14, seconds=0)
    assert solution.checked.reasons[0].startswith("the tolerance 1e-14 is not reached")
    with pytest.raises(mt.MetalicError, match="a tolerance is a positive number"):
        solved(tolerance=-1)


def test_a_second_solve_is_compared():
    found = solved(verify=True).checked
    assert found.good
    assert found.difference < 1e-3


def test_two_solves_that_differ_are_doubtful():
    """Two answers cannot both be right, whatever a check says of one of them."""
    solution, other = solved(check=True), solved("u")
    found = compared(solution, other).checked
    assert (solution.checked.verdict, found.verdict) == ("good", "doubtful")
    assert found.difference == pytest.approx(1.0, abs=0.9)
    assert found.estimate >= found.difference / 2
    assert "second solve differs" in found.text
