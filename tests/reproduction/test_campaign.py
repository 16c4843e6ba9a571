"""Scales of the paper's experiments, and what is refused before any work is done."""

from pathlib import Path

import pytest

from metalic.errors import StudyError
from metalic.reproduction import ITEMS, reproduce
from metalic.reproduction.campaign import SCALES, bandit_named


def test_the_preliminary_schedule_is_the_papers() -> None:
    first, second = SCALES["full"].preliminary.phases
    assert (first.optimizer.rate, first.iterations) == (1e-3, 500)  # type: ignore[attr-defined]
    assert second.iterations == 20_000
    assert (second.optimizer.gradient_tolerance, second.optimizer.change_tolerance) == (1e-9, 1e-12)  # type: ignore[attr-defined]
    assert (SCALES["full"].plays, SCALES["full"].pdes, SCALES["full"].runs) == (200, 100, 10)
    assert bandit_named("Random-Seq", 5).name == "sequential"
    assert bandit_named("Single-TS", 5).policy.name == "thompson"


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=f"choose one of {', '.join(ITEMS)}"):
        reproduce("table", tmp_path)
    with pytest.raises(StudyError, match="allowed are full, small"):
        reproduce("online", tmp_path, scale="huge")
    with pytest.raises(StudyError, match="no family 'wave'"):
        reproduce("online", tmp_path, scale="small", families=["wave"])
    with pytest.raises(StudyError, match="no directory"):
        reproduce("online", tmp_path, scale="small", ledgers=tmp_path / "none")
