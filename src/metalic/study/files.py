"""Ledger files on disk: checked before they are opened, and written by one process at a time.

The writer holds a lock of the system on `<file>.lock`, which is released however the process ends. The lock file names
its holder, for the message to other processes. Readers need no lock: in WAL mode they see the last finished
transaction.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import LedgerError

APPLICATION_ID = 0x4D544C43  # "MTLC"
SCHEMA_VERSION = 3
PATIENCE, GLANCE = 10.0, 0.5  # seconds to wait for another connection
LONGEST = 480  # bytes of a path, with room for the names beside it; SQLite takes 512
WAIT = 0.2  # seconds for a lock that its holder is about to release
HEADER = b"SQLite format 3\x00"
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "gluster", "sshfs", "davfs", "pvfs")


@contextmanager
def ledger_errors(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the system into a LedgerError that says what happened and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerError(_explain(path, error)) from error
    except OSError as error:
        raise LedgerError(f"cannot open or write ledger '{path}': {error.strerror or error}") from error
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
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
    return f"ledger '{path}' is damaged ({text}); restore it from a copy, or move it away and start again"


def mount_type(path: Path) -> str:
    """The type of the file system that holds a path; '' if it is unknown."""
    try:
        table = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
    except OSError:
        return ""
    return listed_type(str(path.resolve()), table)


def listed_type(target: str, table: str) -> str:
    """The type of the file system that holds an absolute path, from a table of mounts in the format of Linux.

    The longest mount point above the path counts; of equal ones the last.
    """
    best, found = "", ""
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 5 or not kind:
            continue
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields[4])  # a blank is written \040
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, kind[0]
    return found


def on_network(path: Path) -> bool:
    kind = mount_type(path.parent).removeprefix("fuse.")
    return kind.startswith(NETWORK)


class WriteLock:
    """The right to write a ledger; a second process is refused, with a message that names the holder."""

    def __init__(self, ledger: Path):
        self.ledger, self.path = ledger, Path(f"{ledger}.lock")
        # A lock that only means "this file exists" would outlive a killed process: no fallback to one.
        self._lock = FileLock(self.path, timeout=WAIT, thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise LedgerError(
                f"ledger '{ledger}' is being written by {_holder(self.path)}; wait for it, stop it, or use another "
                "file. Reading (recommend, show, export) is possible meanwhile"
            ) from error
        except OSError as error:
            raise LedgerError(f"cannot write ledger '{ledger}': {error.strerror} ('{self.path}')") from error
        with suppress(OSError):  # on a full disk the lock holds without a name in it
            self.path.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))

    def release(self) -> None:
        if self._lock.is_locked:
            with suppress(OSError):  # Windows removes no file that is open
                self.path.unlink(missing_ok=True)
            self._lock.release()


def _holder(lock: Path) -> str:
    try:
        holder = json.loads(lock.read_text())
        return f"process {holder['pid']} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError):  # Windows lets nobody read a locked file
        return "another process"


def exists(path: Path) -> bool:
    """Whether there is something at a path.

    Raises:
        LedgerError: No file can have this path.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise LedgerError(f"cannot open ledger '{path}': {getattr(error, 'strerror', None) or error}") from error
    return True


def _check_length(path: Path) -> None:
    if len(os.fsencode(path.resolve())) > LONGEST:
        raise LedgerError(f"cannot open ledger '{path}': SQLite takes up to {LONGEST} bytes; use a shorter path")


def check_place(path: Path) -> None:
    """Refuse a path that cannot hold a ledger open for writing."""
    exists(path)
    _check_length(path)
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
    if not exists(path) and exists(Path(f"{path}-wal")):
        raise LedgerError(
            f"there is '{path}-wal' but no ledger '{path}': if the ledger was moved, move it back (both belong "
            "together); if it was deleted, delete the other file too"
        )


def sync_folder(folder: Path) -> None:
    """Make sure that a new name in a folder is on the disk. Windows has no such call and opens no folders."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_header(path: Path) -> None:
    """Refuse a file that is not a ledger, before SQLite opens it."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise LedgerError(f"cannot read ledger '{path}': {error.strerror}") from error
    if not head:
        raise LedgerError(f"'{path}' is empty and not a ledger; delete it to start again")
    if head[: len(HEADER)] != HEADER:
        raise LedgerError(f"'{path}' is not a ledger (not an SQLite file)")
    if int.from_bytes(head[68:72]) != APPLICATION_ID:
        raise LedgerError(f"'{path}' is an SQLite file of another program, not a ledger")


def connect(path: Path, write: bool, glance: bool = False) -> sqlite3.Connection:
    """Open a ledger and check its structure. A glance changes nothing on disk, waits for nobody, and does not read the
    whole file for the check: it is repeated while another process writes."""
    check_header(path)
    _check_length(path)
    if write and not os.access(path, os.W_OK):
        raise LedgerError(f"cannot write ledger '{path}': it is read-only")
    with ledger_errors(path):
        if not write and not glance:
            _roll_back(path)
        address, patience = (f"{path.resolve().as_uri()}?mode=ro", GLANCE) if glance else (_uri(path, write), PATIENCE)
        connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
        try:
            _check_structure(connection, path, whole=not glance)
        except BaseException:
            connection.close()
            raise
    return connection


def _roll_back(path: Path) -> None:
    """Undo the journal of a writer that was killed while it changed the mode of the file.

    Nothing can be read before that. It needs the permission to write.
    """
    journal = Path(f"{path}-journal")
    if not exists(journal) or not journal.stat().st_size or not os.access(path, os.W_OK):
        return
    connection = sqlite3.connect(_uri(path, write=True), uri=True, timeout=10)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        connection.close()


def _uri(path: Path, write: bool) -> str:
    """The address of a ledger; `immutable` if nobody writes it and no log can be kept beside it."""
    place = path.resolve().as_uri()
    if write:
        return f"{place}?mode=rw"
    log = Path(f"{path}-wal")
    settled = not log.exists() or log.stat().st_size == 0
    frozen = settled and (on_network(path) or not os.access(path.parent, os.W_OK))
    return f"{place}?mode=ro" + ("&immutable=1" if frozen else "")


def _check_structure(connection: sqlite3.Connection, path: Path, whole: bool = True) -> None:
    version = schema_version(connection)
    if not 1 <= version <= SCHEMA_VERSION:
        raise LedgerError(
            f"ledger '{path}' has schema version {version}; this metalic reads up to {SCHEMA_VERSION}: upgrade it"
        )
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0] if whole else "ok"
    if verdict != "ok":
        raise LedgerError(f"ledger '{path}' is damaged ({verdict}); restore it from a copy, or move it away")


def schema_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version
