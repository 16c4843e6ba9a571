"""Schedules: the named ones, how one is found, and what is refused."""

import pytest
from small import ADAM, HIDDEN, NEWTON, POINTS, Line

from metalic.errors import MetalicError, ScheduleError
from metalic.families import find_family
from metalic.geometry import Points, split
from metalic.pinn import LBFGS, SCHEDULES, Adam, GaussNewton, Phase, Schedule, find_schedule
from metalic.pinn.options import SolverOptions
from metalic.solving import solve

SHORT = (Phase(ADAM, 60), Phase(NEWTON, 12))


def test_the_named_schedules():
    assert set(SCHEDULES) == {"paper", "fast", "accurate", "quick", "sharp"}
    paper = SCHEDULES["paper"]
    assert [phase.iterations for phase in paper.phases] == [10_000, 50_000]
    assert paper.phases[0].optimizer == Adam(1e-3)
    assert paper.phases[1].optimizer == LBFGS(history=50, gradient_tolerance=1e-6, change_tolerance=1e-9)
    assert (paper.sampling, paper.scaling) == ("random", "none")
    for name in ("fast", "accurate", "quick", "sharp"):
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


def test_the_paper_keeps_its_networks_weights_and_points():
    """Two layers of 20, lambda_b = 20, lambda_I = 5, 1000 points per subdomain and 802 on Burgers' interface."""
    for name in ("poisson", "burgers"):
        family = find_family(name)
        used = SolverOptions().resolve(family, SCHEDULES["paper"])
        assert (used.hidden, used.lambda_boundary, set(used.lambda_interface.values())) == ((20, 20), 20.0, {5.0})
        assert used.points == family.points
    assert used.points == Points(1000, 100, 802)
    assert not SCHEDULES["paper"].balance


@pytest.mark.parametrize("name", ["fast", "accurate", "quick"])
def test_networks_and_weights_of_the_other_schedules(name):
    family = find_family("poisson")
    used = SolverOptions().resolve(family, SCHEDULES[name])
    assert (used.hidden, used.lambda_boundary, set(used.lambda_interface.values())) == ((12,) * 4, 200.0, {5.0})
    assert used.points == Points(1000, 100, 101)
    assert SolverOptions(hidden=(20, 20)).resolve(family, SCHEDULES[name]).hidden == (20, 20)  # an argument goes first


class Many(Line):
    """The line in several parts."""

    def __init__(self, parts):
        self.parts = parts
        self.decomposition = split(self.domain, x=[n / parts for n in range(1, parts)])


def test_networks_and_points_shrink_as_subdomains_get_more():
    used = {k: SolverOptions().resolve(Many(k), SCHEDULES["fast"]) for k in (2, 8, 32, 512)}
    assert [used[k].points.collocation for k in used] == [1000, 500, 250, 62]  # 1000 sqrt(2 / K)
    assert [used[k].hidden[0] for k in used] == [12, 8, 6, 4]  # 12 (2 / K)^(1/4), at least 4
    assert SolverOptions().resolve(Many(8), SCHEDULES["paper"]).points.collocation == 1000
    assert SolverOptions().resolve(Many(8), SCHEDULES["paper"]).hidden == (20, 20)


def test_points_that_a_family_sets_stay_as_they_are():
    family = Many(8)
    family.points = Points(collocation=700)
    assert SolverOptions().resolve(family, SCHEDULES["fast"]).points.collocation == 700
    assert SolverOptions().resolve(family, SCHEDULES["sharp"]).points.collocation == 700
    assert SolverOptions().resolve(find_family("burgers"), SCHEDULES["sharp"]).points == Points(2000, 100, 202)


def test_the_points_of_a_schedule_are_checked():
    with pytest.raises(MetalicError, match="collocation points is an integer of at least 1, not 0"):
        Schedule("own", SHORT, collocation=0)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_survives_its_file(name):
    """What version 0.1 did not have is written only where it is used."""
    written = SCHEDULES[name].to_dict()
    assert Schedule.from_dict(written) == SCHEDULES[name]
    assert ("hidden" in written) == (name != "paper")
    assert Schedule.from_dict(Schedule("own", SHORT, lambda_boundary=0.0).to_dict()).lambda_boundary == 0.0
