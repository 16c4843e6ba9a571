"""`metalic prepare`: a library of solved members over the box of a family."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import sweep_display
from ..options import OneSet, Quiet, Seed, check_writable, read_parameters


def command(
    source: Annotated[str, typer.Argument(help="A family, or the ledger of a study (.db) whose sets to use.")],
    out: Annotated[Path | None, typer.Option(help="The library. [default: FAMILY-members.db]")] = None,
    members: Annotated[int, typer.Option(min=2, help="How many members, spread over the box.")] = 17,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations that every member gets at least.")] = 200,
    refine: Annotated[
        int, typer.Option(min=0, help="How often a step between members may be halved where starts in between are bad.")
    ] = 2,
    adaptive: Annotated[bool, typer.Option("--adaptive", help="Gather points where the residual is large.")] = False,
    begin: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Where the first member is solved; once for each.")
    ] = None,
    family: Annotated[str | None, typer.Option(help="The family of a study, if it is your own.")] = None,
    conditions: OneSet = None,
    schedule: Annotated[str, typer.Option(help="For members that start cold.")] = "fast",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a library of solved members that later solves start from. Run the same command again to continue.

    Example: metalic prepare poisson --out poisson-members.db
    """
    from ... import runtime

    runtime.prepare()
    runtime.start_jax()
    from ...families import find_family
    from ...study import Study
    from ...study.sweeping import prepare as run

    study = Study(source, family, read_only=True) if source.endswith(".db") else None
    about = source if study is None else study.family
    place = Path(f"{find_family(about).name}-members.db") if out is None else out
    check_writable(place)
    first = read_parameters(begin) if begin else None
    steps: dict[str, Any] = {
        "members": members,
        "iterations": iterations,
        "refine": refine,
        "adaptive": adaptive,
        "begin": first,
    }
    options: dict[str, Any] = {**steps, "conditions": conditions, "schedule": schedule, "seed": seed}
    with sweep_display(quiet) as show:
        library = run(place, about, study=study, progress=show, **options)
    typer.echo(f"{len(library)} members are in {place}: metalic solve {library.family.name} --start {place} ...")
