"""Where a ledger or a solution may lie: full disks, limits, odd names, places that forbid or cannot be trusted."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny
from tiny import HERE, RANDOM, SETTINGS, Tiny

from metalic.atomic import write_whole
from metalic.errors import FileError, LedgerError
from metalic.study import Ledger, Study

ROOT = os.geteuid() == 0


def fill(study: Study, most: int) -> None:
    """At most `most` pretended plays; fewer if something fails."""
    for _ in range(most):
        task = study.ask()
        study.tell(task, tiny.pretend(task))


# --- Full ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "small disk"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if not ROOT or shutil.which("mount") is None or subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("cannot mount a file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    path, filler = small_disk / "a.db", small_disk / "filler"
    with Study(path, Tiny, RANDOM, **SETTINGS) as study:
        fill(study, 3)
        with pytest.raises(LedgerError, match="the disk is full; nothing finished is lost, free some space"):
            fill(study, 5000)
        finished = [row for row in study.plays if row.status == "done"]
        assert len(finished) > 3
    with Ledger(path) as ledger:
        kept = ledger.plays()
    assert [row for row in kept if row.status == "done"] == finished
    for rest in small_disk.iterdir():
        shutil.move(rest, small_disk.parent)  # where there is more space
    with Study(small_disk.parent / "a.db", Tiny) as study:
        fill(study, 10)
        assert study.plays[: len(finished)] == finished
    filler.write_bytes(b"x" * (filler.parent.stat().st_blksize * 97))
    with pytest.raises(FileError, match=r"cannot write .*No space left on device"):
        write_whole(small_disk / "big.npz", lambda file: file.write(b"x" * 10**6))
    with pytest.raises(LedgerError, match="full"):
        Study(small_disk / "new.db", Tiny, **SETTINGS)
    assert sorted(file.name for file in small_disk.iterdir()) == ["filler"]


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    """In a process that may write no file larger than 100 kB."""
    code = f"""
import json, resource, sys
from pathlib import Path
sys.path.insert(0, {str(HERE)!r})
import tiny
from metalic.atomic import write_whole
from metalic.errors import MetalicError
from metalic.study import Study
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
kept, said = 0, []
try:
    with Study("a.db", tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
        while True:
            task = study.ask()
            study.tell(task, tiny.pretend(task))
            kept += 1
except MetalicError as error:
    said.append(str(error))
try:
    write_whole(Path("a.npz"), lambda file: file.write(b"x" * 200_000))
except MetalicError as error:
    said.append(str(error))
print(json.dumps([kept, said]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    kept, (ledger, file) = json.loads(done.stdout)
    assert kept > 3
    assert "cannot read or write ledger" in ledger or "disk is full" in ledger
    assert "cannot write 'a.npz': File too large" in file
    assert not (tmp_path / "a.npz").exists()
    assert not list(tmp_path.glob(".metalic-*"))
    with Study(tmp_path / "a.db", Tiny) as study:
        assert study.finished_count == kept
        fill(study, 3)


# --- Forbidden -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not ROOT, reason="needs another user")
def test_no_permission() -> None:
    """As another user: a directory not to be written, a file not to be read, a directory not to be entered."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        with Study(place / "closed.db", Tiny, RANDOM, **SETTINGS) as study:
            fill(study, 2)
        (place / "closed.db").chmod(0o600)
        (place / "shut").mkdir(mode=0o700)
        code = f"""
import os, sys
sys.path.insert(0, {str(HERE)!r})
import tiny
from pathlib import Path
from metalic.atomic import write_whole
from metalic.errors import MetalicError
from metalic.study import Ledger, Study
os.setuid(65534)
place = Path({name!r})
for attempt in (
    lambda: Study(place / "new.db", tiny.Tiny),
    lambda: Study(place / "closed.db", tiny.Tiny),
    lambda: Ledger(place / "closed.db"),
    lambda: Ledger(place / "shut" / "a.db"),
    lambda: Study(place / "shut" / "a.db", tiny.Tiny),
    lambda: write_whole(place / "a.npz", lambda file: None),
):
    try:
        attempt()
    except MetalicError as error:
        print(error)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        assert len(said) == 6, said
        assert all("Permission denied" in one for one in said), said
        assert sorted(file.name for file in place.iterdir()) == ["closed.db", "shut"]


# --- Odd names -------------------------------------------------------------------------------------------------------

NAMES = [
    "with spaces and 100% signs?.db",
    "Größe-解-🙂.db",
    "quote'\"#&;=.db",
    "-c.db",
    "file:memory.db",
    "new\nline.db",
    os.fsdecode(b"not-\xff-utf8.db"),
    "l" * 240 + ".db",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_odd_names(tmp_path: Path, name: str, command: Any) -> None:
    path = tmp_path / name
    with Study(path, Tiny, RANDOM, **SETTINGS) as study:
        fill(study, 2)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with Study(path, Tiny, read_only=True) as study:
        assert study.finished_count == 2
    shown = command("show", "--json", "--", path)
    assert (shown.code, json.loads(shown.out)["plays"]) == (0, 2)
    write_whole(tmp_path / f"{name[:200]}.npz", lambda file: file.write(b"1"))


def test_a_path_of_300_characters(tmp_path: Path) -> None:
    place = tmp_path / ("d" * 150) / ("e" * 150)
    place.mkdir(parents=True)
    with Study(place / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        fill(study, 2)
    with Study(place / "a.db", Tiny) as study:
        assert study.finished_count == 2


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 200) / ("e" * 200) / ("f" * 100)
    deep.mkdir(parents=True)
    for path, message in (
        (tmp_path / ("n" * 300), "File name too long"),
        (tmp_path / "nul\0.db", "null byte"),
        (tmp_path / ("n" * 252), "File name too long"),  # no room for .lock
        (deep / "a.db", "a shorter path"),
    ):
        with pytest.raises(LedgerError, match=message):
            Study(path, Tiny, **SETTINGS)
        with pytest.raises(LedgerError):
            Ledger(path)
        assert [file.name for file in tmp_path.iterdir()] == ["d" * 200]
        assert list(deep.iterdir()) == []
    for name in ("n" * 300 + ".npz", "nul\0.npz"):
        with pytest.raises(FileError, match="cannot write"):
            write_whole(tmp_path / name, lambda file: None)
