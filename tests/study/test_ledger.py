"""Ledger files: what is written is read back, one process writes, and whatever is wrong with a file is reported."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny

from metalic.errors import LedgerError
from metalic.study import Ledger, PhaseRow, PlayRow, Study
from metalic.study.knowledge import shipped
from metalic.study.rows import Numbers

SETTINGS = {"family": {"name": "tiny"}, "seed": 1}
PHASE = PhaseRow(("u",), 1, (1, 0), 0.1, 0.2, 1.0 / 3.0, 1e-17, 5e300, 0.5, 7, "budget used up", "adam")
ROW = PlayRow(1, "done", {"a": 0.1 + 0.2}, 2**32 - 1, (PHASE, PHASE), versions={"jax": "1"}, host="h")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with 60 plays, which spans several pages."""
    path = tmp_path / "some.db"
    with Ledger.writer(path, SETTINGS) as ledger:
        for number in range(1, 61):
            seen = Numbers.of(range(1, number))
            ledger.write(PlayRow(**(vars(ROW) | {"number": number, "seen": seen, "message": "x" * 100})))
    return path


def test_rows_come_back_bit_for_bit(tmp_path: Path) -> None:
    with Ledger.writer(tmp_path / "a.db", SETTINGS) as ledger:
        ledger.write(ROW)
        assert ledger.plays() == [ROW]
        assert ledger.settings() == SETTINGS
    with Ledger(tmp_path / "a.db") as ledger:
        assert ledger.plays() == [ROW]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]  # no log, no lock, nothing half-made


def test_writing_again_replaces_a_play(tmp_path: Path) -> None:
    with Ledger.writer(tmp_path / "a.db", SETTINGS) as ledger:
        ledger.write(PlayRow(1, "running", {"a": 1.0}, 5, (PHASE,)))
        ledger.write(ROW)
        assert ledger.plays() == [ROW]


def test_a_reader_cannot_write(path: Path) -> None:
    with Ledger(path) as ledger, pytest.raises(LedgerError, match="opened for reading"):
        ledger.write(ROW)


def test_readers_see_finished_plays_while_a_writer_is_at_work(path: Path) -> None:
    with Ledger.writer(path, None) as writer, Ledger(path) as reader:
        assert len(reader.plays()) == 60
        writer.write(PlayRow(**(vars(ROW) | {"number": 61})))
        assert len(reader.plays()) == 61


def test_the_second_writer_is_refused_and_names_the_first(path: Path) -> None:
    with Ledger.writer(path, None), pytest.raises(LedgerError, match=f"process {os.getpid()} on "):
        Ledger.writer(path, None)
    Ledger.writer(path, None).close()


def test_a_killed_writer_leaves_no_lock(path: Path) -> None:
    code = f"""
import sys, time
from metalic.study import Ledger
ledger = Ledger.writer({str(path)!r}, None)
print("open", flush=True); time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(LedgerError, match=f"being written by process {process.pid} on "):
        Ledger.writer(path, None)
    process.kill()
    process.wait()
    process.stdout.close()
    assert Path(f"{path}.lock").exists()
    Ledger.writer(path, None).close()


def test_not_a_ledger(tmp_path: Path) -> None:
    for content, message in ((b"", "empty"), (b"hello" * 100, "not an SQLite file"), (b"SQLite", "not an SQLite")):
        file = tmp_path / "x.db"
        file.write_bytes(content)
        for opened in (lambda: Ledger(file), lambda: Ledger.writer(file, SETTINGS)):  # noqa: B023
            with pytest.raises(LedgerError, match=message):
                opened()
        assert file.read_bytes() == content
        assert not Path(f"{file}.lock").exists()
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(tmp_path / "none.db")
    with pytest.raises(LedgerError, match="is a directory"):
        Ledger.writer(tmp_path, SETTINGS)
    with pytest.raises(LedgerError, match="no directory"):
        Ledger.writer(tmp_path / "none" / "x.db", SETTINGS)


def test_another_programs_file(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE plays (number)")
    db.close()
    with pytest.raises(LedgerError, match="another program"):
        Ledger(file)


def test_a_newer_schema(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 4")
    db.close()
    with pytest.raises(LedgerError, match="schema version 4; this metalic reads up to 3"):
        Ledger.writer(path, None)


@pytest.mark.parametrize("kept", [100, 2000, 4096, 10_000, 20_000])
def test_truncated(path: Path, kept: int) -> None:
    content = path.read_bytes()
    assert len(content) > kept
    path.write_bytes(content[:kept])
    for opened in (lambda: Ledger(path), lambda: Ledger.writer(path, None)):
        with pytest.raises(LedgerError, match=r"damaged|another program"):
            opened()


def test_damaged_pages_are_reported_or_harmless(path: Path) -> None:
    """Overwrite a random stretch: an error of ours, or all plays as they were; never another exception."""
    content, rng = path.read_bytes(), np.random.default_rng(0)
    with Ledger(path) as ledger:
        before = ledger.plays()
    for _ in range(60):
        start = int(rng.integers(16, len(content) - 64))
        broken = bytearray(content)
        broken[start : start + 64] = rng.bytes(64)
        path.write_bytes(broken)
        try:
            with Ledger(path) as ledger:
                ledger.settings()
                found = ledger.plays()
        except LedgerError:
            continue
        assert found == before
    path.write_bytes(content)


def test_disk_full(path: Path) -> None:
    with Ledger.writer(path, None) as ledger:
        (pages,) = ledger._db.execute("PRAGMA page_count").fetchone()
        ledger._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.write(PlayRow(**(vars(ROW) | {"number": 61, "message": "x" * 20_000})))
        assert len(ledger.plays()) == 60
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 100}")
        ledger.write(PlayRow(**(vars(ROW) | {"number": 61, "message": "x" * 20_000})))
    with Ledger(path) as ledger:
        assert len(ledger.plays()) == 61


def test_a_log_without_its_ledger(tmp_path: Path) -> None:
    (tmp_path / "x.db-wal").write_bytes(b"1")
    with pytest.raises(LedgerError, match="but no ledger"):
        Ledger.writer(tmp_path / "x.db", SETTINGS)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_read_only_files_and_directories(path: Path) -> None:
    """As another user, who may read the file and its directory but not write them."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        _check_as_another_user(Path(shutil.copy(path, folder)))


def _check_as_another_user(path: Path) -> None:
    code = f"""
import os
from metalic.study import Ledger
from metalic.errors import LedgerError
os.setuid(65534)
print(len(Ledger({str(path)!r}).plays()))
try:
    Ledger.writer({str(path)!r}, None)
except LedgerError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert lines[0] == "60", done
    assert "cannot write ledger" in lines[1], done


def test_an_old_file_is_still_read() -> None:
    """A ledger of schema version 1, as it was written when that version was current."""
    asset = Path(__file__).parent / "assets" / "ledger-v1.db"
    with Ledger(asset) as ledger:
        plays, settings = ledger.plays(), ledger.settings()
    expected = json.loads((asset.parent / "ledger-v1.json").read_text())
    assert settings["family"]["name"] == "tiny"
    assert [play.number for play in plays] == list(range(1, 9))
    assert [[play.error, play.sets, play.status] for play in plays] == expected
    with pytest.warns(UserWarning, match="has changed"):
        study = Study(asset, tiny.Tiny, read_only=True)
    assert study.finished_count == 8
    assert study.settings.bandit_settings.name == "sequential"
    study.close()


def test_a_ledger_of_version_2_is_read_as_it_is_and_upgraded_by_the_first_write(tmp_path: Path) -> None:
    path = Path(shutil.copy(shipped()["poisson"], tmp_path / "old.db"))
    before = path.read_bytes()
    with Ledger(path) as ledger:
        settings, plays = ledger.settings(), ledger.plays()
        assert ledger.networks() == {}
        assert {(play.estimate, play.verdict, play.pair, play.choices) for play in plays} == {(None,) * 4}
    assert path.read_bytes() == before
    newer = replace(plays[-1], number=201, estimate=1e-3, verdict="good", pair=7, choices={"strip": 0.1})
    with Ledger.writer(path, None) as ledger:
        ledger.write(newer)
    with Ledger(path) as ledger:
        assert ledger.settings() == settings
        assert ledger.plays() == [*plays, newer]
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (3,)
    db.close()
