"""Progress on stderr: live on a terminal, plain lines elsewhere, nothing with --quiet.

All live displays are one bar: what is done, how much of it, the time so far and the time left, a note. That of a study
has a table of its last plays above it.
"""

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
    from ..study import PlayRow, Study
    from ..study.continuation import Step
    from ..study.driver import Show, StudyProgress

Display = AbstractContextManager[Any]  # gives a progress callback, or None
Advance = Callable[..., None]  # of a bar: (description, done, total, note)


def solve_display(quiet: bool) -> Display:
    """Progress of one solve."""
    return _display(quiet, _solve_bar, _SolveLines)


def play_display(study: Study, quiet: bool) -> Display:
    """Progress of a study: the last plays, how chosen sets compare with others, the time left."""
    return _display(quiet, lambda: _live_board(_Board(study)), lambda: _Board(study, lines=True))


def trial_display(quiet: bool, name: Callable[[int], str] = str) -> Display:
    """Progress of independent trials; `name` makes a trial's name from its number."""
    return _display(quiet, lambda: _trial_bar(name), lambda: _TrialLines(name))


def sweep_display(quiet: bool) -> Display:
    """Progress of a pass by continuation."""
    return _display(quiet, _sweep_bar, lambda: _sweep_line)


def wait_display(quiet: bool, what: str) -> Display:
    """That something takes a while, on a terminal only."""
    return _display(quiet, lambda: _bar(what), lambda: None)


def _display(quiet: bool, live: Callable[[], Display], lines: Callable[[], Any]) -> Display:
    if quiet:
        return nullcontext()
    return live() if sys.stderr.isatty() else nullcontext(lines())


def _progress() -> Any:
    """The bar of all live displays. While the total is not known, it moves to and fro and the time left is empty."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _advance(progress: Any, task: Any) -> Advance:
    def advance(description: str, done: int = 0, total: int | None = None, note: str = "") -> None:
        count = "" if total is None else f"{done}/{total}"
        progress.update(task, description=description, completed=done, total=total, count=count, note=note)

    return advance


@contextmanager
def _bar(description: str) -> Iterator[Advance]:
    with _progress() as progress:
        yield _advance(progress, progress.add_task(description, total=None, count="", note=""))


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
    with _bar("compiling") as advance:

        def show(report: Report) -> None:
            where = f"phase {report.phase + 1}/{report.phases}"
            if report.loss is None:  # the phase begins: its program is compiled, or read from disk
                advance(f"{where} compiling {report.optimizer}", note="kept for next time")
                return
            error = "" if report.error is None else f"  error {number(report.error)}"
            note = f"loss {number(report.loss)}{error}"
            advance(f"{where} {report.optimizer}", report.iteration, report.iterations, note)

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
    from rich.console import Console, Group
    from rich.live import Live

    progress = _progress()
    board.advance = _advance(progress, progress.add_task("compiling, then the first play", count="", note=""))
    board.advance("compiling, then the first play")

    def shown() -> Any:
        return Group(board.table(), progress) if board.rows else progress

    with Live(console=Console(stderr=True), get_renderable=shown, refresh_per_second=2):
        yield board


class _Board:
    """Keeps what the display shows: the last plays, and how their errors compare with those of other sets."""

    last = 12

    def __init__(self, study: Study, lines: bool = False):
        from ..evaluation.standing import standing_of

        self.lines, self.clock = lines, _Clock()
        self.advance: Advance = lambda *_, **__: None
        self.rows: list[tuple[str, ...]] = []
        self.standing, self.plays = standing_of(study), list(study.plays)

    def __call__(self, progress: StudyProgress) -> None:
        row = progress.play
        if row is None:
            note = f"{progress.flying} play(s) in flight have {GRACE:g} s to finish; Ctrl-C again stops at once"
            self.advance(note, progress.finished_count, progress.goal)
            if self.lines:
                typer.echo(note, err=True)
            return
        self.clock.steps += 1
        self.plays.append(row)
        error = number(row.error) if row.taught else row.status
        self.rows.append((str(row.number), context(row), row.arm, error, self._kind(row)))
        compared = self.standing.compare(self.plays)
        standing = "" if compared is None else compared.text
        self.advance("plays", progress.finished_count, progress.goal, standing)
        if self.lines:
            outcome = f"{context(row)}  {row.arm}  error {error}"
            left = self.clock.left(progress)
            typer.echo(
                f"play {row.number}/{progress.goal}  {outcome}  {left}" + (f"  {standing}" if standing else ""),
                err=True,
            )

    def _kind(self, row: PlayRow) -> str:
        return self.standing.kind(row) if row.taught else ""

    def table(self) -> Any:
        from .printing import rich_table

        return rich_table(("play", "context", "conditions", "error", "chosen by"), self.rows[-self.last :])


# ---- trials


@contextmanager
def _trial_bar(name: Callable[[int], str]) -> Iterator[Show]:
    with _bar("compiling") as advance:
        yield lambda progress: advance(
            "trials", progress.finished_count, progress.goal, _describe_trial(progress, name)
        )


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
    with _bar("compiling") as advance:
        yield lambda step: advance("members", step.finished_count, step.goal)


def _sweep_line(step: Step) -> None:
    where = ", ".join(f"{name}={value:.6g}" for name, value in step.parameters.items())
    if step.member is None:
        typer.echo(f"{step.finished_count}/{step.goal}  {where}  failed: {step.message}", err=True)
        return
    measure, phases = step.member.measure, step.member.row.phases
    error = "" if measure is None else f"  error {measure:.2e}"
    steps, seconds = (sum(getattr(phase, name) or 0 for phase in phases) for name in ("iterations", "seconds"))
    typer.echo(f"{step.finished_count}/{step.goal}  {where}{error}  {steps} iterations in {seconds:.1f} s", err=True)
