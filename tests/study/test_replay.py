"""Plays and decisions taken again from a ledger: the same bits, and a difference is reported."""

import json
import math
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import tiny
from tiny import HERE, SETTINGS, Tiny

import metalic as mt
from metalic.errors import LedgerError, StudyError
from metalic.study import Study
from metalic.study.replay import redecide, replay

OLD = "DELETE FROM settings WHERE key = 'checksum'; PRAGMA user_version = 1;"
FAMILY = f"{HERE / 'tiny.py'}:Tiny"


def fill(study: Study, plays: int, flying: int) -> None:
    """Pretended plays, up to `flying` of them in flight at once, that end in an order of their own."""
    chance, tasks = random.Random(1), [study.ask()]
    for _ in range(plays - 1):
        if len(tasks) == flying:
            while len(tasks) > chance.randrange(flying // 2):
                task = tasks.pop(chance.randrange(len(tasks)))
                study.tell(task, RuntimeError("lost") if task.number % 50 == 7 else tiny.pretend(task))
        tasks.append(study.ask())
    for task in tasks:
        study.tell(task, tiny.pretend(task))


@pytest.mark.parametrize(("count", "flying"), [(40, 10), pytest.param(200, 20, marks=pytest.mark.soak)])
def test_all_decisions_of_a_parallel_study_are_reproduced(count: int, flying: int, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Study(path, Tiny, mt.Sequential(policy=mt.UCB()), **SETTINGS) as study:
        fill(study, count, flying)
    with Study(path, Tiny, read_only=True) as study:
        plays = study.plays
        found = list(redecide(study))
    assert len(plays) == count
    assert max(len(play.pending) for play in plays) >= 8
    assert any(play.status == "failed" for play in plays)
    assert sum(play.phases[0].mean is not None for play in plays) == count - 5
    assert [(one.play, one.phase) for one in found] == [
        (play.number, phase) for play in plays for phase in range(len(play.phases))
    ]
    assert all(one.identical and one.reproduced for one in found)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "tiny.db"
    with Study(path, FAMILY, mt.Sequential(random_plays=2), **SETTINGS) as study:
        study.play(4)
    return path


def changed(played: Path, tmp_path: Path, statement: str) -> Path:
    """A copy of schema version 1 (no checksums) with something else in it."""
    path = tmp_path / "changed.db"
    path.write_bytes(played.read_bytes())
    db = sqlite3.connect(path)
    db.executescript(statement)
    db.close()
    return path


def test_a_play_is_played_again_bit_for_bit(played: Path) -> None:
    with Study(played, Tiny, read_only=True) as study:
        found = replay(study, 4)
    assert found.identical
    assert found.distance == 0.0
    assert [decision.identical for decision in found.decisions] == [True, True]
    assert found.elsewhere == {}
    json.dumps(found.to_dict(), allow_nan=False)


def test_how_far_a_play_is_is_reported(played: Path, tmp_path: Path) -> None:
    path = changed(played, tmp_path, f"UPDATE phases SET error = error * 1.25 WHERE play = 3 AND phase = 1; {OLD}")
    with Study(path, Tiny, read_only=True) as study:
        found = replay(study, 3)
    assert not found.identical
    assert found.distance == pytest.approx(0.2)


def test_a_decision_that_cannot_be_reproduced_is_reported(played: Path, tmp_path: Path) -> None:
    """Other rewards than those that the decisions saw."""
    path = changed(played, tmp_path, f"UPDATE phases SET reward = 50 * phase - reward * play; {OLD}")
    with Study(path, Tiny, read_only=True) as study:
        found = list(redecide(study))
    assert not all(one.identical for one in found)
    assert all(one.identical for one in found if one.play <= 2)  # random ones saw nothing
    for one in found:
        assert one.reproduced == (one.written == one.found)
        json.dumps(one.to_dict(), allow_nan=False)


def test_rows_that_were_seen_must_be_there(played: Path, tmp_path: Path) -> None:
    path = changed(played, tmp_path, f"DELETE FROM phases WHERE play = 1; DELETE FROM plays WHERE number = 1; {OLD}")
    with Study(path, Tiny, read_only=True) as study, pytest.raises(LedgerError, match="play 2 has seen play 1"):
        list(redecide(study))


def test_plays_that_cannot_be_replayed(played: Path, tmp_path: Path) -> None:
    with Study(played, Tiny, read_only=True) as study:
        for number in (0, 5, -3):
            with pytest.raises(StudyError, match=f"no play {number} in this ledger; its plays: 1 to 4"):
                replay(study, number)
    with Study(tmp_path / "b.db", Tiny, **SETTINGS) as study:
        with pytest.raises(StudyError, match="none yet"):
            replay(study, 1)
        study.ask()
        with pytest.raises(StudyError, match="play 1 is running"):
            replay(study, 1)


def test_a_play_that_diverged_is_the_same_again(tmp_path: Path) -> None:
    wild = (mt.Phase(mt.Adam(1e300), 5), mt.Phase(mt.Adam(1e-3), 5))
    with Study(tmp_path / "a.db", Tiny, schedule=wild, solver={"hidden": (4,)}, reward="error+time:30") as study:
        study.play(1)
        found = replay(study, 1)
    assert found.identical
    assert not math.isfinite(found.found[-1].loss or math.nan)
    json.dumps(found.to_dict(), allow_nan=False)


def test_on_the_command_line(command: Any, played: Path) -> None:
    one = command("replay", played, "--play", 3, "--family", FAMILY)
    assert (one.code, one.out.splitlines()[0]) == (0, "play 3: bit for bit the same"), one
    every = command("replay", played, "--decisions", "--family", FAMILY, "--json")
    assert json.loads(every.out) == {"decisions": 8, "reproduced": 8, "identical": 8, "differing": []}
    for words, message in (((), "--play NUMBER"), (("--play", 9), "no play 9"), (("--play", 0), "'--play'")):
        wrong = command("replay", played, "--family", FAMILY, *words)
        assert (wrong.code, message in wrong.err) == (2, True), wrong


def test_a_difference_on_the_command_line(command: Any, played: Path, tmp_path: Path) -> None:
    path = changed(played, tmp_path, f"UPDATE phases SET error = error * 1.25, reward = -reward WHERE play <= 3; {OLD}")
    one = command("replay", path, "--play", 3, "--family", FAMILY)
    assert one.code == 1
    assert "errors and losses: at most 2.0e-01 apart, relatively" in one.out
    every = command("replay", path, "--decisions", "--family", FAMILY)
    assert every.code == 1
    assert "8 decisions: " in every.out
