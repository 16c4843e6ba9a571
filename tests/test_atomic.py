"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from metalic.atomic import a_path, write_whole
from metalic.errors import FileError


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def write(file) -> None:
        file.write(b"new")
        assert path.read_bytes() == b"old"

    assert write_whole(path, write) == path
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError("no space"), FileError), (KeyboardInterrupt, KeyboardInterrupt)]
)
def test_a_failure_leaves_everything_as_it_was(tmp_path: Path, error: BaseException, raised: type) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail(file) -> None:
        file.write(b"half")
        raise error

    with pytest.raises(raised):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_rights_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = write_whole(tmp_path / "a.txt", lambda file: file.write(b"x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_no_path(tmp_path: Path) -> None:
    assert a_path(str(tmp_path)) == a_path(tmp_path) == tmp_path
    for wrong in (None, 3, b"bytes"):
        with pytest.raises(FileError, match="a path is a string, not"):
            a_path(wrong)
    with pytest.raises(FileError, match="null byte"):
        write_whole(Path("a\0b"), lambda file: None)
    with pytest.raises(FileError, match="cannot write"):
        write_whole(tmp_path / "missing" / "a.txt", lambda file: None)
