"""The ledger: one SQLite file that is the whole state of a study. Schema in docs/ledger.md.

A play is written twice, each time in one transaction: when it is asked for (status running, with its first decision)
and when it is finished (everything). A new file is built beside its place and moved there complete, so that a ledger
exists with all its settings or not at all.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import LedgerError
from .files import APPLICATION_ID, SCHEMA_VERSION, WriteLock, check_place, connect, told
from .rows import STATUSES, PhaseRow, PlayRow, from_ranges, to_ranges

SCHEMA = f"""
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plays (
    number INTEGER PRIMARY KEY,
    borrowed INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN {STATUSES}),
    context TEXT NOT NULL,
    seed INTEGER NOT NULL,
    seen TEXT NOT NULL,
    pending TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    message TEXT,
    versions TEXT,
    host TEXT,
    started TEXT,
    finished TEXT
);
CREATE TABLE phases (
    play INTEGER NOT NULL REFERENCES plays (number),
    phase INTEGER NOT NULL,
    conditions TEXT NOT NULL,
    set_index INTEGER NOT NULL,
    arm TEXT NOT NULL,
    mean REAL,
    std REAL,
    reward REAL,
    error REAL,
    loss REAL,
    seconds REAL,
    iterations INTEGER,
    stop_reason TEXT,
    optimizer TEXT,
    PRIMARY KEY (play, phase)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""
PLAY = "number, borrowed, status, context, seed, seen, pending, attempts, message, versions, host, started, finished"
PHASE = (
    "play, phase, conditions, set_index, arm, mean, std, reward, error, loss, seconds, iterations, "
    "stop_reason, optimizer"
)


class Ledger:
    """An open ledger. `Ledger(path)` reads; `Ledger.writer(path, settings)` is the one that may write."""

    def __init__(self, path: str | os.PathLike[str], *, lock: WriteLock | None = None):
        self.path, self._lock = Path(path), lock
        if not self.path.exists():
            raise LedgerError(f"there is no ledger '{self.path}'; `metalic play` begins one")
        self._db = connect(self.path, write=lock is not None)

    @classmethod
    def writer(
        cls, path: str | os.PathLike[str], settings: Mapping[str, Any] | None, borrowed: Sequence[PlayRow] = ()
    ) -> Ledger:
        """Open for writing; a file that does not exist is begun with these settings and borrowed plays."""
        path = Path(path)
        check_place(path)
        lock = WriteLock(path)
        try:
            if not path.exists():
                if settings is None:
                    raise LedgerError(f"there is no ledger '{path}'; say which family a new study is about")
                _begin(path, settings, borrowed)
            return cls(path, lock=lock)
        except BaseException:
            lock.release()
            raise

    @property
    def writable(self) -> bool:
        return self._lock is not None

    def close(self) -> None:
        """Give the file and the lock back. At rest a ledger is a single file, without a log that readers would need."""
        if self._lock is not None:
            with suppress(sqlite3.Error):  # a reader is at work: then the log stays until the next writer has closed
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def settings(self) -> dict[str, Any]:
        with told(self.path):
            return {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM settings")}

    def plays(self) -> list[PlayRow]:
        """All plays as of now, borrowed ones first, in the order of their numbers."""
        with told(self.path), _transaction(self._db, "BEGIN"):
            plays = self._db.execute(f"SELECT {PLAY} FROM plays ORDER BY number").fetchall()
            phases = self._db.execute(f"SELECT {PHASE} FROM phases ORDER BY play, phase").fetchall()
            found: dict[int, list[PhaseRow]] = {}
            for play, _, *rest in phases:
                found.setdefault(play, []).append(_phase(rest))
            return [_play(row, found.get(row[0], [])) for row in plays]

    def write(self, play: PlayRow) -> None:
        """Put a play's row and its phases in the place of what was there, all or nothing."""
        if not self.writable:
            raise LedgerError(f"ledger '{self.path}' was opened for reading; open the study without read_only=True")
        with told(self.path), _transaction(self._db, "BEGIN IMMEDIATE"):
            _store(self._db, play)


def _begin(path: Path, settings: Mapping[str, Any], borrowed: Sequence[PlayRow]) -> None:
    new = Path(f"{path}.new")
    new.unlink(missing_ok=True)  # of a process that was killed right here
    Path(f"{new}-journal").unlink(missing_ok=True)
    with told(path):
        db = sqlite3.connect(new, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(SCHEMA)
            with _transaction(db, "BEGIN"):
                rows = [(key, json.dumps(value)) for key, value in settings.items()]
                db.executemany("INSERT INTO settings VALUES (?, ?)", rows)
                for play in borrowed:
                    _store(db, play)
        finally:
            db.close()
    os.replace(new, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite may have rolled back by itself, when the disk is full for instance
            db.execute("ROLLBACK")
        raise


def _store(db: sqlite3.Connection, play: PlayRow) -> None:
    values: tuple[Any, ...] = (
        play.number,
        int(play.borrowed),
        play.status,
        json.dumps(play.parameters),
        play.seed,
        json.dumps(to_ranges(play.seen)),
        json.dumps(to_ranges(play.pending)),
        play.attempts,
        play.message,
        None if play.versions is None else json.dumps(play.versions),
        play.host,
        play.started,
        play.finished,
    )
    db.execute("DELETE FROM phases WHERE play = ?", (play.number,))
    db.execute(f"INSERT OR REPLACE INTO plays ({PLAY}) VALUES ({_marks(PLAY)})", values)
    for number, phase in enumerate(play.phases):
        row = replace(phase, conditions=json.dumps(phase.conditions), arm=json.dumps(phase.arm))  # type: ignore[arg-type]
        values = (play.number, number, *vars(row).values())
        db.execute(f"INSERT INTO phases ({PHASE}) VALUES ({_marks(PHASE)})", values)


def _marks(columns: str) -> str:
    return ", ".join("?" for _ in columns.split(","))


def _phase(values: Sequence[Any]) -> PhaseRow:
    conditions, index, arm, *rest = values
    return PhaseRow(tuple(json.loads(conditions)), index, tuple(json.loads(arm)), *rest)


def _play(values: Sequence[Any], phases: Sequence[PhaseRow]) -> PlayRow:
    row = dict(zip(PLAY.split(", "), values, strict=True))
    row |= {key: from_ranges(json.loads(row[key])) for key in ("seen", "pending")}
    row["versions"] = None if row["versions"] is None else json.loads(row["versions"])
    row["borrowed"] = bool(row["borrowed"])
    return PlayRow(parameters=json.loads(row.pop("context")), phases=tuple(phases), **row)
