"""The verdict against true errors, which it never sees."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small import HIDDEN, POINTS, Line, untrained

import metalic as mt
from metalic.pinn.optimizers import Status

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
