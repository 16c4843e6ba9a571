"""`metalic reproduce`: one of the paper's tables or figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..display import trial_display
from ..interrupts import exit_on_interrupt
from ..options import Json, ProtocolName, Quiet, Workers, read_workers
from ..printing import print_json, print_table, warnings_as_lines

if TYPE_CHECKING:
    from ...study.driver import Show


def command(
    item: Annotated[
        str,
        typer.Argument(
            help="online, offline, pointwise, analysis, sampling, combinations, regret or claims; or FILE.py:NAME."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Directory of the figures, the tables and new runs.")] = Path("reproduced"),
    scale: Annotated[str, typer.Option(help="full: as the paper. small: seconds, to see that it works.")] = "full",
    ledgers: Annotated[
        Path | None, typer.Option(help="Directory of ledgers and offline tests to read; what is missing is run.")
    ] = None,
    family: Annotated[list[str] | None, typer.Option("--family", help="Only this one; may be repeated.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Of studies and tests. [default: fast]")] = None,
    protocol: ProtocolName = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Run what is missing, or leave it out.")] = True,
    workers: Workers = "1",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make one of the paper's tables or figures again. Run the same command again to continue.

    Example: metalic reproduce regret --scale small --out reproduced
    """
    pool = read_workers(workers)
    from ... import runtime

    runtime.prepare(pin=pool == 1)
    from ...reproduction import reproduce

    @contextmanager
    def display(text: str) -> Iterator[Show | None]:
        if not quiet:
            typer.echo(text, err=True)
        with trial_display(quiet) as show:
            yield show

    options: dict[str, Any] = {"scale": scale, "ledgers": ledgers, "families": family, "schedule": schedule, "run": run}
    options["protocol"] = protocol
    with warnings_as_lines(), exit_on_interrupt(out):
        made = reproduce(item, out, workers=pool, progress=display, **options)
    if as_json:
        print_json({"files": [str(path) for path in made.files], "rows": made.table.texts()})
    else:
        print_table(made.table, f"{len(made.files)} files in {out}")
