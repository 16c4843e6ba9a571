"""`metalic export`: the plays of a study as a table in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..options import Json, LedgerName, check_writable


def command(
    ledger: LedgerName,
    out: Annotated[Path, typer.Argument(help="A .csv, .json or .parquet file.")],
    as_json: Json = False,
) -> None:
    """Write the plays of a study as a table, a row per play."""
    check_writable(out)
    from ...study import Ledger, tables
    from ...study.knowledge import find_ledger

    with Ledger(find_ledger(ledger)) as reader:
        rows = [row for row in reader.plays() if not row.borrowed]
    tables.export(rows, out)
    if as_json:
        typer.echo(json.dumps({"out": str(out), "plays": len(rows)}))
    else:
        typer.echo(f"{len(rows)} plays written to {out}")
