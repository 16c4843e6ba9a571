"""Ledgers that were damaged: cut off, changed byte by byte, exchanged. Never a wrong answer, never a write."""

import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny
from tiny import RANDOM, SETTINGS, Tiny

from metalic.errors import LedgerError, MetalicError
from metalic.study import Ledger, PlayRow, Study

ASSET = Path(__file__).parent / "assets" / "ledger-v1.db"
Contents = tuple[dict[str, Any], list[PlayRow]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 30 pretended plays."""
    path = tmp_path_factory.mktemp("damage") / "whole.db"
    with Study(path, Tiny, RANDOM, **SETTINGS) as study:
        for _ in range(30):
            task = study.ask()
            study.tell(task, tiny.pretend(task))
    return path


def read(path: Path) -> Contents:
    with Ledger(path) as ledger:
        return ledger.settings(), ledger.plays()


def write(path: Path) -> None:
    Ledger.writer(path, None).close()


def tried(content: bytes, path: Path) -> Contents | None:
    """What is read, or None if it is refused; a file that is refused stays as it is, also by a writer."""
    path.write_bytes(content)
    try:
        found = read(path)
    except LedgerError:
        found = None
        with pytest.raises(LedgerError, match=re.escape(str(path))):
            write(path)
        assert path.read_bytes() == content
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]
    return found


def flips(size: int, count: int, seed: int) -> Iterator[tuple[int, int]]:
    chance = random.Random(seed)
    for _ in range(count):
        yield chance.randrange(size), chance.randrange(1, 256)


def test_cut_off_at_every_97th_byte(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    for length in range(0, len(content), 97):
        assert tried(content[:length], tmp_path / "cut.db") is None, length


def check_flips(whole: Path, folder: Path, count: int, seed: int) -> int:
    """How many of `count` changed bytes were noticed; all others left what is read as it was."""
    content, before = whole.read_bytes(), read(whole)
    noticed = 0
    for at, mask in flips(len(content), count, seed):
        damaged = bytearray(content)
        damaged[at] ^= mask
        found = tried(bytes(damaged), folder / "flipped.db")
        assert found is None or found == before, (at, mask)
        noticed += found is None
    return noticed


def test_a_changed_byte_is_noticed_or_harmless(whole: Path, tmp_path: Path) -> None:
    assert check_flips(whole, tmp_path, 400, seed=0) > 100


@pytest.mark.soak
def test_many_changed_bytes_are_noticed_or_harmless(whole: Path, tmp_path: Path) -> None:
    assert check_flips(whole, tmp_path, 20_000, seed=1) > 5000


def test_a_changed_byte_in_the_log(whole: Path, tmp_path: Path) -> None:
    """The log of a killed writer has checksums of its own: what follows the damage never happened."""
    path = Path(shutil.copy(whole, tmp_path / "killed.db"))
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(tiny.__file__).parent)!r})
import tiny
from metalic.study import Study
study = Study({str(path)!r}, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS)
for _ in range(5):
    task = study.ask()
    study.tell(task, tiny.pretend(task))
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    log = Path(f"{path}-wal").read_bytes()
    settings, plays = read(path)
    assert len(plays) == 35
    histories = [[*plays[:n], _unfinished(plays[n])][: n + running] for n in range(30, 35) for running in (0, 1)]
    histories.append(plays)
    for at, mask in flips(len(log), 150, seed=2):
        damaged = bytearray(log)
        damaged[at] ^= mask
        shutil.copy(whole, path)
        Path(f"{path}-shm").unlink(missing_ok=True)
        Path(f"{path}-wal").write_bytes(damaged)
        found, seen = read(path)
        assert found == settings
        assert any(len(seen) == len(one) and _alike(seen, one) for one in histories), at


def _unfinished(row: PlayRow) -> PlayRow:
    return PlayRow(**(vars(row) | {"status": "running"}))


def _alike(seen: list[PlayRow], expected: list[PlayRow]) -> bool:
    """Finished plays in full; of a running one, its number, context and seed."""
    return all(
        a == b if a.status != "running" else (a.number, a.parameters, a.seed, b.status) == (*_key(b), "running")
        for a, b in zip(seen, expected, strict=True)
    )


def _key(row: PlayRow) -> tuple[Any, ...]:
    return row.number, row.parameters, row.seed


def test_rows_that_were_edited_are_noticed(whole: Path, tmp_path: Path) -> None:
    for statement in (
        "UPDATE plays SET seed = seed + 1 WHERE number = 7",
        "UPDATE plays SET context = replace(context, '1', '2')",
        "UPDATE phases SET reward = reward + 1e-9 WHERE play = 3",
        "UPDATE phases SET play = 31 WHERE play = 30",
        "DELETE FROM phases WHERE play = 4 AND phase = 1",
        "DELETE FROM plays WHERE number = 12",
        "UPDATE settings SET value = '4' WHERE key = 'seed'",
        "DELETE FROM settings WHERE key = 'reward'",
        "DELETE FROM settings WHERE key = 'checksum'",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -1",
        "DROP TABLE phases",
        "ALTER TABLE plays DROP COLUMN seed",
    ):
        path = Path(shutil.copy(whole, tmp_path / "edited.db"))
        db = sqlite3.connect(path)
        db.executescript(statement)
        db.close()
        assert tried(path.read_bytes(), path) is None, statement


@pytest.mark.filterwarnings("ignore:the file that defines")
def test_old_files_without_checksums_give_no_traceback(tmp_path: Path) -> None:
    """Nothing but errors of ours, though a changed digit cannot be noticed there."""
    content = ASSET.read_bytes()
    for at, mask in flips(len(content), 30, seed=3):
        damaged = bytearray(content)
        damaged[at] ^= mask
        path = tmp_path / "old.db"
        path.write_bytes(damaged)
        try:
            with Study(path, Tiny, read_only=True) as study:
                study.to_pandas()
                study.task(study.plays[-1], study.plays)
        except MetalicError:
            continue


def test_an_old_file_goes_on(tmp_path: Path) -> None:
    """A ledger of version 1 is read as it is, and given checksums when it is next written."""
    path = Path(shutil.copy(ASSET, tmp_path / "old.db"))
    before = read(path)
    assert path.read_bytes() == ASSET.read_bytes()
    with pytest.warns(UserWarning, match="has changed"):
        study = Study(path, Tiny)
    task = study.ask()
    study.tell(task, tiny.pretend(task))
    study.close()
    settings, plays = read(path)
    assert (settings, plays[:-1]) == before
    assert plays[-1].number == 9
    assert plays[-1].seen == tuple(range(1, 9))
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (3,)
    db.execute("UPDATE phases SET error = error / 2 WHERE play = 2")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match="play 2 does not match its checksum"):
        read(path)


def test_other_things_in_the_place_of_a_ledger(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    foreign = tmp_path / "foreign"
    db = sqlite3.connect(foreign)
    db.executescript("CREATE TABLE plays (number); INSERT INTO plays VALUES (1)")
    db.close()
    contents = [
        b"",
        b"\0",
        b"hello\n" * 1000,
        foreign.read_bytes(),
        b"[1]",
        whole.read_bytes()[4096:],
    ]
    foreign.unlink()
    for content in contents:
        assert tried(content, path) is None


def test_a_journal_left_by_a_kill_is_rolled_back(whole: Path, tmp_path: Path) -> None:
    """A transaction of the mode that a ledger is closed in, cut off in the middle: readers and writers see the state
    before it."""
    before = read(whole)
    for opened in (read, lambda path: (write(path), read(path))[1]):
        path = Path(shutil.copy(whole, tmp_path / "hot.db"))
        code = f"""
import os, sqlite3
db = sqlite3.connect({str(path)!r}, isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE plays SET message = hex(zeroblob(3000)), seed = 0")
os._exit(0)
"""
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
        assert Path(f"{path}-journal").stat().st_size > 0
        assert path.read_bytes() != whole.read_bytes()
        assert opened(path) == before
