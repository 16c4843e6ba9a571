"""Trials: many independent solves kept in a ledger.

A trial is a play whose sets do not depend on other trials, so their order does not matter. Those that are missing from
the file are run by the driver and the workers of a study, and each is written when it is finished. If the process is
killed, no finished trial is lost, and the next run continues. `metalic show` and `export` read the file like any
ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..study.closing import Closing
from ..study.driver import Driver, Show
from ..study.ledger import Ledger
from ..study.play import Outcome, Task
from ..study.rows import RUNNING, PlayRow, now
from ..study.settings import differences
from ..study.workers import open_pool

Todo = Mapping[int, Callable[[], Task]]
"""What to run: functions that make the tasks, by the trial's number."""


class Trials(Closing):
    """An open file of trials.

    Args:
        path: The file; created if it does not exist.
        settings: Its settings, which must agree with an existing file; None to read only.

    Raises:
        StudyError: The settings do not agree with the file.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None):
        self.path = Path(path)
        self._ledger = Ledger(self.path) if settings is None else Ledger.writer(self.path, settings)
        self.settings = self._ledger.settings()
        differing = [] if settings is None else differences(self.settings, settings)
        if differing:
            self._ledger.close()
            changes = "; ".join(f"{name} was {old} and is now {new}" for name, old, new in differing)
            raise StudyError(f"'{path}' was created with other settings: {changes}. Use another file")
        self._todo: dict[int, Callable[[], Task]] = {}
        self._flying: dict[int, str] = {}

    @property
    def rows(self) -> dict[int, PlayRow]:
        """All finished trials by number."""
        return {row.number: row for row in self._ledger.plays()}

    def run(self, todo: Todo, workers: int | str | Any = 1, progress: Show | None = None) -> None:
        """Run the trials that are not in the file; `workers` and `progress` as in `Study.play`."""
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

    # ---- the interface of the driver

    @property
    def finished_count(self) -> int:
        return len(self.rows)

    def ask(self) -> Task:
        number = next(number for number in self._todo if number not in self._flying)
        self._flying[number] = now()
        return self._todo[number]()

    def tell(self, task: Task, result: Outcome | Exception, attempts: int = 1) -> PlayRow:
        row = PlayRow(
            number=task.number,
            status=RUNNING,
            parameters=dict(task.parameters),
            seed=task.seed,
            phases=(task.first_row(),),
            started=self._flying[task.number],
        ).finish(result, attempts)
        self._ledger.write(row)
        return row
