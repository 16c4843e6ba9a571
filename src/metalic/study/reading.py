"""What a ledger held at one moment, read while another process may write it.

A connection that stays open would keep the writer from removing its log when it closes, so the file is opened for some
milliseconds whenever it has changed. Whether it has changed is seen from the size and the time of the file and of its
log, which takes no lock at all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import LedgerError
from .closing import Closing
from .knowledge import find_ledger
from .ledger import Ledger
from .networks import Networks
from .rows import PlayRow

Version = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Reading(Closing):
    """The settings and the plays of a ledger as they were. Pass it to `Study` in place of a path.

    Example:
        >>> from metalic.study import Study
        >>> reading = Reading.of("poisson")  # the ledger shipped with the package
        >>> len(Study(reading).plays)
        200
    """

    path: Path
    version: Version
    stored: dict[str, Any]
    rows: tuple[PlayRow, ...]
    writable = False

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Reading:
        """Read a ledger, and close it again.

        Raises:
            LedgerError: There is no such file, or it is not a ledger, or it cannot be read at the moment.
        """
        found = find_ledger(path)
        before = version(found)  # a change in between is seen the next time
        with Ledger(found, glance=True) as ledger:
            return cls(found, before, ledger.settings(), tuple(ledger.plays()))

    @property
    def current(self) -> bool:
        """Whether the file is still as it was."""
        return version(self.path) == self.version

    def settings(self) -> dict[str, Any]:
        """The settings, as `Ledger.settings` gives them."""
        return self.stored

    def plays(self) -> list[PlayRow]:
        """The plays, as `Ledger.plays` gives them."""
        return list(self.rows)

    def networks(self, play: int | None = None) -> dict[int, Networks]:
        """The networks that are kept now, as `Ledger.networks` gives them."""
        with Ledger(self.path, glance=True) as ledger:
            return ledger.networks(play)

    def write(self, play: PlayRow, networks: Networks | None = None) -> None:
        """Refuse to write."""
        raise LedgerError(f"ledger '{self.path}' was opened for reading; open the study by its path to play")

    def close(self) -> None:
        """Nothing is open."""


def version(path: Path) -> Version:
    """Changes whenever something is written to a ledger: of the file and its log the identity, size and time."""
    found = []
    for file in (path, Path(f"{path}-wal")):
        try:
            state = os.stat(file)
        except OSError:
            continue
        found.append((state.st_ino, state.st_size, state.st_mtime_ns))
    return tuple(found)
