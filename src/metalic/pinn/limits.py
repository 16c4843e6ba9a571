"""When a solve stops before its budget is used up, and where it is kept meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..atomic import a_path
from ..errors import ScheduleError
from ..validation import real
from .checkpoint import Checkpoint, Snapshot
from .optimizers import Status


@dataclass
class Limits:
    """The training time that is left (None: no limit), and the file of the solve (None: no file)."""

    left: float | None = None
    checkpoint: Checkpoint | None = None

    @classmethod
    def of(cls, seconds: Any, checkpoint: str | os.PathLike[str] | None, identity: dict[str, Any]) -> Limits:
        """The limits of a solve, checked."""
        left = real(seconds, least=0)
        if seconds is not None and not left:
            raise ScheduleError(f"the time limit 'seconds' is a positive number, not {seconds!r}")
        return cls(left, None if checkpoint is None else Checkpoint(a_path(checkpoint), identity))

    def read(self) -> Snapshot | None:
        """The solve in progress, if a file holds one."""
        return self.checkpoint.read() if self.checkpoint else None

    def spend(self, seconds: float) -> Status:
        """Count seconds of training; RUNNING, or TIME if none are left."""
        if self.left is None:
            return Status.RUNNING
        self.left -= seconds
        return Status.RUNNING if self.left > 0 else Status.TIME

    def save(self, status: Status, progress: Callable[[], dict[str, Any]], tree: Any) -> None:
        """Write the checkpoint once a minute, and when the time is up."""
        if self.checkpoint and (self.checkpoint.due or status is Status.TIME):
            self.checkpoint.write(progress(), tree)

    def finish(self, status: Status) -> None:
        """Remove the file, unless the time limit has ended the solve: the same call then continues it."""
        if self.checkpoint and status is not Status.TIME:
            self.checkpoint.path.unlink(missing_ok=True)
