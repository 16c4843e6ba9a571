"""`metalic march`: a time-dependent PDE, slab after slab."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ...errors import MetalicWarning
from ..display import solve_display
from ..interrupts import interruptible_solve
from ..options import (
    BoundaryWeight,
    Extrapolate,
    FamilyName,
    Hidden,
    InterfaceWeight,
    Json,
    Parameters,
    PointCounts,
    Quiet,
    Seed,
    check_writable,
    read_parameters,
    read_points,
    read_weights,
    read_widths,
)
from ..printing import check_picture, print_json, save_picture
from .solve import print_solution


def command(
    family: FamilyName,
    parameter: Parameters = None,
    steps: Annotated[int, typer.Option(help="The number of slabs that the time is cut into.")] = 4,
    conditions: Annotated[str | None, typer.Option("--conditions", "-c", help="Inside slabs: names as 'u,c'.")] = None,
    schedule: Annotated[str, typer.Option(help="Of each slab.")] = "fast",
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the solution to this .npz file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf, .svg).")] = None,
    hidden: Hidden = None,
    points: PointCounts = None,
    lambda_boundary: BoundaryWeight = None,
    lambda_interface: InterfaceWeight = None,
    cold: Annotated[bool, typer.Option("--cold", help="Start every slab from random networks.")] = False,
    extrapolate: Extrapolate = False,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Estimate the error and judge.")] = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve a time-dependent PDE slab after slab, each begun where the one before ended.

    Example: metalic march advection -p beta=30 --steps 4
    """
    values, widths, weights = read_parameters(parameter), read_widths(hidden), read_weights(lambda_interface)
    for path in (out, plot):
        check_writable(path)
    from ... import runtime

    runtime.prepare()
    runtime.start_jax()
    from ...marching import march

    if plot is not None:
        check_picture(plot)
    with interruptible_solve(None), solve_display(quiet) as show, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*estimated relative error", MetalicWarning)  # printed below
        solution = march(
            family,
            conditions,
            schedule,
            steps=steps,
            seed=seed,
            cold=cold,
            extrapolate=extrapolate,
            progress=show,
            check=check,
            parameters=values,
            hidden=widths,
            points=read_points(points),
            lambda_boundary=lambda_boundary,
            lambda_interface=weights,
        )
    if out is not None:
        solution.save(out)
    if plot is not None:
        save_picture(solution.plot(), plot)
    if as_json:
        print_json(solution.to_dict())
    else:
        print_solution(solution, out, plot)
