"""Driving a study: retries, failures, and when it stops."""

from pathlib import Path
from typing import Any

import pytest
import tiny
from tiny import RANDOM, SETTINGS, Tiny

from metalic.errors import StudyError
from metalic.study import Study
from metalic.study.play import Outcome, Task

pytestmark = pytest.mark.filterwarnings("error")


def test_retries_then_failure_and_the_study_goes_on(tmp_path: Path, pretending: Any) -> None:
    calls: list[int] = []

    def sometimes(task: Task) -> Outcome:
        calls.append(task.number)
        if task.number == 2 or (task.number == 4 and calls.count(4) < 3):
            raise MemoryError("out of memory")
        return tiny.pretend(task)

    pretending(sometimes)
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
        plays = study.plays
    assert calls == [1, 2, 2, 2, 3, 4, 4, 4, 5, 6]
    assert [play.status for play in plays] == ["done", "failed", "done", "done", "done", "done"]
    assert plays[1].message == "MemoryError: out of memory"
    assert [play.attempts for play in plays] == [1, 3, 1, 3, 1, 1]
    assert plays[5].seen == (1, 3, 4, 5)  # a failed play teaches nothing


def test_five_failures_in_a_row_stop_the_study(tmp_path: Path, pretending: Any) -> None:
    def never(task: Task) -> Outcome:
        raise RuntimeError(f"no luck with {task.number}")

    pretending(never)
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        with pytest.raises(StudyError, match=r"5 plays in a row failed.*RuntimeError: no luck with 5"):
            study.play(20)
        assert [play.status for play in study.plays] == ["failed"] * 5
        pretending()
        study.play(2)
        assert study.finished_count == 7
