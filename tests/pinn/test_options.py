"""Options of the solver: who decides them, what is refused, and how they are stored."""

import json
from dataclasses import replace
from typing import Any

import pytest
from small import ADAM, Line

from metalic.errors import GeometryError, MetalicError, ScheduleError
from metalic.geometry import Points
from metalic.pinn import Phase, Schedule
from metalic.pinn.options import DEFAULTS, VERSION_0_1, SolverOptions

PLAIN = Schedule("plain", (Phase(ADAM, 1),))


class Own(Line):
    solver_options = {"hidden": (7,), "lambda_interface": {"u": 8.0}, "sampling": "grid"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"hidden": "20"}, ScheduleError, "hidden layers"),
        ({"points": 5}, GeometryError, r"Points\(collocation, boundary, interface\), not 5"),
        ({"points": {"inside": 5}}, GeometryError, r"Points\(collocation, boundary, interface\), not"),
        ({"precision": "x"}, ScheduleError, "no precision 'x': allowed are float64, float32"),
        ({"sampling": "x"}, GeometryError, "no sampling 'x': allowed are random, grid, latin, sobol, poisson"),
        ({"scaling": 3}, ScheduleError, "no scaling '3': allowed are subdomain, domain, none"),
        ({"activation": "relu"}, ScheduleError, "no activation 'relu': allowed are tanh, sine"),
        ({"points": {"within": {"1": 0}}}, GeometryError, "numbers by name"),
        ({"lambda_boundary": -1}, ScheduleError, "lambda_boundary is a number of at least 0, not -1"),
        ({"lambda_interface": {"u": "x"}}, ScheduleError, "lambda_interface of 'u' is a number of at least 0, not 'x'"),
        ({"speed": 1}, ScheduleError, "no solver option 'speed': allowed are hidden, points"),
        (5, ScheduleError, "solver options are a mapping"),
    ],
)
def test_what_is_refused(options: Any, error: type[MetalicError], message: str) -> None:
    with pytest.raises(error, match=message):
        SolverOptions.of(options)


@pytest.mark.parametrize("option", [{"hidden": (0,)}, {"lambda_boundary": -1}, {"sampling": "x"}, {"scaling": "x"}])
def test_a_schedule_refuses_the_same(option: dict[str, Any]) -> None:
    with pytest.raises(MetalicError):
        replace(PLAIN, **option)


def test_the_argument_goes_before_the_family_before_the_schedule() -> None:
    carrying = replace(PLAIN, hidden=(5, 5), lambda_boundary=3.0, lambda_interface=2.0, scaling="domain")
    nothing, some = SolverOptions(), SolverOptions(hidden=(9,), lambda_interface={"c": 1.0})
    found = [options.resolve(family, carrying) for options in (nothing, some) for family in (Line(), Own())]
    assert [one.hidden for one in found] == [(5, 5), (7,), (9,), (9,)]
    assert [one.sampling for one in found] == ["sobol", "grid", "sobol", "grid"]
    assert {(one.lambda_boundary, one.scaling, one.precision) for one in found} == {(3.0, "domain", "float64")}
    assert [(one.lambda_interface["u"], one.lambda_interface["c"]) for one in found] == [(2, 2), (8, 2), (2, 1), (8, 1)]
    assert nothing.resolve(Line(), PLAIN).hidden == DEFAULTS.hidden
    assert SolverOptions(points=Points(3, 2, 1)).resolve(Line(), PLAIN).points == Points(3, 2, 1)


def test_weights_of_conditions_that_do_not_exist() -> None:
    with pytest.raises(ScheduleError, match="lambda_interface names no condition 'flux': allowed are u"):
        SolverOptions(lambda_interface={"flux": 1.0}).settled(Line(), PLAIN)


def test_activations_and_points_within_subdomains_are_stored_only_if_used() -> None:
    options = SolverOptions(activation="sine", points=Points(30, 2, 1, within={"2": 50})).settled(Line(), PLAIN)
    stored = json.loads(json.dumps(options.to_dict()))
    points = {"collocation": 30, "boundary": 2, "interface": 1, "within": {"2": 50}}
    assert stored == {"activation": "sine", "points": points}
    assert SolverOptions.of(stored).over(VERSION_0_1) == options
    assert SolverOptions.of({}).over(VERSION_0_1).activation == "tanh"
    assert options.resolve(Line(), PLAIN).activation == "sine"
    plain = SolverOptions(points=Points(30, 2, 1), activation="tanh")
    assert plain.to_dict() == {"points": {"collocation": 30, "boundary": 2, "interface": 1}}


def test_stored_options_leave_out_what_version_0_1_did() -> None:
    assert SolverOptions().settled(Line(), PLAIN).to_dict() == {} == VERSION_0_1.to_dict()
    options = SolverOptions(hidden=(4,), points=Points(3, 2, 1), lambda_interface={"u": 2.0}, precision="float64")
    stored = json.loads(json.dumps(options.to_dict()))
    assert stored == {
        "hidden": [4],
        "lambda_interface": {"u": 2.0},
        "points": {"collocation": 3, "boundary": 2, "interface": 1},
    }
    assert SolverOptions.of(stored) == replace(options, precision=None)
