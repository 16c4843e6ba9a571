"""Progress on stderr: live on a terminal, plain lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from .interrupts import GRACE
from .printing import context, number

if TYPE_CHECKING:
    from ..pinn import Report
    from ..study import Study
    from ..study.continuation import Step
    from ..study.driver import Show, StudyProgress

Display = AbstractContextManager[Any]  # gives a progress callback, or None


def solve_display(quiet: bool) -> Display:
    """Progress of one solve."""
    return _display(quiet, _solve_bar, _SolveLines)


def play_display(study: Study, quiet: bool) -> Display:
    """Progress of a study: the last plays, the best error, the accumulated error, the time left."""
    return _display(quiet, lambda: _live_board(_Board(study)), lambda: _Board(study, lines=True))


def trial_display(quiet: bool, name: Callable[[int], str] = str) -> Display:
    """Progress of independent trials; `name` makes a trial's name from its number."""
    return _display(quiet, lambda: _trial_bar(name), lambda: _TrialLines(name))


def sweep_display(quiet: bool) -> Display:
    """Progress of a pass by continuation."""
    return _display(quiet, _sweep_bar, lambda: _sweep_line)


def _display(quiet: bool, live: Callable[[], Display], lines: Callable[[], Any]) -> Display:
    if quiet:
        return nullcontext()
    return live() if sys.stderr.isatty() else nullcontext(lines())


class _Clock:
    """Estimates the time left from the time that the steps so far took."""

    def __init__(self) -> None:
        self.begun, self.steps = time.monotonic(), 0

    def left(self, progress: StudyProgress) -> str:
        spent = time.monotonic() - self.begun
        return f"about {spent / max(self.steps, 1) * (progress.goal - progress.finished_count):.0f} s left"


# ---- one solve


@contextmanager
def _solve_bar() -> Iterator[Callable[[Report], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("phase {task.fields[phase]} {task.fields[optimizer]:<12}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  loss {task.fields[loss]}  error {task.fields[error]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        fields: dict[str, Any] = {"phase": "1", "optimizer": "compiling", "loss": "-", "error": "-"}
        task = bar.add_task("", total=1, **fields)
        current = [-1]

        def show(report: Report) -> None:
            if report.phase != current[0]:
                current[0] = report.phase
                bar.reset(task)
            bar.update(
                task,
                completed=report.iteration,
                total=report.iterations,
                phase=f"{report.phase + 1}/{report.phases}",
                optimizer=report.optimizer,
                loss=number(report.loss),
                error=number(report.error),
            )

        yield show


class _SolveLines:
    """A line every few seconds, for logs."""

    interval = 5.0

    def __init__(self) -> None:
        self.last, self.begun = time.monotonic(), False

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if report.loss is None:  # a phase begins; the arguments of the solve have been checked
            if not self.begun:
                typer.echo("compiling, then training (kept for next time) ...", err=True)
            self.begun = True
            return
        if now - self.last < self.interval and report.iteration < report.iterations:
            return
        self.last = now
        left = report.seconds / report.iteration * (report.iterations - report.iteration)
        error = "" if report.error is None else f"  error {report.error:.2e}"
        typer.echo(
            f"phase {report.phase + 1}/{report.phases} {report.optimizer}: {report.iteration}/{report.iterations}"
            f"  loss {report.loss:.2e}{error}  at most {left:.0f} s left",
            err=True,
        )


# ---- the plays of a study


@contextmanager
def _live_board(board: _Board) -> Iterator[_Board]:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), get_renderable=board.table, refresh_per_second=2):
        yield board


class _Board:
    """Keeps what the display shows: the last plays, the best error, the accumulated error, the time left."""

    last = 12

    def __init__(self, study: Study, lines: bool = False):
        self.lines, self.clock, self.note = lines, _Clock(), ""
        self.rows: list[tuple[str, ...]] = []
        before = [play for play in study.plays if play.taught and play.error is not None]
        self.errors = [play.error or 0.0 for play in before]
        self.was_random = study.was_random
        self.random = [play.error or 0.0 for play in before if study.was_random(play)]

    def __call__(self, progress: StudyProgress) -> None:
        row = progress.play
        if row is None:
            self.note = f"{progress.flying} play(s) in flight have {GRACE:g} s to finish; Ctrl-C again stops at once"
            if self.lines:
                typer.echo(self.note, err=True)
            return
        self.clock.steps += 1
        if row.taught and row.error is not None:
            self.errors.append(row.error)
            if self.was_random(row):
                self.random.append(row.error)
        left, best = self.clock.left(progress), number(min(self.errors, default=None))
        error = number(row.error) if row.taught else row.status
        self.note = f"{progress.finished_count} of {progress.goal} plays, {left}{self._accumulated()}"
        self.rows.append((str(row.number), context(row), row.arm, error, best))
        if self.lines:
            outcome = f"{context(row)}  {row.arm}  error {error}  best {best}"
            typer.echo(f"play {row.number}/{progress.goal}  {outcome}  {left}", err=True)

    def _accumulated(self) -> str:
        """The accumulated error beside that of random sets, estimated from the mean of the random plays so far."""
        if not self.random:
            return ""
        expected = sum(self.random) / len(self.random) * len(self.errors)
        return f"; accumulated error {sum(self.errors):.3g}, by random sets about {expected:.3g}"

    def table(self) -> Any:
        from rich.table import Table

        table = Table("play", "context", "conditions", "error", "best so far", caption=self.note or "compiling ...")
        for row in self.rows[-self.last :]:
            table.add_row(*row)
        return table


# ---- trials


@contextmanager
def _trial_bar(name: Callable[[int], str]) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling ...", total=None)

        def show(progress: StudyProgress) -> None:
            text = _describe_trial(progress, name)
            bar.update(task, completed=progress.finished_count, total=progress.goal, description=text)

        yield show


class _TrialLines:
    """A line for every trial."""

    def __init__(self, name: Callable[[int], str]):
        self.name, self.clock = name, _Clock()

    def __call__(self, progress: StudyProgress) -> None:
        self.clock.steps += progress.play is not None
        count, text = f"{progress.finished_count}/{progress.goal}", _describe_trial(progress, self.name)
        typer.echo(f"{count}  {text}  {self.clock.left(progress)}", err=True)


def _describe_trial(progress: StudyProgress, name: Callable[[int], str]) -> str:
    row = progress.play
    if row is None:
        return f"finishing {progress.flying} trial(s) in flight; Ctrl-C again stops at once"
    error = row.status if row.error is None else f"error {row.error:.2e}"
    return f"{name(row.number)}  {row.arm}  {error}"


# ---- many members


@contextmanager
def _sweep_bar() -> Iterator[Callable[[Step], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("members", total=None)
        yield lambda step: bar.update(task, completed=step.finished, total=step.goal)


def _sweep_line(step: Step) -> None:
    where = ", ".join(f"{name}={value:.6g}" for name, value in step.parameters.items())
    if step.member is None:
        typer.echo(f"{step.finished}/{step.goal}  {where}  failed: {step.message}", err=True)
        return
    measure, phases = step.member.measure, step.member.row.phases
    error = "" if measure is None else f"  error {measure:.2e}"
    steps, seconds = (sum(getattr(phase, name) or 0 for phase in phases) for name in ("iterations", "seconds"))
    typer.echo(f"{step.finished}/{step.goal}  {where}{error}  {steps} iterations in {seconds:.1f} s", err=True)
