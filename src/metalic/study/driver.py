"""The driver of plays: it asks a study for tasks, gives them to a pool of workers, and reports the outcomes."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import StudyError
from ..progress import Stage
from .play import Outcome, Task
from .rows import FAILED, PlayRow
from .workers import Pool

RETRIES = 2
FAILURES_IN_A_ROW = 5


@dataclass(frozen=True)
class StudyProgress:
    """What a progress callback receives.

    Attributes:
        play: The row of the play that has just finished; None after the first Ctrl-C, which another thread reports.
        finished_count: The number of finished plays, failed ones included.
        goal: The number of finished plays at the end.
        flying: The number of plays in flight.
        stopping: Whether Ctrl-C was pressed.
    """

    play: PlayRow | None
    finished_count: int
    goal: int
    flying: int
    stopping: bool = False

    @property
    def stage(self) -> Stage:
        """For a progress bar."""
        if self.play is None:
            return Stage("plays", self.finished_count, self.goal, f"finishing {self.flying} play(s) in flight")
        error = self.play.status if self.play.error is None else f"error {self.play.error:.2e}"
        return Stage("plays", self.finished_count, self.goal, f"{self.play.arm}  {error}")


Show = Callable[[StudyProgress], None]


class Source(Protocol):
    """Where tasks come from and outcomes go: a study, or a table of trials."""

    @property
    def finished_count(self) -> int:
        """The number of finished plays, failed ones included."""

    def ask(self) -> Task: ...

    def tell(self, task: Task, result: Outcome | Exception, attempts: int = 1) -> PlayRow: ...


class Driver:
    """One call of `Study.play`."""

    def __init__(
        self,
        study: Source,
        pool: Pool,
        count: int,
        progress: Show | None,
        enough: Callable[[], bool] = lambda: False,
    ):
        self.study, self.pool, self.count, self.enough = study, pool, count, enough
        self.show: Show = progress or (lambda _: None)
        self.finished_count = study.finished_count
        self.goal = self.finished_count + count
        self.failures: Counter[int] = Counter()
        self.row_of_failures = 0
        self.flying = 0

    def run(self) -> None:
        """Run until `count` more plays are finished, or the study asks to stop.

        Raises:
            KeyboardInterrupt: After a Ctrl-C, once the plays in flight are written.
            StudyError: Several plays in a row failed.
        """
        begun = 0
        with first_interrupt(self._stopping) as stop:
            while True:
                while begun < self.count and self.flying < self.pool.capacity() and not stop.is_set():
                    if self.enough():
                        begun = self.count
                        break
                    self.pool.submit(self.study.ask())
                    self.flying, begun = self.flying + 1, begun + 1
                if not self.flying:
                    break
                self._settle(*self.pool.next(), retry=not stop.is_set())
        if stop.is_set():
            raise KeyboardInterrupt

    def _stopping(self) -> None:
        self.show(StudyProgress(None, self.finished_count, self.goal, self.flying, stopping=True))

    def _settle(self, task: Task, result: Outcome | Exception, retry: bool) -> None:
        if isinstance(result, Exception):
            self.failures[task.number] += 1
            if self.failures[task.number] <= RETRIES:
                if retry:
                    self.pool.submit(task)
                else:
                    self.flying -= 1  # it stays in the ledger as running and is repeated next time
                return
        self.flying -= 1
        row = self.study.tell(task, result, attempts=self.failures[task.number] + isinstance(result, Outcome))
        self.finished_count = self.study.finished_count
        self.show(StudyProgress(row, self.finished_count, self.goal, self.flying))
        self.row_of_failures = self.row_of_failures + 1 if row.status == FAILED else 0
        if self.row_of_failures >= FAILURES_IN_A_ROW:
            raise StudyError(
                f"{FAILURES_IN_A_ROW} plays in a row failed, the last (play {row.number}) with: {row.message}. The "
                "study is stopped; fix the cause and run it again"
            )


@contextmanager
def first_interrupt(report: Callable[[], None]) -> Iterator[threading.Event]:
    """Let the first Ctrl-C only set the event; the second raises KeyboardInterrupt as usual.

    `report` is called in another thread: the signal handler may interrupt a write to the stream that `report` writes
    to, and that stream must not be entered twice. At the end the thread is joined and the old handler is restored.
    """
    stop, reporter = threading.Event(), threading.Thread(target=report)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reporter.start()

    signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        if reporter.ident is not None:  # it was started
            reporter.join()
        signal.signal(signal.SIGINT, before)
