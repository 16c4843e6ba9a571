"""One play: an ordinary solve, and an outcome even if it diverges."""

from pathlib import Path

import pytest
from tiny import SCHEDULE, Tiny

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
