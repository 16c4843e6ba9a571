"""One play: an ordinary solve, and an outcome even if it diverges."""

from pathlib import Path
from typing import Any

import pytest
from tiny import RANDOM, SCHEDULE, SETTINGS, Tiny

import metalic as mt
from metalic.study import Study

pytestmark = pytest.mark.filterwarnings("error")


def test_a_row_can_be_solved_again(played: Path) -> None:
    """What a row says is enough to get its error by a plain solve."""
    with Study(played, Tiny, read_only=True) as study:
        play = study.plays[6]
    sets = [phase.conditions for phase in play.phases]
    choose = lambda phase, loss: sets[phase]  # noqa: E731
    solution = mt.solve(Tiny(), choose, SCHEDULE, seed=play.seed, hidden=(4,), parameters=play.parameters)
    assert solution.error == play.error


def test_a_play_keeps_its_check_on_request(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**SETTINGS, "bandit": RANDOM}
    with Study(tmp_path / "a.db", Tiny, **settings, check=True) as study:
        study.play(2)
        row, sets = study.plays[0], [play.sets for play in study.plays]
        solution = study.task(row, study.plays).solve()
    found = solution.check()
    assert (row.estimate, row.verdict) == (found.estimate, found.verdict)
    with Study(tmp_path / "b.db", Tiny, **settings) as study:
        study.play(2)
        assert [(play.estimate, play.verdict) for play in study.plays] == [(None, None)] * 2
        assert [play.sets for play in study.plays] == sets


def test_a_diverged_play_is_an_outcome(tmp_path: Path) -> None:
    wild = (mt.Phase(mt.Adam(1e300), 5), mt.Phase(mt.Adam(1e-3), 5))
    bandit = mt.Sequential(random_plays=2)
    with Study(tmp_path / "a.db", Tiny, bandit, wild, solver={"hidden": (4,)}) as study:
        study.play(3)
        plays = study.plays
        assert {play.status for play in plays} == {"diverged"}
        assert all(play.error == 100.0 and play.reward == -2.0 for play in plays)
        assert plays[0].phases[-1].stop_reason == "diverged (loss not finite)"
        assert study.recommend(a=1.0).expected == pytest.approx(100.0)
