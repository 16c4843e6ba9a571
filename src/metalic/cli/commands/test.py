"""`metalic test`: what a study has learned, on PDEs that it has not played."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..display import trial_display
from ..interrupts import exit_on_interrupt
from ..options import FamilyFile, Json, LedgerName, ProtocolName, Quiet, Workers, check_writable, read_workers
from ..printing import print_json, print_table, warnings_as_lines

if TYPE_CHECKING:
    from ...evaluation.offline import OfflineTest


def command(
    ledger: LedgerName,
    pdes: Annotated[int, typer.Option("--pdes", "-n", help="The number of PDEs, none of them played before.")] = 100,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods with commas between them, see docs/evaluation.md; your own as FILE.py:NAME. [default: all]"
        ),
    ] = None,
    oracle: Annotated[int, typer.Option(help="Also test this many random sets per PDE and take the best.")] = 0,
    schedule: Annotated[str | None, typer.Option(help="Another schedule than the study's.")] = None,
    protocol: ProtocolName = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides PDEs, points and random sets.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="File of the results; continued if it exists. [default: NAME-test.db]")
    ] = None,
    family: FamilyFile = None,
    workers: Workers = "1",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Test what a study has learned on unseen PDEs, against every baseline. Run the same command again to continue.

    Example: metalic test poisson.db --pdes 100 --workers 2
    """
    path = out or Path(f"{Path(ledger).stem}-test.db")
    check_writable(path)
    pool = read_workers(workers)
    from ... import runtime

    runtime.prepare(pin=pool == 1)
    from ...evaluation.offline import check_methods, method_name, run_test
    from ...evaluation.tables import summary_table
    from ...study import Study

    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    options: dict[str, Any] = {"pdes": pdes, "oracle": oracle, "schedule": schedule, "seed": seed}
    with warnings_as_lines(), Study(ledger, family, protocol=protocol, read_only=True) as study:
        chosen = check_methods(names, study)
        titles = {method.name: method.title for method in chosen}

        def label(trial: int) -> str:
            pde, name = method_name(trial, chosen)
            return f"PDE {pde}  {titles.get(name, name)}"

        with trial_display(quiet, label) as show, exit_on_interrupt(path):
            found = run_test(study, path, methods=chosen, workers=pool, progress=show, **options)
    if as_json:
        print_json(_plain(found, path))
    else:
        print_table(summary_table(found.summary(), found.settings, narrow=True), f"trials: {path}")


def _plain(found: OfflineTest, path: Path) -> dict[str, Any]:
    rows = [{k: _finite(v) for k, v in one.to_dict().items()} for one in found.summary()]
    names = ("family", "schedule", "trials")
    return {"out": str(path), **{name: found.settings[name] for name in names}, "methods": rows}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
