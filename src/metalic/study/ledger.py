"""The ledger: one SQLite file that is the whole state of a study. Schema in docs/ledger.md.

A play is written twice, each time in one transaction: when it is asked for (status running, with its first decision)
and when it is finished (everything). A new file is built under another name and then moved, so that a ledger exists
with all its settings or not at all. Every play has a checksum, and so have the settings.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import LedgerError
from .closing import Closing
from .files import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    WriteLock,
    check_place,
    connect,
    exists,
    ledger_errors,
    schema_version,
    sync_folder,
)
from .integrity import check_rows, checksum
from .networks import COLUMNS, Networks
from .rows import STATUSES, Numbers, PhaseRow, PlayRow

NETWORKS = """
CREATE TABLE networks (
    play INTEGER PRIMARY KEY REFERENCES plays (number),
    hidden TEXT NOT NULL,
    geometry TEXT NOT NULL,
    dtype TEXT NOT NULL,
    shape TEXT NOT NULL,
    theta BLOB NOT NULL,
    scaling BLOB NOT NULL,
    history TEXT NOT NULL,
    branch INTEGER,
    start TEXT,
    checksum TEXT NOT NULL
);
"""
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
    finished TEXT,
    estimate REAL,
    verdict TEXT,
    pair INTEGER,
    choices TEXT,
    checksum TEXT NOT NULL
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
{NETWORKS}
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""
PLAY_2 = "number, borrowed, status, context, seed, seen, pending, attempts, message, versions, host, started, finished"
PLAY = f"{PLAY_2}, estimate, verdict, pair, choices"
PHASE = (
    "play, phase, conditions, set_index, arm, mean, std, reward, error, loss, seconds, iterations, "
    "stop_reason, optimizer"
)
TRIALS = "trials"  # a key among the settings of a file of independent trials, whose numbers may have gaps
TRIES, PAUSE = 20, 0.05  # seconds, when a writer closes while somebody reads
CHECKSUM = "checksum"  # a key among the settings, and a column of a play


class Ledger(Closing):
    """An open ledger: `Ledger(path)` to read, `Ledger.writer(path, settings)` to write.

    Args:
        path: The file.
        lock: The writer's lock; None to read.
        glance: Whether to read without waiting for a writer or changing anything on disk, as a display does.

    Raises:
        LedgerError: There is no such file, or it is not a ledger, or it is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], *, lock: WriteLock | None = None, glance: bool = False):
        self.path, self._lock = Path(path), lock
        self._kept: dict[int, PlayRow] | None = None  # a writer keeps all rows: no other process changes them
        if not exists(self.path):
            raise LedgerError(f"there is no ledger '{self.path}'; `metalic play` creates one")
        self._db = connect(self.path, write=lock is not None, glance=glance)
        self._ready = False  # for writing; the first write prepares the file
        try:
            if lock is not None:
                self._kept = {row.number: row for row in self.plays()}
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        """Set the mode for writing and upgrade the schema. Opening a file alone does not change it."""
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA foreign_keys = ON")
        if (version := schema_version(self._db)) < SCHEMA_VERSION:
            _upgrade(self._db, version, self.settings(), self.plays())
        self._ready = True

    @classmethod
    def writer(
        cls, path: str | os.PathLike[str], settings: Mapping[str, Any] | None, borrowed: Sequence[PlayRow] = ()
    ) -> Ledger:
        """Open for writing.

        Args:
            path: The file; created if it does not exist.
            settings: The settings of a new file; None if the file must exist.
            borrowed: Plays of another ledger that a new file starts with.

        Raises:
            LedgerError: The file cannot be written, is damaged, or another process writes it.
        """
        path = Path(path)
        check_place(path)
        lock = WriteLock(path)
        try:
            if exists(path):
                _check_before_writing(path)
            elif settings is None:
                raise LedgerError(f"there is no ledger '{path}'; say which family a new study is about")
            else:
                _begin(path, settings, borrowed)
            return cls(path, lock=lock)
        except BaseException:
            lock.release()
            raise

    @property
    def writable(self) -> bool:
        return self._lock is not None

    def close(self) -> None:
        """Close the file and release the lock. A closed ledger is a single file, without a log beside it."""
        if self._lock is not None:
            self._remove_log()
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def _remove_log(self) -> None:
        """If somebody reads for long, the log stays until the next writer closes; a short reading is waited for."""
        for _ in range(TRIES):
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE")
                return
            time.sleep(PAUSE)

    def settings(self) -> dict[str, Any]:
        with ledger_errors(self.path):
            rows = dict(self._db.execute("SELECT key, value FROM settings ORDER BY key"))
            written = rows.pop(CHECKSUM, None)
            if written != (checksum(rows.items()) if schema_version(self._db) > 1 else None):
                raise ValueError("the settings do not match their checksum")
            return {key: json.loads(value) for key, value in rows.items()}

    def plays(self) -> list[PlayRow]:
        """All plays as of now, borrowed ones first, in the order of their numbers."""
        if self._kept is not None:
            return [self._kept[number] for number in sorted(self._kept)]
        with ledger_errors(self.path), _transaction(self._db, "BEGIN"):
            version = schema_version(self._db)
            columns = {1: PLAY_2, 2: f"{PLAY_2}, {CHECKSUM}"}.get(version, f"{PLAY}, {CHECKSUM}")
            plays = self._db.execute(f"SELECT {columns} FROM plays ORDER BY number").fetchall()
            phases = self._db.execute(f"SELECT {PHASE} FROM phases ORDER BY play, phase").fetchall()
            found: dict[int, list[Sequence[Any]]] = {row[0]: [] for row in plays}
            for phase in phases:
                found[phase[0]].append(phase)
            rows = [_play(columns.split(", "), row, found[row[0]]) for row in plays]
            trials = self._db.execute("SELECT 1 FROM settings WHERE key = ?", (TRIALS,)).fetchone()
            check_rows(rows, gaps=trials is not None)
            return rows

    def networks(self, play: int | None = None) -> dict[int, Networks]:
        """Read the networks that were kept, by the number of their play; those of one play if it is given."""
        if schema_version(self._db) < 3:
            return {}
        with ledger_errors(self.path):
            wanted = f"SELECT {', '.join(COLUMNS)} FROM networks WHERE ? IS NULL OR play = ? ORDER BY play"
            rows = self._db.execute(wanted, (play, play)).fetchall()
            return {row[0]: Networks.read(row) for row in rows}

    def write(self, play: PlayRow, networks: Networks | None = None) -> None:
        """Write or replace the row of a play, its phases and its networks in one transaction."""
        if not self.writable:
            raise LedgerError(f"ledger '{self.path}' was opened for reading; open the study without read_only=True")
        with ledger_errors(self.path):
            if not self._ready:
                self._prepare()
            with _transaction(self._db, "BEGIN IMMEDIATE"):
                _store(self._db, play, networks)
        if self._kept is not None:
            self._kept[play.number] = play


def _check_before_writing(path: Path) -> None:
    """Check a file by reading all of it through a connection that cannot write.

    Closing a connection that can write would move the contents of the log into a file that may be damaged.
    """
    with Ledger(path) as reader:
        reader.settings()
        reader.plays()
        reader.networks()


def _upgrade(db: sqlite3.Connection, version: int, settings: Mapping[str, Any], rows: Sequence[PlayRow]) -> None:
    """Upgrade from version 1, which had no checksums, or 2, which had no networks."""
    with _transaction(db, "BEGIN IMMEDIATE"):
        if version == 1:
            db.execute("ALTER TABLE plays ADD COLUMN checksum TEXT NOT NULL DEFAULT ''")
        for column in ("estimate REAL", "verdict TEXT", "pair INTEGER", "choices TEXT"):
            db.execute(f"ALTER TABLE plays ADD COLUMN {column}")
        db.execute(NETWORKS)
        for row in rows:
            _store(db, row)
        _store_settings(db, settings)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _begin(path: Path, settings: Mapping[str, Any], borrowed: Sequence[PlayRow]) -> None:
    new = Path(f"{path}.new")
    _remove(new)  # left by a process that was killed here
    try:
        with ledger_errors(path):
            _fill(new, settings, borrowed)
            os.replace(new, path)
            sync_folder(path.parent)
    except BaseException:
        _remove(new)
        raise


def _fill(new: Path, settings: Mapping[str, Any], borrowed: Sequence[PlayRow]) -> None:
    db = sqlite3.connect(new, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = FULL")
        db.executescript(SCHEMA)
        with _transaction(db, "BEGIN"):
            _store_settings(db, settings)
            for play in borrowed:
                _store(db, play)
    finally:
        db.close()


def _remove(new: Path) -> None:
    for file in (new, Path(f"{new}-journal")):
        file.unlink(missing_ok=True)


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


def _store_settings(db: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    rows = {key: json.dumps(value) for key, value in sorted(settings.items())}
    rows[CHECKSUM] = checksum(rows.items())
    db.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows.items())


def _store(db: sqlite3.Connection, play: PlayRow, networks: Networks | None = None) -> None:
    values: tuple[Any, ...] = (
        play.number,
        int(play.borrowed),
        play.status,
        json.dumps(play.parameters),
        play.seed,
        json.dumps(Numbers.of(play.seen).to_list()),
        json.dumps(Numbers.of(play.pending).to_list()),
        play.attempts,
        play.message,
        None if play.versions is None else json.dumps(play.versions),
        play.host,
        play.started,
        play.finished,
        None if play.estimate is None else float(play.estimate),
        play.verdict,
        play.pair,
        None if play.choices is None else json.dumps(play.choices),
    )
    phases = [_phase_values(play.number, number, phase) for number, phase in enumerate(play.phases)]
    for table in ("phases", "networks"):
        db.execute(f"DELETE FROM {table} WHERE play = ?", (play.number,))
    columns = f"{PLAY}, {CHECKSUM}"
    db.execute(
        f"INSERT OR REPLACE INTO plays ({columns}) VALUES ({_marks(columns)})", (*values, checksum([values, phases]))
    )
    db.executemany(f"INSERT INTO phases ({PHASE}) VALUES ({_marks(PHASE)})", phases)
    if networks is not None:
        names = ", ".join(COLUMNS)
        db.execute(f"INSERT INTO networks ({names}) VALUES ({_marks(names)})", networks.values(play.number))


def _phase_values(play: int, number: int, phase: PhaseRow) -> tuple[Any, ...]:
    """A phase as SQLite gives it back: it turns NaN into NULL, and whole numbers in REAL columns into floats."""
    measured = (phase.mean, phase.std, phase.reward, phase.error, phase.loss, phase.seconds)
    return (
        *(play, number, json.dumps(phase.conditions), phase.index, json.dumps(phase.arm)),
        *(None if value is None or math.isnan(value) else float(value) for value in measured),
        *(phase.iterations, phase.stop_reason, phase.optimizer),
    )


def _marks(columns: str) -> str:
    return ", ".join("?" for _ in columns.split(","))


def _play(names: Sequence[str], values: Sequence[Any], phases: Sequence[Sequence[Any]]) -> PlayRow:
    row = dict(zip(names, values))
    if CHECKSUM in row and row.pop(CHECKSUM) != checksum([values[:-1], phases]):
        raise ValueError(f"play {values[0]} does not match its checksum")
    if [phase[1] for phase in phases] != list(range(len(phases))):
        raise ValueError(f"play {values[0]} lacks a phase")
    row |= {key: Numbers(json.loads(row[key])) for key in ("seen", "pending")}
    row |= {key: None if row.get(key) is None else json.loads(row[key]) for key in ("versions", "choices")}
    row["borrowed"] = bool(row["borrowed"])
    return PlayRow(parameters=json.loads(row.pop("context")), phases=tuple(map(_phase, phases)), **row)


def _phase(values: Sequence[Any]) -> PhaseRow:
    _, _, conditions, index, arm, *rest = values
    return PhaseRow(tuple(json.loads(conditions)), index, tuple(json.loads(arm)), *rest)
