"""`metalic sweep`: many members of a family."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import ParameterError
from ..display import sweep_display
from ..options import (
    Extrapolate,
    FamilyName,
    Json,
    OneSet,
    Quiet,
    Seed,
    Workers,
    check_writable,
    read_parameters,
    read_workers,
)
from ..printing import check_picture, print_json, save_picture


def command(
    family: FamilyName,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=FIRST:LAST:COUNT", help="A range, or a value; once for each."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--from", help="A CSV file of parameters instead, with a column for each.")
    ] = None,
    library: Annotated[
        Path | None, typer.Option(help="Where members are kept; run again to continue. [default: FAMILY-sweep.db]")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write all members on a grid to this .nc or .npz file.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw members and their errors to this file (.png, .pdf, .svg).")
    ] = None,
    conditions: OneSet = None,
    schedule: Annotated[str, typer.Option(help="For members that start cold.")] = "fast",
    iterations: Annotated[int, typer.Option(min=1, help="Iterations that every member gets at least.")] = 20,
    seed: Seed = 0,
    extrapolate: Extrapolate = False,
    workers: Workers = "1",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve many members of a family, each started from its neighbours.

    Example: metalic sweep poisson -p s=0:50:101 --out poisson.nc
    """
    ranges = {name: _range(name, text) for name, text in read_parameters(parameter).items()}
    for path in (out, figure):
        check_writable(path)
    pool = read_workers(workers)
    from ... import runtime

    runtime.prepare(pin=pool == 1)
    runtime.start_jax()
    from ...families import find_family
    from ...study.sweeping import check_format
    from ...study.sweeping import sweep as run

    if out is not None:
        check_format(out)
    if figure is not None:
        check_picture(figure)
    found = find_family(family)
    place = Path(f"{found.name}-sweep.db") if library is None else library
    options: dict[str, Any] = {"conditions": conditions, "schedule": schedule, "seed": seed, "iterations": iterations}
    options |= {"extrapolate": extrapolate, "workers": pool}
    with sweep_display(quiet) as show:
        done = run(family, table, library=place, progress=show, **options, **ranges)
    if out is not None:
        done.save(out)
    if figure is not None:
        save_picture(done.plot(), figure)
    members = [member for member in done.members if member is not None]
    worst = max((member.measure for member in members if member.measure is not None), default=None)
    if as_json:
        rows = [
            {"parameters": one.parameters, "error": one.error, "estimate": one.row.estimate, "loss": one.loss}
            for one in members
        ]
        failures = {str(number): message for number, message in done.failures.items()}
        print_json({"library": str(place), "members": rows, "failures": failures})
        return
    measured = "" if worst is None else f", the largest error is {worst:.2e}"
    typer.echo(f"{len(members)} of {len(done.parameters)} members are in {place}{measured}")
    for number, message in done.failures.items():
        typer.echo(f"member {number + 1} failed: {message}")
    for path in (out, figure):
        if path is not None:
            typer.echo(f"written to {path}")


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
