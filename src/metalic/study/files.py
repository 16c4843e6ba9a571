"""Ledger files on disk: opened only if they are what they should be, and written by one process at a time.

The writer holds an flock on `<file>.lock`, which the system gives back whatever way the process ends; the lock file
names its holder for the message to others. Readers need no lock: in WAL mode they see the last finished transaction.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ..errors import LedgerError

APPLICATION_ID = 0x4D544C43  # "MTLC"
SCHEMA_VERSION = 1
HEADER = b"SQLite format 3\x00"
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "gluster", "sshfs", "davfs", "pvfs")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors as ours: what happened to the file, and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerError(_explain(path, error)) from error
    except (ValueError, TypeError, KeyError) as error:
        raise LedgerError(f"ledger '{path}' is damaged: a row cannot be read ({error}); restore a copy") from error


def _explain(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text:
        return (
            f"cannot write ledger '{path}': the disk is full; nothing finished is lost, free some space and run again"
        )
    if "readonly" in text or "read-only" in text:
        return f"cannot write ledger '{path}': it, or its directory, is read-only"
    if "locked" in text or "busy" in text:
        return f"ledger '{path}' is held by another program ({text}); close it and run again"
    if "unable to open" in text:
        return f"cannot open ledger '{path}': permission denied, or its directory cannot be written"
    if "disk I/O" in text:
        return f"cannot read or write ledger '{path}': {text}. What was written is kept: check the disk, run again"
    return f"ledger '{path}' is damaged ({text}); restore it from a copy, or move it away to begin anew"


def mount_type(path: Path) -> str:
    """The type of the file system that holds a path, '' where the system does not tell."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return ""
    best, found = "", ""
    target = str(path.resolve())
    for line in mounts:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), left.split()[4])  # a blank is written \040
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, right.split()[0]
    return found


def on_network(path: Path) -> bool:
    kind = mount_type(path.parent).removeprefix("fuse.")
    return kind.startswith(NETWORK)


class WriteLock:
    """The right to write a ledger; a second process is refused and told who has it."""

    def __init__(self, ledger: Path):
        self.ledger, self.path = ledger, Path(f"{ledger}.lock")
        self._file = self._acquire()

    def _acquire(self) -> int:
        while True:
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError as error:
                raise LedgerError(f"cannot write ledger '{self.ledger}': {error.strerror} ('{self.path}')") from error
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                holder = _holder(os.pread(file, 1000, 0))
                os.close(file)
                raise LedgerError(
                    f"ledger '{self.ledger}' is being written by {holder}; wait for it, stop it, or use another file. "
                    "Reading (recommend, show, export) is possible meanwhile"
                ) from error
            if self._still_there(file):
                os.ftruncate(file, 0)
                os.pwrite(file, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
                return file
            os.close(file)  # its holder removed it in between

    def _still_there(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def _holder(content: bytes) -> str:
    try:
        holder = json.loads(content)
        return f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"


def check_place(path: Path) -> None:
    """Refuse what cannot become, or hold, a ledger that is written."""
    if not path.parent.is_dir():
        raise LedgerError(f"cannot write ledger '{path}': there is no directory '{path.parent}'")
    if path.is_dir():
        raise LedgerError(f"cannot write ledger '{path}': it is a directory")
    if on_network(path):
        raise LedgerError(
            f"ledger '{path}' would lie on a network file system ({mount_type(path.parent)}), where SQLite cannot keep "
            "it safe. Put it on a local disk of the machine that drives the study (workers may be anywhere: they do "
            "not touch the file) and copy it when the study is closed"
        )
    if not path.exists() and Path(f"{path}-wal").exists():
        raise LedgerError(
            f"there is '{path}-wal' but no ledger '{path}': if the ledger was moved, move it back (both belong "
            "together); if it was deleted, delete the other file too"
        )


def check_header(path: Path) -> None:
    """Say what a file is if it is not an SQLite file."""
    try:
        with path.open("rb") as file:
            head = file.read(len(HEADER))
    except OSError as error:
        raise LedgerError(f"cannot read ledger '{path}': {error.strerror}") from error
    if not head:
        raise LedgerError(f"'{path}' is empty and not a ledger; delete it to begin anew")
    if head != HEADER:
        raise LedgerError(f"'{path}' is not a ledger (not an SQLite file)")


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """An open, checked ledger."""
    check_header(path)
    with told(path):
        connection = sqlite3.connect(_uri(path, write), uri=True, timeout=10, isolation_level=None)
        try:
            _check_identity(connection, path)
            if write:
                if not os.access(path, os.W_OK):
                    raise LedgerError(f"cannot write ledger '{path}': it is read-only")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _uri(path: Path, write: bool) -> str:
    """Where no log can be kept beside a file that nobody writes, SQLite must be told that it will not change."""
    place = f"file:{quote(str(path.resolve()))}"
    if write:
        return f"{place}?mode=rw"
    log = Path(f"{path}-wal")
    settled = not log.exists() or log.stat().st_size == 0
    frozen = settled and (on_network(path) or not os.access(path.parent, os.W_OK))
    return f"{place}?mode=ro" + ("&immutable=1" if frozen else "")


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise LedgerError(f"'{path}' is an SQLite file of another program, not a ledger")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"ledger '{path}' has schema version {version}; this metalic reads up to {SCHEMA_VERSION}: upgrade it"
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise LedgerError(f"ledger '{path}' is damaged ({verdict}); restore it from a copy, or move it away")
