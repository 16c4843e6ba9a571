"""`metalic sweep` and `metalic prepare`: many members of a family."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError
from .options import FamilyName, Json, Seed, check_writable, read_parameters

if TYPE_CHECKING:
    from ..study.continuation import Step

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Conditions = Annotated[str | None, typer.Option("--conditions", "-c", help="One set for all members, as u,c.")]
Schedule = Annotated[str, typer.Option(help="For members that start cold.")]


def sweep(
    family: FamilyName,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=FIRST:LAST:COUNT", help="A range, or a value; once for each."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--from", help="A CSV file of parameters instead, with a column for each.")
    ] = None,
    library: Annotated[
        Path | None, typer.Option(help="Where members are kept; run again to go on. [default: FAMILY-sweep.db]")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write all members on a grid to this .nc or .npz file.")] = None,
    conditions: Conditions = None,
    schedule: Schedule = "fast",
    iterations: Annotated[int, typer.Option(min=1, help="Iterations that every member gets at least.")] = 20,
    seed: Seed = 0,
    extrapolate: Annotated[bool, typer.Option("--extrapolate", help="Allow parameters outside their boxes.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve many members of a family, each started from its neighbours.

    Example: metalic sweep poisson -p s=0:50:101 --out poisson.nc
    """
    ranges = {name: _range(name, text) for name, text in read_parameters(parameter).items()}
    check_writable(out)
    from .. import runtime

    runtime.prepare()
    from ..families import find_family
    from ..study.sweeping import check_format
    from ..study.sweeping import sweep as run

    if out is not None:
        check_format(out)
    found = find_family(family)
    place = Path(f"{found.name}-sweep.db") if library is None else library
    options: dict[str, Any] = {"conditions": conditions, "schedule": schedule, "seed": seed, "iterations": iterations}
    with _display(quiet) as show:
        done = run(family, table, library=place, extrapolate=extrapolate, progress=show, **options, **ranges)
    if out is not None:
        done.save(out)
    members = [member for member in done.members if member is not None]
    worst = max((member.measure for member in members if member.measure is not None), default=None)
    if as_json:
        rows = [
            {"parameters": one.parameters, "error": one.error, "estimate": one.row.estimate, "loss": one.loss}
            for one in members
        ]
        failures = {str(number): message for number, message in done.failures.items()}
        typer.echo(json.dumps({"library": str(place), "members": rows, "failures": failures}, indent=2))
        return
    measured = "" if worst is None else f", the largest error is {worst:.2e}"
    typer.echo(f"{len(members)} of {len(done.parameters)} members are in {place}{measured}")
    for number, message in done.failures.items():
        typer.echo(f"member {number + 1} failed: {message}")
    if out is not None:
        typer.echo(f"written to {out}")


def prepare(
    source: Annotated[str, typer.Argument(help="A family, or the ledger of a study (.db) whose sets to use.")],
    out: Annotated[Path | None, typer.Option(help="The library. [default: FAMILY-members.db]")] = None,
    members: Annotated[int, typer.Option(min=2, help="How many members, spread over the box.")] = 17,
    family: Annotated[str | None, typer.Option(help="The family of a study, if it is your own.")] = None,
    conditions: Conditions = None,
    schedule: Schedule = "fast",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a library of solved members that later solves start from. Run the same command again to go on.

    Example: metalic prepare poisson --out poisson-members.db
    """
    from .. import runtime

    runtime.prepare()
    from ..families import find_family
    from ..study import Study
    from ..study.sweeping import prepare as run

    study = Study(source, family, read_only=True) if source.endswith(".db") else None
    about = source if study is None else study.family
    place = Path(f"{find_family(about).name}-members.db") if out is None else out
    check_writable(place)
    options: dict[str, Any] = {"members": members, "conditions": conditions, "schedule": schedule, "seed": seed}
    with _display(quiet) as show:
        library = run(place, about, study=study, progress=show, **options)
    typer.echo(f"{len(library)} members are in {place}: metalic solve {library.family.name} --start {place} ...")


def _range(name: str, text: str) -> Any:
    """'0:50:101' -> (0.0, 50.0, 101); a single value stays a text, which the family reads."""
    parts = text.split(":")
    if len(parts) == 1:
        return text
    try:
        first, last, count = parts
        return float(first), float(last), int(count)
    except ValueError:
        raise ParameterError(f"-p {name} takes FIRST:LAST:COUNT, as in 0:50:101, or a value, not '{text}'") from None


@contextmanager
def _display(quiet: bool) -> Iterator[Callable[[Step], None] | None]:
    """A bar on a terminal, a line per member elsewhere, nothing if quiet; always on stderr."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield _line
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("members", total=None)
            yield lambda step: bar.update(task, completed=step.finished, total=step.goal)


def _line(step: Step) -> None:
    where = ", ".join(f"{name}={value:.6g}" for name, value in step.parameters.items())
    if step.member is None:
        typer.echo(f"{step.finished}/{step.goal}  {where}  failed: {step.message}", err=True)
        return
    measure, phases = step.member.measure, step.member.row.phases
    error = "" if measure is None else f"  error {measure:.2e}"
    steps, seconds = (sum(getattr(phase, name) or 0 for phase in phases) for name in ("iterations", "seconds"))
    typer.echo(f"{step.finished}/{step.goal}  {where}{error}  {steps} iterations in {seconds:.1f} s", err=True)
