"""A solution with its check: made once, compared with a second solve, or repeated until a tolerance is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .check import DOUBTFUL, GOOD_BELOW, check, relative
from .refinement import refined
from .solution import Solution

ROUND = 100  # iterations between two checks
ROUNDS = 10
DIFFERENCE = 3.0  # of two solves, in units of what the estimate allows


def judged(
    solution: Solution,
    tolerance: float | None = None,
    seconds: float | None = None,
    error: Callable[[Solution], float | None] = lambda _: None,
) -> Solution:
    """The solution with its check; with a tolerance, after as many more iterations as it takes.

    Args:
        solution: A solution that is not checked yet.
        tolerance: Continue with Gauss-Newton iterations on fresh points until the estimate is below it.
        seconds: Stop when training has taken this long in all.
        error: Measures the error of a continued solution against a reference, if there is one.

    Returns:
        The solution, continued if need be. Where the tolerance is not reached, the check is not good and its first
        reason says what was used up.
    """
    best = current = replace(solution, checked=check(solution, tolerance or GOOD_BELOW))
    used = f"{ROUND * ROUNDS} more iterations are"
    for draw in range(1, ROUNDS + 1) if tolerance is not None and not solution.diverged else ():
        if _estimate(best) < (tolerance or 0):
            break
        if seconds is not None and current.seconds >= seconds:
            used = f"{seconds:g} seconds are"
            break
        current = refined(current, draw, ROUND)
        current = replace(current.with_error(error(current)), checked=check(current, tolerance or GOOD_BELOW))
        best = min(best, current, key=_estimate)
    if tolerance is None or best.checked is None or best.checked.good:
        return best
    reasons = (f"the tolerance {tolerance:g} is not reached: {used} used up", *best.checked.reasons)
    return replace(best, checked=replace(best.checked, reasons=reasons))


def compared(solution: Solution, other: Solution) -> Solution:
    """The checked solution after a comparison with an independent solve of the same problem."""
    if solution.checked is None:
        return solution
    grid, found = solution.family.error_points(), solution.checked
    first, second = solution.values(grid), other.values(grid)
    difference = relative(first - second, second)
    estimate = max(found.estimate, difference / 2)  # one of the two is at least this wrong
    verdict, reasons = found.verdict, found.reasons
    if difference > DIFFERENCE * max(found.estimate, GOOD_BELOW):
        verdict = DOUBTFUL if found.good else found.verdict
        reasons = (*reasons, f"an independent second solve differs by {difference:.0e} of the solution")
    made = replace(found, estimate=estimate, verdict=verdict, reasons=reasons, difference=difference)
    return replace(solution, checked=made)


def _estimate(solution: Solution) -> float:
    return float("inf") if solution.checked is None else solution.checked.estimate
