"""Every wrong argument of a solve: the right kind of error, which names the culprit and says what is allowed."""

import numpy as np
import pytest
from small import ADAM, HIDDEN, POINTS, Line, untrained

import metalic as mt
from metalic.errors import (
    ConditionError,
    FamilyError,
    GeometryError,
    LibraryError,
    ParameterError,
    ScheduleError,
)
from metalic.pinn import Phase
from metalic.solving import solve
from metalic.study.warm import Warm

ONE = [Phase(ADAM, 1)]


def attempt(family=Line, conditions="u", schedule=ONE, **settings):
    settings = {"hidden": HIDDEN, "points": POINTS, **({"k": 2.0} if family is Line else {})} | settings
    return solve(family, conditions, schedule, **settings)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        # the family
        ({"family": "poison"}, FamilyError, "no family 'poison': allowed are .* Did you mean 'poisson'.* Your own"),
        ({"family": "nowhere.py:Mine"}, FamilyError, "no file 'nowhere.py'"),
        # its parameters
        ({"family": "poisson"}, ParameterError, r"'s' is missing; .* s in \[0, 50\]"),
        ({"q": 1.0}, ParameterError, r"no parameter 'q'; its parameters: k in \[1, 2.5\]"),
        ({"k": "two"}, ParameterError, "k='two' is not a number"),
        ({"k": float("nan")}, ParameterError, "k=nan is not a finite number"),
        ({"k": 3.0}, ParameterError, r"k=3 is outside its box \[1, 2.5\]; extrapolate=True"),
        ({"k": float("inf"), "extrapolate": True}, ParameterError, "not a finite number"),
        # the conditions
        ({"conditions": "flux"}, ConditionError, "no condition 'flux' for family 'line': allowed are u, c"),
        ({"conditions": ["u", "uu"]}, ConditionError, "no condition 'uu'.* Did you mean 'u'"),
        ({"conditions": 4}, ConditionError, r"index 4 is outside 0\.\.3"),
        ({"conditions": [1, 1, 1]}, ConditionError, "0/1 vector of conditions has 2 entries"),
        ({"conditions": "u;c"}, ScheduleError, "2 sets of conditions for the 1 phases"),
        ({"conditions": [["u"], ["c"], ["u"]]}, ScheduleError, "3 sets of conditions for the 1 phases"),
        ({"conditions": 1.5}, ConditionError, "1.5"),
        ({"conditions": ["u,c"]}, ConditionError, "ambiguous: write 'u,c'"),
        ({"conditions": [["u"], "c"]}, ConditionError, "ambiguous: write 'u,c'"),
        ({"conditions": [3]}, ConditionError, "0/1 vector of conditions has 2 entries"),
        ({"conditions": lambda phase, loss: "flux"}, ConditionError, "no condition 'flux'"),
        ({"conditions": lambda phase, loss: None}, ConditionError, "None"),
        # the schedule
        ({"schedule": "fats"}, ScheduleError, "no schedule 'fats': allowed are paper, fast, .* Did you mean 'fast'"),
        ({"schedule": []}, ScheduleError, "at least one phase"),
        ({"schedule": [ADAM]}, ScheduleError, "a schedule is a name, a Schedule or a sequence of Phase"),
        ({"schedule": 5}, ScheduleError, "a schedule is a name, a Schedule or a sequence of Phase, not 5"),
        ({"schedule": ADAM}, ScheduleError, "a schedule is a name, a Schedule or a sequence of Phase"),
        # settings
        ({"seed": -1}, ScheduleError, "seed is an integer of at least 0, not -1"),
        ({"seed": 1.5}, ScheduleError, "seed is an integer of at least 0, not 1.5"),
        ({"seed": None}, ScheduleError, "seed is an integer of at least 0, not None"),
        ({"precision": "float16"}, ScheduleError, "no precision 'float16': allowed are float64, float32"),
        ({"sampling": "halton"}, GeometryError, "no sampling 'halton': allowed are random, grid"),
        ({"scaling": "unit"}, ScheduleError, "no scaling 'unit': allowed are subdomain, domain, none"),
        ({"hidden": ()}, ScheduleError, "hidden layers"),
        ({"hidden": (20, 0)}, ScheduleError, r"hidden layers .* not \(20, 0\)"),
        ({"hidden": 20}, ScheduleError, "hidden layers .* not 20"),
        ({"points": 500}, GeometryError, "Points.* not 500"),
        ({"lambda_boundary": -1.0}, ScheduleError, "lambda_boundary.* not -1"),
        ({"lambda_interface": float("nan")}, ScheduleError, "lambda_interface.* not nan"),
    ],
)
def test_a_wrong_argument_is_reported(arguments, error, message):
    with pytest.raises(error, match=message):
        attempt(**arguments)


# --- Families that are wrong show it before anything is compiled -----------------------------------------------------


def changed(**body):
    return type("Mine", (Line,), body)


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ({"residual": lambda self, u, p, k: None}, FamilyError, "'mine': residual: a law returned nothing"),
        ({"residual": lambda self, u, p, k: u.xx * np.ones(3)}, FamilyError, r"'mine': residual.* shape \(3,\)"),
        ({"residual": lambda self, u, p, k: u.yy}, FamilyError, r"'mine': residual: 'u\.yy' is not a derivative"),
        ({"residual": lambda self, u, p: u.xx}, FamilyError, "'mine': residual cannot be evaluated .*'k'"),
        ({"residual": mt.Family.residual}, FamilyError, "'mine' has no method 'residual'"),
        ({"boundary": mt.Family.boundary}, FamilyError, "'mine' has no method 'boundary'"),
        ({"boundary": lambda self: None}, FamilyError, "'mine': boundary.*list"),
        ({"boundary": lambda self: [3.0]}, FamilyError, "'mine': boundary"),
        ({"boundary": lambda self: [mt.Dirichlet("y=0", 0.0)]}, GeometryError, "no face 'y=0': allowed are x=min"),
        ({"boundary": lambda self: [mt.Dirichlet("x=0", np.ones(2))]}, FamilyError, "'mine': boundary condition 1"),
        ({"flux": lambda self, u, p, k: u.x}, FamilyError, "'mine': condition 'c'"),
        ({"flux": lambda self, u, p, k: {"y": u.x}}, FamilyError, "'mine': condition 'c'"),
        ({"conditions": ("u", "z")}, ConditionError, "'mine' lists condition 'z'"),
        ({"reference": lambda self, k: lambda points: np.ones(7)}, FamilyError, r"'mine': the reference .*\(7,\)"),
        ({"reference": lambda self, k: 3.0}, FamilyError, "'mine': the reference"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_wrong_family_is_reported(body, error, message):
    with pytest.raises(error, match=message):
        attempt(changed(**body), "all", k=2.0)


def test_a_decomposition_that_overlaps_or_has_a_hole_is_reported_when_it_is_made():
    box = mt.Box(x=(0, 1))
    with pytest.raises(GeometryError, match="'a' and 'b' overlap"):
        mt.Decomposition(box, {"a": mt.Box(x=(0, 0.6)), "b": mt.Box(x=(0.5, 1))})
    with pytest.raises(GeometryError, match="hole"):
        mt.Decomposition(box, {"a": mt.Box(x=(0, 0.4)), "b": mt.Box(x=(0.5, 1))})


# --- Where a solve starts --------------------------------------------------------------------------------------------


def test_a_library_of_the_package_is_used_unless_something_is_given(tmp_path, monkeypatch):
    """Conditions, a schedule, options and `cold` turn it off; a start of one's own goes first."""
    path = tmp_path / "line.db"
    with mt.Library(path, Line) as library:
        library.add(untrained(Line, error=1e-4))
    monkeypatch.setattr("metalic.solving.shipped_library", lambda family: path)
    used = []
    monkeypatch.setattr(Warm, "solve", lambda self, values: used.append(str(self.library.path)) or "warm")
    monkeypatch.setattr("metalic.solving.train", lambda *_, start, **__: start)
    assert solve(Line, k=2.0) == "warm"
    assert solve(Line, k=2.0, seed=3) == "warm"
    given = [{"conditions": "u"}, {"schedule": "fast"}, {"cold": True}, {"hidden": (5,)}, {"points": POINTS}]
    for arguments in [*given, {"lambda_boundary": 20.0}, {"precision": "float32"}, {"scaling": "none"}]:
        assert solve(Line, k=2.0, **arguments) is None, arguments
    weights = np.zeros((2, 16))
    assert solve(Line, k=2.0, start=weights) is weights
    assert solve(Line, k=2.0, start=path) == "warm"
    (nearest,) = solve(Line, "u", k=2.0, start=path)
    assert (nearest.source, nearest.kind) == (str(path), "nearest")
    assert used == 3 * [str(path)]


def test_what_a_study_of_the_package_has_learned_is_used_unless_something_is_given():
    """Cut in the middle, the layer of this member is missed."""
    learned = mt.solve("layer", pe=333, check=True)
    assert learned.phases[-1].decision.choices["cut"] != 0.5
    assert learned.error < 1e-4
    assert learned.checked.verdict == "good"
    quick = [mt.Phase(mt.GaussNewton(), 5)]
    for given in ({"cold": True}, {"conditions": "u,c"}, {"schedule": quick}, {"hidden": (10, 10)}):
        usual = mt.solve("layer", pe=20, check=False, **given)
        assert usual.family.decomposition == mt.find_family("layer").decomposition


def test_a_library_without_a_member_to_start_from_is_reported(tmp_path):
    with mt.Library(tmp_path / "bad.db", Line) as library:
        library.add(untrained(Line, error=0.5))
    for start in (library, library.path, mt.Library(tmp_path / "empty.db", Line)):
        with pytest.raises(LibraryError, match=r"has no member that a solve could start from: it has \d member"):
            attempt(start=start)
