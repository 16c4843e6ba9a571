"""Schedules: the named ones, how one is found, and what is refused."""

import pytest
from small import ADAM, HIDDEN, NEWTON, POINTS, Line

from metalic.errors import (
    ScheduleError,
)
from metalic.pinn import LBFGS, SCHEDULES, Adam, GaussNewton, Phase, Schedule, find_schedule
from metalic.solving import solve

SHORT = (Phase(ADAM, 60), Phase(NEWTON, 12))


def test_the_named_schedules():
    assert set(SCHEDULES) == {"paper", "fast", "accurate", "quick"}
    paper = SCHEDULES["paper"]
    assert [phase.iterations for phase in paper.phases] == [10_000, 50_000]
    assert paper.phases[0].optimizer == Adam(1e-3)
    assert paper.phases[1].optimizer == LBFGS(history=50, gradient_tolerance=1e-6, change_tolerance=1e-9)
    assert (paper.sampling, paper.scaling) == ("random", "none")
    for name in ("fast", "accurate", "quick"):
        assert [type(phase.optimizer) for phase in SCHEDULES[name].phases] == [Adam, GaussNewton]
        assert SCHEDULES[name].scaling == "subdomain"


def test_a_schedule_by_name_phases_or_itself():
    own = Schedule("own", SHORT)
    assert find_schedule(own) is own
    assert find_schedule("quick") is SCHEDULES["quick"]
    assert find_schedule(list(SHORT)) == Schedule("custom", SHORT)
    assert solve(Line, "u,c", own, hidden=HIDDEN, points=POINTS, k=2.0).schedule == "own"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": 0}, "at least 1 iteration, not 0"),
        ({"iterations": 2.5}, "at least 1 iteration, not 2.5"),
        ({"iterations": "many"}, "at least 1 iteration, not 'many'"),
        ({"resample": 0}, "1 or more iterations, not 0"),
        ({"resample": 2.5}, "1 or more iterations, not 2.5"),
        ({"adaptive": True}, "adaptive points need 'resample'"),
        ({"optimizer": "adam"}, "optimizer.* not 'adam'"),
    ],
)
def test_a_wrong_phase_is_told(arguments, message):
    with pytest.raises(ScheduleError, match=message):
        Phase(**({"optimizer": ADAM, "iterations": 5} | arguments))


def test_a_schedule_has_phases():
    with pytest.raises(ScheduleError, match="at least one phase"):
        Schedule("empty", ())
    with pytest.raises(ScheduleError, match="allowed are paper, fast, accurate, quick"):
        find_schedule("slow")
