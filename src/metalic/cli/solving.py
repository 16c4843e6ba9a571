"""`metalic solve`: one PDE, one set of conditions (or one per phase)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..atomic import write_whole
from .options import FamilyName, Json, Parameters, Seed, check_writable, read_parameters
from .studying import recommended

if TYPE_CHECKING:
    from ..pinn import Report, Solution


def solve(
    family: FamilyName,
    parameter: Parameters = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            "--conditions",
            "-c",
            help="Names 'u,c', an index, 'all', 'none'; 'u,c;u' one set per phase; study.db: as it advises; "
            "the family's name: as the ready-made ledger advises.",
        ),
    ] = None,
    schedule: Annotated[
        str | None, typer.Option(help="fast (default of a cold start), quick, accurate, or paper; see docs/solver.md.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the solution to this .npz file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf, .svg).")] = None,
    precision: Annotated[str | None, typer.Option(help="float64 (default) or float32.")] = None,
    sampling: Annotated[
        str | None, typer.Option(help="random, grid, latin, sobol or poisson; the schedule's own unless given.")
    ] = None,
    scaling: Annotated[
        str | None, typer.Option(help="Of inputs: subdomain, domain or none; the schedule's own unless given.")
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Start from this solution (.npz), library or study (.db).")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Start from random networks, whatever libraries exist.")] = False,
    extrapolate: Annotated[bool, typer.Option("--extrapolate", help="Allow parameters outside their boxes.")] = False,
    pin: Annotated[bool, typer.Option(help="Run on one core, where a seed gives the same bits every time.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> None:
    """Solve one PDE of a family.

    Example: metalic solve poisson -p s=20 -c u,c --plot poisson.png
    """
    values = read_parameters(parameter)
    for path in (out, plot):
        check_writable(path)
    from .. import runtime

    runtime.prepare(pin=pin)
    from ..families import find_family
    from ..solving import solve as run

    found = find_family(family)
    found.check_parameters(values, extrapolate)
    if plot is not None:
        _check_picture(plot)
    chosen: Any = conditions
    if conditions is not None and (conditions.endswith(".db") or conditions == found.name):
        chosen = recommended(conditions, found, values, schedule or "fast", extrapolate)
    with progress_display(quiet) as show:
        solution = run(
            found,
            chosen,
            schedule,
            seed=seed,
            precision=precision,
            sampling=sampling,
            scaling=scaling,
            extrapolate=extrapolate,
            progress=show,
            start=start,
            cold=cold,
            parameters=values,
        )
    if out is not None:
        solution.save(out)
    if plot is not None:
        figure, kind = solution.plot(), plot.suffix.lstrip(".").lower()
        write_whole(plot, lambda file: figure.savefig(file, format=kind, dpi=120))
    if as_json:
        typer.echo(json.dumps(solution.to_dict(), indent=2))
    else:
        print_solution(solution, out, plot)


def _check_picture(path: Path) -> None:
    from matplotlib.backend_bases import FigureCanvasBase

    from ..errors import FileError

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise FileError(f"'{path}': a picture ends in one of .{', .'.join(sorted(known))}")


def print_solution(solution: Solution, out: Path | None, plot: Path | None) -> None:
    """A small table for people."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("phase", "optimizer", "conditions", "steps", "seconds", "loss", "error", "stopped because"):
        wraps = name in ("conditions", "stopped because")
        table.add_column(name, no_wrap=not wraps, overflow="fold", min_width=10 if wraps else None)
    for i, phase in enumerate(solution.phases):
        table.add_row(
            str(i + 1),
            phase.optimizer,
            ",".join(phase.conditions) or "none",
            str(phase.iterations),
            f"{phase.seconds:.1f}",
            f"{phase.loss:.2e}",
            "-" if phase.error is None else f"{phase.error:.2e}",
            phase.stop_reason,
        )
    console.print(table)
    if solution.start is not None:
        console.print(f"started from {solution.start['source']} ({solution.start['kind']})", soft_wrap=True)
    if solution.diverged:
        console.print("The run diverged: its loss is not a number. Another set of conditions or seed may help.")
    elif solution.error is not None:
        console.print(f"relative L2 error against the reference: [bold]{solution.error:.3e}[/bold]")
    for path, what in ((out, "solution"), (plot, "picture")):
        if path is not None:
            console.print(f"{what} written to {path}", soft_wrap=True)


@contextmanager
def progress_display(quiet: bool) -> Iterator[Callable[[Report], None] | None]:
    """A live bar on a terminal, plain lines elsewhere, nothing if quiet; always on stderr."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as show:
            yield show
    else:
        yield _Lines()


@contextmanager
def _bar() -> Iterator[Callable[[Report], None]]:
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
                loss="-" if report.loss is None else f"{report.loss:.2e}",
                error="-" if report.error is None else f"{report.error:.2e}",
            )

        yield show


class _Lines:
    """A line now and then, for logs."""

    interval = 5.0

    def __init__(self) -> None:
        self.last, self.begun = time.monotonic(), False

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if report.loss is None:  # a phase begins, and all that was given is found to be right
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
