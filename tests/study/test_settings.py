"""Settings of a study: checked before a file is made, kept in it, compared by name; old ledgers keep their own."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny
from tiny import SCHEDULE, SETTINGS, Blind, Tiny

import metalic as mt
from metalic.errors import StudyError
from metalic.pinn import SCHEDULES, options
from metalic.pinn.options import DEFAULTS, SolverOptions
from metalic.study import Ledger, Study
from metalic.study.settings import RESIDUAL_POINTS

pytestmark = pytest.mark.filterwarnings("error")

ASSET = Path(__file__).parent / "assets" / "ledger-v1.db"


@pytest.fixture
def other_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults as a later version may have them."""
    later = SolverOptions(hidden=(30, 30), precision="float32", lambda_boundary=1.0, lambda_interface=2.0)
    monkeypatch.setattr(options, "DEFAULTS", later)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ({"sampling": "x"}, "no sampling 'x': allowed are random"),
        ({"precision": "x"}, "no precision 'x': allowed are float64"),
        ({"scaling": "x"}, "no scaling 'x': allowed are subdomain"),
        ({"lambda_boundary": -1}, "lambda_boundary is a number of at least 0, not -1"),
        ({"lambda_interface": {"flux": 1}}, "lambda_interface names no condition 'flux': allowed are u, uavg, x"),
        ({"points": 5}, "Points.* not 5"),
    ],
)
def test_wrong_options_leave_no_file(tmp_path: Path, solver: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.MetalicError, match=message):
        Study(tmp_path / "a.db", Tiny, solver=solver)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("other_defaults")
@pytest.mark.parametrize("name", ["advection", "burgers", "poisson", "reaction"])
def test_shipped_ledgers_keep_networks_and_weights(name: str) -> None:
    with Study(name, read_only=True) as study:
        used = study.settings.options.resolve(study.family, study.settings.schedule)
        assert study.settings.to_dict()["solver"] == {}
    assert (used.hidden, used.precision, used.lambda_boundary) == ((20, 20), "float64", 20.0)
    assert set(used.lambda_interface.values()) == {5.0}
    assert used.points == study.settings.schedule.points(study.family)
    assert (used.sampling, used.scaling) == ("sobol", "subdomain")


@pytest.mark.usefixtures("other_defaults")
def test_the_oldest_ledger_keeps_its_weights(tmp_path: Path) -> None:
    shutil.copy(ASSET, tmp_path / "a.db")
    with pytest.warns(UserWarning, match="changed"), Study(tmp_path / "a.db", Tiny, read_only=True) as study:
        used = study.settings.options.resolve(study.family, study.settings.schedule)
    assert (used.hidden, used.precision, used.lambda_boundary) == ((4,), "float64", 20.0)
    assert set(used.lambda_interface.values()) == {5.0}


def test_a_ledger_keeps_the_defaults_it_was_begun_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(options, "DEFAULTS", replace(options.DEFAULTS, hidden=(30, 30), lambda_interface=2.0))
        Study(tmp_path / "a.db", Tiny, schedule=SCHEDULE, solver={"lambda_interface": {"u": 9.0}}).close()
    with Study(tmp_path / "a.db", Tiny) as study:
        used = study.settings.options.resolve(study.family, study.settings.schedule)
    assert used.hidden == (30, 30)
    assert used.lambda_interface == {"u": 9.0, "uavg": 2.0, "x": 2.0}


def test_a_schedule_carries_networks_and_weights(tmp_path: Path) -> None:
    carrying = replace(SCHEDULE, hidden=(6,), lambda_boundary=3.0)
    Study(tmp_path / "a.db", Tiny, schedule=carrying).close()
    with Study(tmp_path / "a.db", Tiny) as study:
        assert study.settings.schedule == carrying
        assert (study.settings.options.hidden, study.settings.options.lambda_boundary) == ((6,), 3.0)
    with Study(tmp_path / "b.db", Tiny, schedule=carrying, solver={"hidden": (7,)}) as study:
        assert study.settings.options.hidden == (7,)


@pytest.mark.parametrize("written", [{"hidden": [20, 20]}, {"lambda_interface": {"u": 7.0}}, {"precision": "float64"}])
def test_options_that_an_old_ledger_wrote_out(tmp_path: Path, written: dict[str, Any]) -> None:
    """Version 0.1 stored what was given, defaults too, and weights of some conditions only."""
    Study(tmp_path / "new.db", Tiny).close()
    with Ledger(tmp_path / "new.db") as ledger:
        stored = ledger.settings()
    Ledger.writer(tmp_path / "old.db", {**stored, "solver": written}).close()
    for given in (None, written):
        with Study(tmp_path / "old.db", Tiny, solver=given) as study:
            used = study.settings.options.resolve(study.family, study.settings.schedule)
    assert used.hidden == (20, 20)
    assert used.lambda_interface["uavg"] == 5.0
    with pytest.raises(mt.MetalicError, match=r"lambda_boundary was 20\.0 and is now 1\.0"):
        Study(tmp_path / "old.db", Tiny, solver={"lambda_boundary": 1.0})


def test_residuals_are_measured_on_the_points_of_the_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In new ledgers; in those of version 0.1, which have no mark, on the family's."""
    thinned = replace(SCHEDULE, interface_line=2)
    monkeypatch.setattr(
        "metalic.study.rewards.residual.functional", lambda problem, theta: problem.interface.x.shape[-1] ** 2
    )
    settings = SETTINGS | {"schedule": thinned, "reward": "residual"}
    with Study(tmp_path / "new.db", Blind, **settings) as study:
        assert study.ask().run().phases[0].reward == pytest.approx(-0.301, abs=1e-3)  # log10 of 2 points
    with Ledger(tmp_path / "new.db") as ledger:
        stored = ledger.settings()
    assert stored.pop(RESIDUAL_POINTS) == "schedule"
    Ledger.writer(tmp_path / "old.db", stored).close()
    with Study(tmp_path / "old.db", Blind, **settings) as study:
        assert study.ask().run().phases[0].reward == pytest.approx(-0.602, abs=1e-3)  # of the family's 4
    Study(tmp_path / "error.db", Tiny, **settings | {"reward": "error"}).close()
    with Ledger(tmp_path / "error.db") as ledger:
        assert RESIDUAL_POINTS not in ledger.settings()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 4}, "seed was 3 and is now 4"),
        ({"schedule": "quick"}, "schedule.name was tiny and is now quick"),
        ({"bandit": mt.Single()}, "bandit.name was sequential and is now single"),
        ({"bandit": mt.Sequential(policy=mt.UCB(c=2.0))}, "bandit.policy.c was 1.0 and is now 2.0"),
        ({"reward": "residual"}, "reward was error and is now residual"),
        ({"reward": "error+time:30"}, "reward was error and is now error"),
        ({"solver": {"hidden": (5,)}}, "solver.hidden was"),
        ({"family": "poisson"}, "family.name was tiny and is now poisson"),
    ],
)
def test_other_settings_are_refused_and_named(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    Study(tmp_path / "a.db", Tiny, **SETTINGS).close()
    with pytest.raises(StudyError, match=named):
        Study(tmp_path / "a.db", **({"family": Tiny, **SETTINGS} | changed))
    Study(tmp_path / "a.db", Tiny, **SETTINGS).close()


def test_settings_are_found_in_the_file(tmp_path: Path) -> None:
    bandit = mt.Single(policy=mt.Thompson(joint=True), kernel="paper", random_plays=2)
    schedule = (mt.Phase(mt.Adam(1e-3), 3), mt.Phase(mt.GaussNewton(damping=0.5), 2, resample=1))
    solver = {"hidden": (4, 4), "points": mt.Points(9, 8, 7), "precision": "float32"}
    Study(tmp_path / "a.db", "poisson", bandit, schedule, "error+time:120", 7, solver=solver).close()
    with Study(tmp_path / "a.db") as study:
        assert study.settings.bandit_settings == bandit
        assert study.settings.schedule == mt.Schedule("custom", schedule)
        assert study.settings.options == SolverOptions(**solver).over(DEFAULTS)
        assert (study.settings.reward.exchange, study.settings.seed) == (120.0, 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "poison"}, "no family"),
        ({"schedule": "slow"}, "no schedule"),
        ({"seed": -1}, "seed"),
        ({"reward": "luck"}, "no reward 'luck'"),
        ({"reward": "error:3"}, "takes no number"),
        ({"reward": "error+time:0"}, "positive number of seconds"),
        ({"family": tiny.Blind, "reward": "error"}, "needs a reference"),
        ({"solver": {"speed": 2}}, "no solver option 'speed'"),
        ({"schedule": [mt.Phase(mt.Adam(), 3, conditions="u")]}, "fixes the conditions"),
        ({"bandit": mt.Sequential(kernel="nice")}, "nice"),
        ({"start_from": "nothing.db"}, "there is no ledger"),
        ({"start_from": "heat"}, "no ready-made ledger"),
    ],
)
def test_bad_settings_leave_no_file(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.MetalicError, match=message):
        Study(tmp_path / "a.db", **({"family": Tiny} | arguments))
    assert not list(tmp_path.iterdir())


def test_a_changed_family_file_is_warned_of(tmp_path: Path) -> None:
    source = Path(tiny.__file__).read_text()
    own = tmp_path / "own.py"
    own.write_text(source)
    Study(tmp_path / "a.db", f"{own}:Tiny", **SETTINGS).close()
    Study(tmp_path / "a.db", f"{own}:Tiny").close()
    own.write_text(source + "\n")
    with pytest.warns(UserWarning, match="'tiny' has changed"):
        Study(tmp_path / "a.db", f"{own}:Tiny").close()


def test_the_name_of_a_schedule_means_what_it_meant_when_the_ledger_was_begun() -> None:
    """The shipped ledgers are older than the networks of `fast`."""
    with Study("poisson", schedule="fast", read_only=True) as study:
        kept = study.settings.schedule
    assert (kept.hidden, kept.lambda_boundary, kept.shrink, kept.balance) == (None, None, False, False)


def test_a_new_ledger_keeps_the_networks_of_its_schedule(tmp_path: Path) -> None:
    with Study(tmp_path / "new.db", Tiny, schedule="fast") as study:
        begun = study.settings
    with Study(tmp_path / "new.db", Tiny) as study:
        assert study.settings.schedule == begun.schedule == SCHEDULES["fast"]
        assert study.settings.options.hidden == (12,) * 4
        assert study.settings.options.lambda_boundary == 200.0
