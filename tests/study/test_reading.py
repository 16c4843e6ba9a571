"""Ledgers that are read while they are written."""

from pathlib import Path

import pytest
import tiny

import metalic as mt
from metalic.errors import LedgerError
from metalic.study import Ledger, Reading, Study
from metalic.study.reading import version


def test_a_reading_leaves_the_writer_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Study(path, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
        task = study.ask()
        first = Reading.of(path)
        assert first.current
        study.tell(task, tiny.pretend(task))
        assert not first.current  # seen without opening the file
        second = Reading.of(path)
        assert [row.status for row in (*first.plays(), *second.plays())] == ["running", "done"]
        assert second.settings() == study._ledger.settings()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.db"]  # one file: no reader kept the log


def test_a_connection_that_stays_open_keeps_the_log(tmp_path: Path) -> None:
    """Why readings do not stay open (decision 0010)."""
    path = tmp_path / "a.db"
    with Study(path, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
        task = study.ask()
        open_reader = Ledger(path, glance=True)
        open_reader.plays()
        study.tell(task, tiny.pretend(task))
    assert Path(f"{path}-wal").exists()
    open_reader.close()


def test_a_study_of_a_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Study(path, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
        task = study.ask()
        study.tell(task, tiny.pretend(task))
    before = version(path), path.read_bytes()
    with Study(Reading.of(path), tiny.Tiny) as study:
        assert study.finished_count == 1
        with pytest.raises(mt.MetalicError, match="reading"):
            study.ask()
    assert (version(path), path.read_bytes()) == before
    with pytest.raises(LedgerError, match="there is no ledger"):
        Reading.of(tmp_path / "none.db")
