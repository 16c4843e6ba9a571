"""More iterations with the complete set, whatever set was trained."""

import pytest
from small import HIDDEN, POINTS, Line

import metalic as mt
from metalic.pinn.refinement import refined
from metalic.pinn.solution import relative_error

SMALL = {"hidden": HIDDEN, "points": POINTS}


def solved(conditions="u,c", iterations=40, **options):
    schedule = [mt.Phase(mt.GaussNewton(), iterations)]
    return mt.solve(Line, conditions, schedule, k=2.0, **(SMALL | options))


def test_more_iterations_estimate_the_error_too():
    solution = solved(iterations=8)
    grid = Line().error_points()
    after = refined(solution).values(grid)
    assert relative_error(solution.values(grid), after) == pytest.approx(solution.error, rel=0.5)


def test_the_complete_set_repairs_what_a_bad_one_left_open():
    solution = solved("u")
    better = refined(solution, iterations=60)
    grid, truth = Line().error_points(), Line().reference(k=2.0)
    assert solution.error > 0.1
    assert relative_error(better.values(grid), truth(grid)[:, None]) < 1e-3
    assert better.phases[-1].conditions == ("u", "c")


class Closed(Line):
    """A catalogue without the flux: the complete set is not in it."""

    conditions = ("u", "r")


def test_conditions_that_the_catalogue_leaves_out_are_there():
    schedule = [mt.Phase(mt.GaussNewton(), 10)]
    solution = mt.solve(Closed, "u", schedule, k=2.0, **SMALL)
    assert refined(solution).phases[-1].conditions == ("u", "c")
