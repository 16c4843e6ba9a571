"""`metalic report`: a page about studies and their tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..options import FamilyFile, Json, check_writable
from ..printing import warnings_as_lines


def command(
    ledgers: Annotated[list[str], typer.Argument(help="Ledgers of studies, and files of offline tests.")],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
    maps: Annotated[
        bool, typer.Option("--maps", help="Solve one PDE per family again and show point-wise errors (minutes).")
    ] = False,
    figure: Annotated[
        list[str] | None, typer.Option(help="A figure of your own to add, FILE.py:NAME; may be repeated.")
    ] = None,
    family: FamilyFile = None,
    as_json: Json = False,
) -> None:
    """Write a self-contained page about studies: what was learned, in words, figures and tables.

    Example: metalic report poisson.db poisson-test.db --out report.html
    """
    check_writable(out)
    from ... import runtime

    runtime.prepare()
    from ...evaluation.report import write_report

    with warnings_as_lines():
        write_report(ledgers, out, family=family, maps=maps, figures=figure or ())
    typer.echo(json.dumps({"out": str(out)}) if as_json else f"report written to {out}")
