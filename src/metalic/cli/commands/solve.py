"""`metalic solve`: one PDE, one set of conditions (or one per phase)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import MetalicWarning, StudyError
from ..display import solve_display
from ..interrupts import interruptible_solve
from ..options import (
    BoundaryWeight,
    Extrapolate,
    FamilyName,
    Hidden,
    InterfaceWeight,
    Json,
    Level,
    Parameters,
    PointCounts,
    Quiet,
    Seed,
    check_writable,
    read_levels,
    read_parameters,
    read_points,
    read_weights,
    read_widths,
)
from ..printing import check_picture, names, number, print_json, print_rows, save_picture, warnings_as_lines

if TYPE_CHECKING:
    from ...pinn import Solution
    from ...study import Recommendation

COLUMNS = ("phase", "optimizer", "conditions", "steps", "seconds", "loss", "error", "stopped because")


def command(
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
    choose: Level = None,
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
    hidden: Hidden = None,
    points: PointCounts = None,
    lambda_boundary: BoundaryWeight = None,
    lambda_interface: InterfaceWeight = None,
    start: Annotated[Path | None, typer.Option(help="Start from this solution (.npz), library or study (.db).")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Start from random networks, whatever libraries exist.")] = False,
    extrapolate: Extrapolate = False,
    seconds: Annotated[float | None, typer.Option(help="Stop training after this time.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep the solve in progress in this file; continue from it if it exists.")
    ] = None,
    check: Annotated[
        bool | None, typer.Option("--check/--no-check", help="Estimate the error and judge the solution (default).")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Also solve with another seed, and compare.")] = False,
    tolerance: Annotated[
        float | None, typer.Option(help="Continue until the estimated error is below this (1000 more iterations).")
    ] = None,
    pin: Annotated[bool, typer.Option(help="Run on one core, where a seed gives the same bits every time.")] = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve one PDE of a family.

    Example: metalic solve poisson -p s=20 -c u,c --plot poisson.png
    """
    values, levels = read_parameters(parameter), read_levels(choose)
    widths, weights = read_widths(hidden), read_weights(lambda_interface)
    for path in (out, plot, checkpoint):
        check_writable(path)
    from ... import runtime

    runtime.prepare(pin=pin)
    runtime.start_jax()
    from ...families import find_family
    from ...solving import solve

    found = find_family(family)
    found.check_parameters(values, extrapolate)
    if plot is not None:
        check_picture(plot)
    chosen: Any = conditions
    if conditions is not None and (conditions.endswith(".db") or conditions == found.name):
        chosen = recommended(conditions, found, values, schedule or "fast", extrapolate)
    with interruptible_solve(checkpoint), solve_display(quiet) as show, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*estimated relative error", MetalicWarning)  # printed below
        solution = solve(
            found,
            chosen,
            schedule,
            seed=seed,
            precision=precision,
            sampling=sampling,
            scaling=scaling,
            hidden=widths,
            points=read_points(points),
            lambda_boundary=lambda_boundary,
            lambda_interface=weights,
            extrapolate=extrapolate,
            progress=show,
            seconds=seconds,
            checkpoint=checkpoint,
            check=check,
            verify=verify,
            tolerance=tolerance,
            start=start,
            cold=cold,
            choices=levels,
            parameters=values,
        )
    if out is not None:
        solution.save(out)
    if plot is not None:
        save_picture(solution.plot(), plot)
    if as_json:
        print_json(solution.to_dict())
    else:
        print_solution(solution, out, plot)


def recommended(path: str, family: Any, values: dict[str, str], schedule: str, extrapolate: bool) -> Recommendation:
    """The conditions of `metalic solve -c study.db`; the schedule must have as many phases as the study's."""
    from ...pinn.schedule import find_schedule
    from ...study import Study

    with warnings_as_lines(), Study(path, family, read_only=True) as study:
        phases, wanted = len(study.settings.schedule.phases), len(find_schedule(schedule).phases)
        if phases != wanted:
            raise StudyError(f"'{path}' knows plays of {phases} phase(s); schedule '{schedule}' has {wanted}")
        return study.recommend(values, extrapolate=extrapolate)


def print_solution(solution: Solution, out: Path | None, plot: Path | None) -> None:
    from rich.console import Console

    console = Console()
    rows = [
        (
            str(number_of),
            phase.optimizer,
            names(phase.conditions),
            str(phase.iterations),
            f"{phase.seconds:.1f}",
            number(phase.loss),
            number(phase.error),
            phase.stop_reason,
        )
        for number_of, phase in enumerate(solution.phases, start=1)
    ]
    print_rows(COLUMNS, rows)
    levels = solution.phases[-1].decision.choices if solution.phases[-1].decision else {}
    if levels:
        console.print(f"divided with {' '.join(f'{name}={level}' for name, level in levels.items())}")
    if solution.start is not None:
        console.print(f"started from {solution.start['source']} ({solution.start['kind']})", soft_wrap=True)
    if solution.diverged:
        console.print("The run diverged: its loss is not a number. Another set of conditions or seed may help.")
    elif solution.error is not None:
        console.print(f"relative L2 error against the reference: [bold]{solution.error:.3e}[/bold]")
    if solution.checked is not None:
        console.print(f"check: {solution.checked.text}", markup=False, soft_wrap=True)
    for path, what in ((out, "solution"), (plot, "picture")):
        if path is not None:
            console.print(f"{what} written to {path}", soft_wrap=True)
