"""`metalic test`, `report` and `reproduce`: what a study is worth. They parse, call the evaluation, print."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Json, ProtocolName, check_writable
from .studying import FamilyFile, OldLedger, read_workers, warnings_as_lines

if TYPE_CHECKING:
    from ..evaluation.offline import OfflineTest
    from ..study.driver import StudyProgress

Workers = Annotated[str, typer.Option(help="How many processes, or a Dask scheduler as tcp://host:port.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def offline_test(
    ledger: OldLedger,
    pdes: Annotated[int, typer.Option("--pdes", "-n", help="On how many PDEs that were never played.")] = 100,
    methods: Annotated[
        str | None, typer.Option(help="Methods with commas between them, see docs/evaluation.md. [default: all]")
    ] = None,
    oracle: Annotated[int, typer.Option(help="Also the best of so many random sets, for every PDE.")] = 0,
    schedule: Annotated[str | None, typer.Option(help="Another schedule than the study's.")] = None,
    protocol: ProtocolName = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides PDEs, points and random sets.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="File of the results; gone on with if it exists. [default: NAME-test.db]")
    ] = None,
    family: FamilyFile = None,
    workers: Workers = "1",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Test what a study has learned on unseen PDEs, against every baseline. Run the same command again to go on.

    Example: metalic test poisson.db --pdes 100 --workers 2
    """
    path = out or Path(f"{Path(ledger).stem}-test.db")
    check_writable(path)
    pool = read_workers(workers)
    from .. import runtime

    runtime.prepare(pin=pool == 1)
    from ..evaluation.offline import run_test
    from ..study import Study

    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    reader = Study(ledger, family, protocol=protocol, read_only=True)
    with warnings_as_lines(), reader as study, trial_display(quiet, _method) as show:
        options: dict[str, Any] = {"pdes": pdes, "methods": names, "oracle": oracle, "schedule": schedule, "seed": seed}
        found = interruptible(lambda: run_test(study, path, workers=pool, progress=show, **options), path)
    if as_json:
        typer.echo(json.dumps(_plain(found, path), indent=2))
    else:
        _print_test(found, path)


def report(
    ledgers: Annotated[list[str], typer.Argument(help="Ledgers of studies, and files of offline tests.")],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
    maps: Annotated[
        bool, typer.Option("--maps", help="Solve one PDE a family anew and show point-wise errors (minutes).")
    ] = False,
    family: FamilyFile = None,
    as_json: Json = False,
) -> None:
    """Write a self-contained page about studies: what was learned, in words, figures and tables.

    Example: metalic report poisson.db poisson-test.db --out report.html
    """
    check_writable(out)
    from .. import runtime

    runtime.prepare()
    from ..evaluation.report import write_report

    with warnings_as_lines():
        write_report(ledgers, out, family=family, maps=maps)
    typer.echo(json.dumps({"out": str(out)}) if as_json else f"report written to {out}")


def reproduce(
    item: Annotated[
        str,
        typer.Argument(help="online, offline, pointwise, analysis, sampling, combinations or regret."),
    ],
    out: Annotated[Path, typer.Option(help="Directory of figures, tables and whatever is run.")] = Path("reproduced"),
    scale: Annotated[str, typer.Option(help="full: as the paper. small: seconds, to see that it works.")] = "full",
    ledgers: Annotated[
        Path | None, typer.Option(help="Directory of ledgers and offline tests to read; what is missing is run.")
    ] = None,
    family: Annotated[list[str] | None, typer.Option("--family", help="Only this one; may be repeated.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Of studies and tests; `fast` unless given.")] = None,
    protocol: ProtocolName = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Run what is missing, or leave it out.")] = True,
    workers: Workers = "1",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make one of the paper's tables or figures again. Run the same command again to go on.

    Example: metalic reproduce regret --scale small --out reproduced
    """
    pool = read_workers(workers)
    from .. import runtime

    runtime.prepare(pin=pool == 1)
    from ..reproduction import reproduce as make

    @contextmanager
    def display(text: str) -> Iterator[Callable[[StudyProgress], None] | None]:
        if not quiet:
            typer.echo(text, err=True)
        with trial_display(quiet) as show:
            yield show

    options: dict[str, Any] = {"scale": scale, "ledgers": ledgers, "families": family, "schedule": schedule, "run": run}
    options["protocol"] = protocol
    with warnings_as_lines():
        made = interruptible(lambda: make(item, out, workers=pool, progress=display, **options), out)
    if as_json:
        typer.echo(json.dumps({"files": [str(path) for path in made.files], "rows": made.table.texts()}, indent=2))
        return
    from rich.console import Console

    console = Console()
    console.print(made.table.to_rich())
    for note in made.table.notes:
        console.print(note)
    console.print(f"{len(made.files)} files in {out}", soft_wrap=True)


def interruptible(run: Callable[[], Any], path: Path) -> Any:
    """Ctrl-C ends the command with 130, and says where what is finished can be found."""
    try:
        return run()
    except KeyboardInterrupt:
        typer.echo(f"stopped; all that is finished is in '{path}': run it again to go on", err=True)
        raise typer.Exit(130) from None


def _method(number: int) -> str:
    from ..evaluation.offline import ORACLE, STRIDE
    from ..evaluation.tables import method_names

    pde, method = divmod(number, STRIDE)
    return f"PDE {pde}  {'oracle' if method >= ORACLE else method_names()[method]}"


def _plain(found: OfflineTest, path: Path) -> dict[str, Any]:
    rows = [{k: _finite(v) for k, v in one.to_dict().items()} for one in found.summary()]
    names = ("family", "schedule", "trials")
    return {"out": str(path), **{name: found.settings[name] for name in names}, "methods": rows}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_test(found: OfflineTest, path: Path) -> None:
    from rich.console import Console

    from ..evaluation.tables import summary_table

    console, table = Console(), summary_table(found.summary(), found.settings, narrow=True)
    console.print(table.to_rich())
    for note in table.notes:
        console.print(note)
    console.print(f"trials: {path}", soft_wrap=True)


@contextmanager
def trial_display(quiet: bool, name: Callable[[int], str] = str) -> Iterator[Callable[[StudyProgress], None] | None]:
    """A live bar on a terminal, a line per trial elsewhere, nothing if quiet; on stderr."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield _Lines(name)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("compiling ...", total=None)

            def show(progress: StudyProgress) -> None:
                bar.update(
                    task, completed=progress.finished_count, total=progress.goal, description=_told(progress, name)
                )

            yield show


class _Lines:
    """A line for every trial."""

    def __init__(self, name: Callable[[int], str]):
        self.name, self.begun, self.shown = name, time.monotonic(), 0

    def __call__(self, progress: StudyProgress) -> None:
        self.shown += progress.play is not None
        left = (time.monotonic() - self.begun) / max(self.shown, 1) * (progress.goal - progress.finished_count)
        typer.echo(
            f"{progress.finished_count}/{progress.goal}  {_told(progress, self.name)}  about {left:.0f} s left",
            err=True,
        )


def _told(progress: StudyProgress, name: Callable[[int], str]) -> str:
    row = progress.play
    if row is None:
        return f"finishing {progress.flying} trial(s) in flight; Ctrl-C again stops at once"
    error = row.status if row.error is None else f"error {row.error:.2e}"
    return f"{name(row.number)}  {row.sets}  {error}"
