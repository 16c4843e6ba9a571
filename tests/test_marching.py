"""Slab after slab, against exact solutions."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from small import Line, Ring

import metalic as mt
from metalic import marching
from metalic.errors import FamilyError, ParameterError, ScheduleError

POINTS = mt.Points(24, 1, 1)
NEWTON = mt.Phase(mt.GaussNewton(), 60)
SCHEDULE = mt.Schedule("march", (mt.Phase(mt.Adam(1e-2), 20), NEWTON))


class Swing(mt.Family):
    """u'' = -k^2 u with u(0) = 1 and u'(0) = 0: u = cos(k t)."""

    parameters = {"k": (0.5, 3.0)}
    domain = mt.Box(t=(0, 12))
    decomposition = mt.split(domain, t=[6])
    conditions = ("u", "t")
    grid = (241,)

    def residual(self, u, p, k):
        return u.tt + k**2 * u

    def boundary(self):
        return [mt.Dirichlet("t=0", 1.0), mt.Neumann("t=0", 0.0)]

    def reference(self, k):
        return lambda points: np.cos(k * points[:, 0])


class Waves(mt.Family):
    """Two waves in two materials with the same speed, u = sin(pi x) cos(pi t) and v = u_t, as a system; cut in x."""

    domain = mt.Box(x=(0, 1), t=(0, 3))
    decomposition = mt.split(domain, x=[0.4])
    components = ("u", "v")
    coefficients = {"k": {"1": 1.0, "2": 1.0}}
    conditions = ("u", "x")
    grid = (21, 31)

    def residual(self, u, p):
        return u.u.t - u.v, u.v.t - p.k * u.u.xx

    def boundary(self):
        return [
            mt.Dirichlet("t=0", "x=0", "x=1", lambda p: jnp.sin(jnp.pi * p.x) * jnp.cos(jnp.pi * p.t), of="u"),
            mt.Dirichlet("t=0", 0.0, of="v"),
        ]

    def reference(self):
        def values(points):
            x, t = np.pi * points.T
            return np.stack([np.sin(x) * np.cos(t), -np.pi * np.sin(x) * np.sin(t)], axis=-1)

        return values


@pytest.fixture(scope="module")
def swing():
    return mt.march(Swing, "u,t", SCHEDULE, steps=6, k=2.0, hidden=(8,), points=POINTS)


def test_a_march_reaches_what_one_solve_misses(swing):
    at_once = mt.solve(Swing, "u,t", SCHEDULE, k=2.0, hidden=(8,), points=POINTS)
    assert at_once.error > 1e-2
    assert swing.error < 1e-3
    t = np.linspace(0, 12, 100)
    np.testing.assert_allclose(swing(t=t), np.cos(2 * t), atol=3e-3)
    np.testing.assert_allclose(swing.d("t")(t=t), -2 * np.sin(2 * t), atol=2e-2)


def test_a_march_is_one_solution_of_all_slabs(swing):
    assert swing.parameters == {"k": 2.0}
    assert swing.family.decomposition.names[:3] == ("1@1", "2@1", "1@2")
    assert [len(array) for array in (swing.theta, swing.centre, swing.slope, swing.collocation)] == [12] * 4
    assert [phase.optimizer for phase in swing.phases[:3]] == ["adam", "gauss-newton", "gauss-newton"]
    found = swing.check()
    assert found.good
    assert swing.error / 10 < found.estimate < 10 * swing.error


def test_a_march_is_saved_and_loaded(swing, tmp_path):
    path = swing.save(tmp_path / "a.npz")
    again = mt.Solution.load(path, Swing)
    t = np.linspace(0, 12, 50)
    np.testing.assert_array_equal(again(t=t), swing(t=t))
    assert (again.slabs, again.error, again.family) == (6, swing.error, swing.family)


def test_waves_run_through_slabs_and_materials():
    solution = mt.march(Waves, "u,x", SCHEDULE, steps=3, hidden=(10,), points=mt.Points(60, 30, 12))
    assert solution.error < 0.06  # 60 iterations; a wave that forgot its velocity would be off by its own size
    assert solution.family.coefficients == {"k": {f"{k}@{n}": 1.0 for n in (1, 2, 3) for k in "12"}}


def test_a_bad_march_is_reported():
    with pytest.warns(mt.MetalicWarning, match=r"swing: .*estimated relative error"):
        found = mt.march(Swing, "u,t", [mt.Phase(mt.GaussNewton(), 1)], steps=2, k=2.0, hidden=(8,), check=True)
    assert found.checked is not None
    assert found.checked.verdict == "wrong"


def test_a_slab_that_is_lost_is_solved_cold(swing, monkeypatch):
    monkeypatch.setattr(marching, "LOST", 0.0)  # every warm slab is
    found = mt.march(Swing, "u,t", SCHEDULE, steps=6, k=2.0, hidden=(8,), points=POINTS)
    assert found.error < 1e-3
    assert [phase.optimizer for phase in found.phases].count("adam") == 6
    assert len(found.phases) == 2 + 5 * 3
    cold = mt.march(Swing, "u,t", SCHEDULE, steps=2, k=0.5, hidden=(8,), points=POINTS, cold=True)
    assert [phase.optimizer for phase in cold.phases] == 2 * ["adam", "gauss-newton"]
    assert cold.error < 1e-3


class Late(Swing):
    """The equation is not a number after t = 8."""

    def residual(self, u, p, k):
        return jnp.where(p.t < 8, u.tt + k**2 * u, jnp.nan)


def test_a_march_that_diverges_says_so():
    found = mt.march(Late, "u,t", SCHEDULE, steps=6, k=1.0, hidden=(8,), points=POINTS)
    assert found.diverged
    assert found.error == 100
    np.testing.assert_allclose(found(t=[1.0, 7.0]), np.cos([1.0, 7.0]), atol=1e-2)
    assert np.isnan(found(t=[9.0, 11.0])).all()
    assert found.check().verdict == "wrong"


class Ended(Swing):
    def boundary(self):
        return [mt.Dirichlet("t=0", "t=12", 1.0)]


class Unbegun(Waves):
    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", 0.0, of="u")]


class Cycle(Swing):
    def boundary(self):
        return [mt.Periodic("t")]


class Layered(Swing):
    coefficients = {"k": {"1": 1.0, "2": 2.0}}


class Growing(Swing):
    domain = mt.Union(mt.Box(x=(0, 1), t=(0, 2)), mt.Box(x=(1, 2), t=(1, 2)))
    decomposition = mt.split(domain, x=[1])


@pytest.mark.parametrize(
    ("family", "arguments", "error", "message"),
    [
        (Line, {"k": 2.0}, FamilyError, "its coordinates are x, without a time t"),
        (Ring, {}, FamilyError, "without a time t"),
        (Ended, {"k": 2.0}, FamilyError, "conditions at t=12, the end"),
        (Cycle, {"k": 2.0}, FamilyError, "conditions at t=12, the end"),
        (Unbegun, {}, FamilyError, "no condition at t=0, the beginning"),
        (Layered, {"k": 2.0}, FamilyError, "coefficients change where it is cut in time"),
        (Growing, {"k": 2.0}, FamilyError, "its domain changes with time"),
        (Swing, {"k": 2.0, "steps": 0}, ScheduleError, "1 or more steps, not 0"),
        (Swing, {"k": 2.0, "steps": 2.5}, ScheduleError, "1 or more steps, not 2.5"),
        (Swing, {"k": 2.0, "start": "a.npz"}, ScheduleError, "starts every slab from the one before"),
        (Swing, {"k": 2.0, "tolerance": 1e-3}, ScheduleError, "a march has no option 'tolerance'"),
        (Swing, {"k": 2.0, "hidden": (0,)}, ScheduleError, "hidden layers of at least one unit"),
        (Swing, {"k": 5.0}, ParameterError, "outside its box"),
        (Swing, {"q": 5.0}, ParameterError, "no parameter 'q'"),
    ],
)
def test_what_cannot_be_marched_is_reported_before_anything_is_solved(family, arguments, error, message, monkeypatch):
    monkeypatch.setattr(marching, "train", lambda *_, **__: pytest.fail("something was solved"))
    with pytest.raises(error, match=message):
        mt.march(family, **arguments)


def test_the_command_marches(command):
    family = f"{Path(__file__).resolve()}:Swing"
    words = ["march", family, "-p", "k=1", "--steps", "3", "--hidden", "6", "--points", "20,1,1", "--quiet"]
    said = command(*words, "--schedule", "quick", "--json", "--no-check", "--out", "a.npz")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["slabs"] == 3
    assert mt.Solution.load("a.npz", Swing).error == found["error"] < 0.1
    said = command("march", family, "-p", "k=1", "--steps", "0")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    said = command("march", "poisson", "-p", "s=5")
    assert said.code == 2
    assert "without a time t" in said.err
