"""Trials: plays with a method in the place of a bandit."""

from pathlib import Path

import decay
import pytest

import metalic as mt
from metalic.evaluation.offline import run_test
from metalic.study import Study


def test_a_trial_is_an_ordinary_solve(short_study: Study, tmp_path: Path) -> None:
    found = run_test(short_study, tmp_path / "t.db", pdes=1, methods=("pinn-sub", "learned"))
    row, learned = found.rows["pinn-sub"][1], found.rows["learned"][1]
    whole = mt.solve(
        decay.Decay().undivided(), (), decay.SCHEDULE, seed=row.seed, parameters=row.parameters, **decay.SOLVER
    )
    assert row.error == pytest.approx(whole.error, rel=1e-9)
    advice = short_study.recommend(row.parameters)
    again = mt.solve(decay.Decay(), advice, decay.SCHEDULE, seed=row.seed, parameters=row.parameters, **decay.SOLVER)
    assert learned.error == pytest.approx(again.error, rel=1e-9)
    assert [phase.conditions for phase in learned.phases] == list(again.conditions)
