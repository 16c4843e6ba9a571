"""Settings of a study: solver options are checked at the start, and old ledgers keep what they were begun with."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny import SCHEDULE, SETTINGS, Blind, Tiny

import metalic as mt
from metalic.pinn import options
from metalic.pinn.options import SolverOptions
from metalic.study import Ledger, Study
from metalic.study.knowledge import shipped
from metalic.study.settings import RESIDUAL_POINTS

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
@pytest.mark.parametrize("name", sorted(shipped()))
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
        Study(tmp_path / "a.db", Tiny, solver={"lambda_interface": {"u": 9.0}}).close()
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
    with pytest.raises(mt.MetalicError, match=r"lambda_boundary was 20\.0 and is now 1.0"):
        Study(tmp_path / "old.db", Tiny, solver={"lambda_boundary": 1.0})


def test_residuals_are_measured_on_the_points_of_the_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In new ledgers; in those of version 0.1, which have no mark, on the family's."""
    thinned = replace(SCHEDULE, interface_line=2)
    monkeypatch.setattr(
        "metalic.study.rewards.residual.functional", lambda problem, theta: problem.interface.x.shape[-1] ** 2
    )
    settings = SETTINGS | {"schedule": thinned}
    with Study(tmp_path / "new.db", Blind, **settings) as study:
        assert study.ask().run().phases[0].reward == pytest.approx(-0.301, abs=1e-3)  # log10 of 2 points
    with Ledger(tmp_path / "new.db") as ledger:
        stored = ledger.settings()
    assert stored.pop(RESIDUAL_POINTS) == "schedule"
    Ledger.writer(tmp_path / "old.db", stored).close()
    with Study(tmp_path / "old.db", Blind, **settings) as study:
        assert study.ask().run().phases[0].reward == pytest.approx(-0.602, abs=1e-3)  # of the family's 4
    Study(tmp_path / "error.db", Tiny, **settings).close()
    with Ledger(tmp_path / "error.db") as ledger:
        assert RESIDUAL_POINTS not in ledger.settings()
