"""Outcomes that no study can keep."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pairs import invented, play

from metalic.errors import StudyError
from metalic.study.play import Outcome
from metalic.study.telling import check_outcome


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    with play(tmp_path / "s.db", 0) as study:
        return invented(study.ask())


def test_an_outcome(outcome: Outcome) -> None:
    check_outcome(outcome, 1)
    with pytest.raises(StudyError, match="a play of this study has 2 phases, not 1"):
        check_outcome(outcome, 2)
    check_outcome(replace(outcome, status="diverged"), 2)


@pytest.mark.parametrize("reward", [None, float("nan"), float("inf")])
def test_rewards_are_finite(outcome: Outcome, reward: Any) -> None:
    with pytest.raises(StudyError, match="a reward must be a finite number"):
        check_outcome(replace(outcome, phases=(replace(outcome.phases[0], reward=reward),)), 1)


def test_a_failure_is_an_exception(outcome: Outcome) -> None:
    with pytest.raises(StudyError, match="an outcome is 'done' or 'diverged', not 'failed'"):
        check_outcome(replace(outcome, status="failed"), 1)
