"""Write files completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from .errors import FileError


def a_path(given: Any) -> Path:
    """Return a path from a string or a path; refuse anything else."""
    if not isinstance(given, str | os.PathLike):
        raise FileError(f"a path is a string, not {given!r}")
    return Path(given)


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Write a temporary file in the same directory, then move it to the path. After a failure the path is unchanged.

    Args:
        path: The file.
        write: Writes the contents to an open binary file.

    Returns:
        The path.

    Raises:
        FileError: The file cannot be written.
    """
    temporary = None
    if "\0" in str(path):
        raise FileError(f"cannot write {str(path)!r}: a name has no null byte")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".metalic-", suffix=path.suffix, delete=False) as file:
            temporary = Path(file.name)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # a temporary file is readable by its owner only
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
