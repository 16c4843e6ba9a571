"""Checks inside a solve: warnings, tolerances, second solves."""

import warnings

import numpy as np
import pytest
from small import HIDDEN, POINTS, Line

import metalic as mt
from metalic.pinn.judgement import compared

SMALL = {"hidden": HIDDEN, "points": POINTS}


def solved(conditions="u,c", iterations=40, **options):
    schedule = [mt.Phase(mt.GaussNewton(), iterations)]
    return mt.solve(Line, conditions, schedule, k=2.0, **(SMALL | options))


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
    with pytest.warns(mt.MetalicWarning, match="1e-09 seconds are used up"):
        solution = solved(iterations=5, tolerance=1e-14, seconds=1e-9)
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


def test_the_error_is_measured_against_a_reference_that_is_given():
    """Twice the solution, as a reference: the error is one half."""
    x = np.linspace(0, 1, 201)
    doubled = mt.Reference.from_grid(2 * np.sin(2 * x) / np.sin(2), x=x)
    assert solved(reference=doubled).error == pytest.approx(0.5, rel=1e-3)
