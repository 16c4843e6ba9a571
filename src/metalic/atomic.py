"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from .errors import FileError


def a_path(given: Any) -> Path:
    """A path from a text or a path, and from nothing else."""
    if not isinstance(given, str | os.PathLike):
        raise FileError(f"a path is a text, not {given!r}")
    return Path(given)


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Let `write` fill a temporary file beside the path, then move it there; on any failure nothing has changed."""
    temporary = None
    if "\0" in str(path):
        raise FileError(f"cannot write {str(path)!r}: a name has no null byte")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".metalic-", suffix=path.suffix, delete=False) as file:
            temporary = Path(file.name)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # a temporary file is for its owner alone
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(f"cannot write '{path}': {error.strerror or error}") from error
        raise
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
