"""Studies: settings that are kept, decisions that follow from rows, failures, and what is learned."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from tiny import RANDOM, SCHEDULE, SETTINGS, Tiny

import metalic as mt
from metalic.errors import ConditionError, LedgerError, StudyError
from metalic.evaluation.baselines import METHODS
from metalic.study import Study
from metalic.study.play import Outcome

pytestmark = pytest.mark.filterwarnings("error")


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a.same_outcome(b) for a, b in zip(one, other, strict=True))


def test_a_real_study(played: Path) -> None:
    with Study(played, Tiny, read_only=True) as study:
        plays = study.plays
        assert [play.number for play in plays] == list(range(1, 13))
        assert {play.status for play in plays} == {"done"}
        assert all(0.5 <= play.parameters["a"] <= 2.0 for play in plays)
        assert len({play.seed for play in plays}) == 12
        for play in plays:
            assert play.seen == tuple(range(1, play.number))
            for phase in play.phases:
                assert phase.reward == pytest.approx(-math.log10(phase.error or 0))
                assert (phase.mean is None) == (play.number <= 5)
        assert "tiny" in repr(study)
        assert "12 plays" in repr(study)


def test_going_on_equals_never_having_stopped(played: Path, tmp_path: Path) -> None:
    for count in (4, 3, 5):
        with Study(tmp_path / "b.db", Tiny, **SETTINGS) as study:
            study.play(count)
    with Study(tmp_path / "b.db", Tiny) as study, Study(played, Tiny, read_only=True) as whole:
        assert same(study.plays, whole.plays)


def test_an_interrupted_play_is_played_again_with_the_same_decision(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    with Study(path, Tiny, **SETTINGS) as study:
        study.play(7)
        asked = study.ask()
    with Study(path, Tiny) as study:
        assert [play.status for play in study.plays][-1] == "running"
        again = study.ask()
        assert (again.number, again.seed, again.first_row()) == (asked.number, asked.seed, asked.first_row())
        study.tell(again, again.run())
        study.play(4)
        with Study(played, Tiny, read_only=True) as whole:
            assert same(study.plays, whole.plays)


def test_bad_calls(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="say which family"):
        Study(tmp_path / "a.db")
    with Study(tmp_path / "a.db", Tiny, **SETTINGS) as study:
        for plays in (0, -1, 1.5, True):
            with pytest.raises(StudyError, match="at least 1 more play"):
                study.play(plays)  # type: ignore[arg-type]
        for workers in (0, -2, None, 1.5):
            with pytest.raises(StudyError, match=r"worker"):
                study.play(1, workers=workers)
        with pytest.raises(StudyError, match="no Dask scheduler answers"):
            study.play(1, workers="tcp://127.0.0.1:9")
        assert study.plays == []
    with Study(tmp_path / "a.db", Tiny, read_only=True) as study, pytest.raises(StudyError, match="open for reading"):
        study.play(1)


def test_outcomes_are_checked(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        task = study.ask()
        good = tiny.pretend(task)
        bad = Outcome(
            "done", (*good.phases[:1], type(good.phases[1])(**(vars(good.phases[1]) | {"reward": math.nan}))), {}, ""
        )
        with pytest.raises(StudyError, match="finite"):
            study.tell(task, bad)
        with pytest.raises(StudyError, match="2 phases"):
            study.tell(task, Outcome("done", good.phases[:1], {}, ""))
        study.tell(task, good)
        with pytest.raises(StudyError, match="is not running"):
            study.tell(task, good)


def test_plays_in_flight_are_counted(tmp_path: Path, pretending: Any) -> None:
    bandit = mt.Sequential(random_plays=2)
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:
        study.play(3)
        tasks = [study.ask() for _ in range(3)]
        assert [task.number for task in tasks] == [4, 5, 6]
        assert [len(task.chooser.pending) for task in tasks] == [0, 1, 2]
        assert all(len(task.chooser.learned.history) == 3 for task in tasks)
    with Study(tmp_path / "a.db", Tiny) as study:  # all three were lost, and are asked for again as they were
        again = [study.ask() for _ in range(3)]
        assert [task.chooser.first for task in again] == [task.chooser.first for task in tasks]
        assert [task.chooser.pending for task in again] == [task.chooser.pending for task in tasks]


def test_the_first_plays_may_be_given(tmp_path: Path, pretending: Any) -> None:
    bandit = mt.Sequential(first=["x", "textbook", "x"], random_plays=8)
    given = [("x",), ("u",), ("u", "uavg"), ("uavg",), ("u", "uavg", "x"), ("x",)]
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:
        study.play(10)
        plays = study.plays
        assert [study.was_random(play) for play in plays] == [False] * 6 + [True] * 2 + [False] * 2
        chooser = METHODS["learned"].setup(study.settings, study.learned).chooser((0,))
        chooser.begin({"a": 1.0})
        assert chooser.choose(0, None).mean is not None  # a test begins with what was learned
    assert [play.phases[0].conditions for play in plays[:6]] == given
    assert [play.phases[1].conditions for play in plays[:6]] == given
    assert [play.phases[0].mean is None for play in plays] == [True] * 8 + [False] * 2
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:  # the same words mean the same settings
        assert study.settings.bandit_settings.first == (4, 1, 3, 2, 7, 4)
    with pytest.raises(StudyError, match=r"bandit.first was \[4, 1, 3, 2, 7, 4\] and is now"):
        Study(tmp_path / "a.db", Tiny, mt.Sequential(first=["x"], random_plays=8), **SETTINGS)
    with pytest.raises(ConditionError, match="no condition 'y'"):
        Study(tmp_path / "b.db", Tiny, mt.Sequential(first=["u,y"]), **SETTINGS)
    assert not (tmp_path / "b.db").exists()


def test_start_from_another_study(tmp_path: Path, pretending: Any) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
    bandit = mt.Sequential(random_plays=5)
    settings = SETTINGS | {"seed": 9}
    with Study(tmp_path / "b.db", Tiny, bandit, **settings, start_from=tmp_path / "a.db") as study:
        assert len(study.borrowed) == 6
        assert study.finished_count == 0
        study.play(2)
        first = study.plays[0]
        assert first.seen == (-5, -4, -3, -2, -1, 0)
        assert first.phases[0].mean is not None  # six plays are known: no more random ones
    (tmp_path / "a.db").unlink()
    with Study(tmp_path / "b.db", Tiny) as study:
        study.play(1)
        assert study.recommend(a=1.0).plays == 9
    with pytest.raises(StudyError, match=r"its family is tiny"):
        Study(tmp_path / "c.db", "poisson", schedule=SCHEDULE, start_from=tmp_path / "b.db")


def test_sets_given_first_are_played_after_borrowed_ones_too(tmp_path: Path, pretending: Any) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
    bandit = mt.Sequential(first=["x", "u,x"], random_plays=5)
    with Study(tmp_path / "b.db", Tiny, bandit, **SETTINGS, start_from=tmp_path / "a.db") as study:
        study.play(4)
        plays = study.plays
        assert [play.phases[1].conditions for play in plays[:2]] == [("x",), ("u", "x")]
        assert [play.phases[0].mean is None for play in plays] == [True, True, False, False]
        assert not any(study.was_random(play) for play in plays)


def test_contexts_and_seeds_follow_from_the_seed_and_the_number(tmp_path: Path, pretending: Any) -> None:
    tables = []
    for name, seed, bandit in (("a", 3, RANDOM), ("b", 3, mt.Single(policy=mt.Random())), ("c", 4, RANDOM)):
        with Study(tmp_path / f"{name}.db", Tiny, bandit, SCHEDULE, seed=seed) as study:
            study.play(50)
            tables.append([(play.parameters["a"], play.seed) for play in study.plays])
    assert tables[0] == tables[1]
    assert not set(tables[0]) & set(tables[2])
    values = np.array([a for a, _ in tables[0]])
    assert 1.05 < values.mean() < 1.45  # uniform on [0.5, 2]: mean 1.25, deviation 0.06
