"""Trials: many independent solves kept in a ledger, of which any number can be run at any time.

A trial is a play whose sets do not depend on other trials, so there is no order to keep: what is not in the file is
run, by the driver and the workers of a study, and each trial is written, whole, when it is finished. Killed anywhere,
nothing finished is lost; run again, it goes on. `metalic show` and `export` read the file as any ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import StudyError
from ..study.driver import Driver, Show
from ..study.ledger import Ledger
from ..study.play import Outcome, Task
from ..study.rows import FAILED, PlayRow
from ..study.settings import differences
from ..study.workers import open_pool

Todo = Mapping[int, Callable[[], Task]]
"""What is to be run: a function that makes the task, by the trial's number."""


class Trials:
    """An open file of trials; begun with these settings if it does not exist, else they must agree with it."""

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None):
        self.path = Path(path)
        self._ledger = Ledger(self.path) if settings is None else Ledger.writer(self.path, settings)
        self.settings = self._ledger.settings()
        differing = [] if settings is None else differences(self.settings, settings)
        if differing:
            self._ledger.close()
            told = "; ".join(f"{name} was {old} and is now {new}" for name, old, new in differing)
            raise StudyError(f"'{path}' was begun with other settings: {told}. Take another file")
        self._todo: dict[int, Callable[[], Task]] = {}
        self._flying: dict[int, str] = {}

    @property
    def rows(self) -> dict[int, PlayRow]:
        """All finished trials by number."""
        return {row.number: row for row in self._ledger.plays()}

    def run(self, todo: Todo, workers: int | str | Any = 1, progress: Show | None = None) -> None:
        """Run what is not yet in the file; `workers` as in `Study.play`."""
        done = self.rows
        self._todo = {number: make for number, make in todo.items() if number not in done}
        if not self._todo:
            return
        pool = open_pool(workers)
        try:
            Driver(self, pool, len(self._todo), progress).run()
        finally:
            pool.close()
            self._todo, self._flying = {}, {}

    def close(self) -> None:
        self._ledger.close()

    def __enter__(self) -> Trials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- what a driver asks for

    @property
    def finished_count(self) -> int:
        return len(self.rows)

    def ask(self) -> Task:
        number = next(number for number in self._todo if number not in self._flying)
        self._flying[number] = _now()
        return self._todo[number]()

    def tell(self, task: Task, result: Outcome | Exception, attempts: int = 1) -> PlayRow:
        common: dict[str, Any] = {
            "number": task.number,
            "parameters": dict(task.parameters),
            "seed": task.seed,
            "attempts": attempts,
            "started": self._flying[task.number],
            "finished": _now(),
        }
        if isinstance(result, Exception):
            told = f"{type(result).__name__}: {result}"
            row = PlayRow(status=FAILED, phases=(task.first_row(),), message=told, **common)
        else:
            row = PlayRow(
                status=result.status,
                phases=tuple(result.phases),
                versions=dict(result.versions),
                host=result.host,
                **common,
            )
        self._ledger.write(row)
        return row


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
