"""Schedules: the named ones, how one is found, and what is refused."""

import json

import numpy as np
import pytest
from small import ADAM, HIDDEN, NEWTON, POINTS, Line

import metalic as mt
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
        ({"recheck": 0}, "fresh points are looked at every 1 or more iterations, not 0"),
        ({"recheck": 5, "resample": 5}, "'resample' or 'recheck', not both"),
        ({"adaptive": True}, "adaptive points need 'resample'"),
        ({"optimizer": "adam"}, "optimizer.* not 'adam'"),
    ],
)
def test_a_wrong_phase_is_reported(arguments, message):
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


# --- Continuation ----------------------------------------------------------------------------------------------------


class Steep(Line):
    """-e u'' + u' = 1 with a layer of width e at x = 1; its reference is the exact solution."""

    name = "steep"
    parameters = {"e": (0.02, 1.0)}
    easy = {"e": 0.5}

    def residual(self, u, p, e):
        return -e * u.xx + u.x - 1

    def flux(self, u, p, e):
        return {"x": -e * u.x + u.value}

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0)]

    def reference(self, e):
        last = np.exp(-1 / e)
        return lambda points: points[:, 0] - (np.exp((points[:, 0] - 1) / e) - last) / (1 - last)


def test_values_on_the_way_are_of_equal_ratio_or_step():
    assert mt.Continue("e", 0.8, 4).values({"e": 0.1}, {}) == [{"e": pytest.approx(e)} for e in (0.8, 0.4, 0.2, 0.1)]
    assert mt.Continue("e", -1.0, 3).values({"e": 2.0, "f": 7.0}, {}) == [{"e": e, "f": 7.0} for e in (-1.0, 0.5, 2.0)]
    assert mt.Continue(steps=2).values({"e": 0.1}, {"e": 0.5}) == [{"e": pytest.approx(0.5)}, {"e": 0.1}]
    assert mt.Continue(steps=2).values({"e": 0.1}, {}) == [{"e": 0.1}, {"e": 0.1}]


@pytest.mark.parametrize("continues", [mt.Continue("e", start=0.5, steps=5), mt.Continue(steps=5)])
def test_a_phase_that_continues_ends_at_the_member(continues):
    """The last part of the phase is at the parameters asked for: its loss is that of the solution's problem."""
    phases = [mt.Phase(mt.GaussNewton(), 50, continues=continues), mt.Phase(mt.GaussNewton(), 20)]
    found = mt.solve(Steep, "u,c", phases, hidden=(6,), points=mt.Points(48, 8, 6), e=0.1)
    assert [phase.iterations for phase in found.phases] == [50, 20]
    assert float(found.problem.parameters["e"]) == 0.1
    assert [moment[0] for moment in found.phases[0].history] == [10, 20, 30, 40, 50]
    assert found.error < 1e-2
    begun = mt.solve(Steep, "u,c", phases, hidden=(6,), points=mt.Points(48, 8, 6), e=0.09, start=found)
    assert [phase.iterations for phase in begun.phases] == [20]  # a start takes the place of the way there


def test_a_schedule_that_looks_at_fresh_points_is_stored_and_read():
    schedule = Schedule("seeing", (Phase(NEWTON, 50, recheck=10),))
    assert Schedule.from_dict(json.loads(json.dumps(schedule.to_dict()))) == schedule
    assert "recheck" not in Phase(NEWTON, 50).to_dict()


def test_a_schedule_that_continues_is_stored_and_read():
    schedule = mt.Schedule("way", (mt.Phase(mt.GaussNewton(), 50, continues=mt.Continue("e", 0.5, 5)),))
    assert mt.Schedule.from_dict(json.loads(json.dumps(schedule.to_dict()))) == schedule
    assert "continues" not in mt.Phase(mt.GaussNewton(), 50).to_dict()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.Continue("e"), "a parameter and where it starts"),
        (lambda: mt.Continue("e", "much"), "starts at a number"),
        (lambda: mt.Continue("e", 0.5, 1), "2 or more steps"),
        (lambda: mt.Continue("q", 0.5).values({"e": 1.0}, {}), "no parameter 'q': allowed are e"),
        (lambda: mt.Phase(mt.GaussNewton(), 50, continues=0.5), "a phase continues as"),
        (lambda: mt.Phase(mt.GaussNewton(), 5, continues=mt.Continue("e", 0.5)), "an iteration or more for each step"),
        (lambda: mt.Phase(mt.GaussNewton(), 50, resample=5, continues=mt.Continue("e", 0.5)), "fixed points"),
    ],
)
def test_a_continuation_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ScheduleError, match=message):
        make()
