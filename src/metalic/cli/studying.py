"""`metalic play`, `recommend`, `show` and `export`: a study on the command line. They parse, call the study, print."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError, StudyError
from .options import Json, Parameters, ProtocolName, check_writable, read_parameters

if TYPE_CHECKING:
    from ..bandit import Settings
    from ..study import Ledger, PlayRow, Recommendation, Study
    from ..study.driver import StudyProgress

NewLedger = Annotated[
    Path, typer.Argument(help="The study's file; begun if it does not exist, gone on with if it does.")
]
OldLedger = Annotated[
    str, typer.Argument(help="A study's file, or a family's name for the ledger shipped with metalic.")
]
FamilyFile = Annotated[
    str | None, typer.Option("--family", help="The family again, where the file cannot tell: file.py:MyFamily.")
]
BANDITS = ("seq", "single")
GRACE, LAST = 2.5, 1.0  # seconds after Ctrl-C until plays in flight are given up, and from then until the end


def play(
    ledger: NewLedger,
    plays: Annotated[int, typer.Option("--plays", "-n", help="Play until the study has so many plays in all.")] = 200,
    family: Annotated[
        str | None, typer.Option("--family", help="A family by name, file.py:MyFamily or module:MyFamily.")
    ] = None,
    bandit: Annotated[
        str | None, typer.Option(help="seq: a set for each phase; single: one for the whole play. [default: seq]")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="ucb, ucb:theorem, ts, random or greedy. [default: ucb]")] = None,
    kernel: Annotated[
        str | None, typer.Option(help="Of the reward model: lean, paper or additive. [default: lean]")
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option(help="A set to begin with, as u,c; or textbook: those that people use. May be repeated."),
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="fast, quick, accurate or paper. [default: fast]")] = None,
    reward: Annotated[str | None, typer.Option(help="error, residual or error+time:SECONDS.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Decides contexts, points and ties. [default: 0]")] = None,
    protocol: ProtocolName = None,
    workers: Annotated[str, typer.Option(help="How many processes, or a Dask scheduler as tcp://host:port.")] = "1",
    start_from: Annotated[
        str | None,
        typer.Option(help="A ledger, or the name of a ready-made one, whose plays are known from the start."),
    ] = None,
    networks: Annotated[
        bool, typer.Option(help="Keep the trained networks of each play, about 8 kB, to start later solves from.")
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> None:
    """Play a study: learn which interface conditions suit a family. Run the same command again to go on.

    Example: metalic play poisson.db --family poisson --plays 200 --workers 2
    """
    if plays < 1:
        raise StudyError(f"--plays is a number of at least 1, not {plays}")
    from .. import runtime

    pool = read_workers(workers)
    runtime.prepare(pin=pool == 1)
    from ..study import Study

    chosen = None if bandit is policy is kernel is first is None else _read_bandit(bandit, policy, kernel, first)
    options: dict[str, Any] = {"start_from": start_from, "protocol": protocol, "networks": networks}
    with warnings_as_lines(), Study(ledger, family, chosen, schedule, reward, seed, **options) as study:
        left = plays - study.finished_count
        if left > 0:
            _play(study, left, pool, quiet)
        elif not quiet:
            typer.echo(
                f"'{ledger}' has {study.finished_count} plays already; --plays is how many it shall have", err=True
            )
        summary = _summary(study.plays, study.settings.to_dict())
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print_summary(ledger, summary)


def _play(study: Study, left: int, pool: int | str, quiet: bool) -> None:
    _end_in_time()
    with play_display(study, quiet) as show:
        try:
            study.play(left, workers=pool, progress=show)
        except KeyboardInterrupt:
            typer.echo(
                f"stopped after {study.finished_count} plays, all of them in '{study.path}'; run it again to go on",
                err=True,
            )
            raise typer.Exit(130) from None


def _end_in_time() -> None:
    """After Ctrl-C plays in flight have GRACE seconds; then it is as if it had been pressed again; then the process
    ends. A thread does it: the main one may be inside a compilation, where no handler runs. Everything finished is in
    the ledger, so the process may end anywhere."""
    if threading.current_thread() is not threading.main_thread():
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)

    def watch() -> None:
        while os.read(heard, 1) != bytes([signal.SIGINT]):
            pass
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(LAST)
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")  # the live table has hidden the cursor
        os._exit(130)

    threading.Thread(target=watch, daemon=True).start()


def recommend(
    ledger: OldLedger,
    parameter: Parameters = None,
    family: FamilyFile = None,
    top: Annotated[int, typer.Option(min=1, help="How many sets to name.")] = 5,
    extrapolate: Annotated[bool, typer.Option("--extrapolate", help="Allow parameters outside their boxes.")] = False,
    as_json: Json = False,
) -> None:
    """Recommend interface conditions for one PDE, from the plays of a study.

    Example: metalic recommend poisson.db -p s=17
    """
    values = read_parameters(parameter)
    from .. import runtime

    runtime.prepare()
    from ..study import Study

    with warnings_as_lines(), Study(ledger, family, read_only=True) as study:
        advice = study.recommend(values, top=top, extrapolate=extrapolate)
    if as_json:
        typer.echo(json.dumps(advice.to_dict(), indent=2))
    else:
        _print_advice(advice)


def show(ledger: OldLedger, as_json: Json = False) -> None:
    """Show a study: its settings, how its plays went, the best ones."""
    from ..study.files import told

    with _reader(ledger) as reader, told(reader.path):
        rows = [row for row in reader.plays() if not row.borrowed]
        summary = _summary(rows, reader.settings())
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    _print_summary(Path(ledger), summary)
    taught = sorted((row for row in rows if row.taught), key=lambda row: -(row.reward or -math.inf))[:10]
    table = Table(
        "play", "context", "conditions", "error", "reward", "seconds", title="best plays", title_justify="left"
    )
    for row in taught:
        reward = "-" if row.reward is None else f"{row.reward:.2f}"
        table.add_row(str(row.number), _context(row), row.sets, _number(row.error), reward, f"{_seconds(row):.1f}")
    Console().print(table)


def export(
    ledger: OldLedger,
    out: Annotated[Path, typer.Argument(help="A .csv, .json or .parquet file.")],
    as_json: Json = False,
) -> None:
    """Write the plays of a study as a table, a row per play."""
    check_writable(out)
    from ..study import tables

    with _reader(ledger) as reader:
        rows = [row for row in reader.plays() if not row.borrowed]
    tables.export(rows, out)
    if as_json:
        typer.echo(json.dumps({"out": str(out), "plays": len(rows)}))
    else:
        typer.echo(f"{len(rows)} plays written to {out}")


def recommended(path: str, family: Any, values: dict[str, str], schedule: str, extrapolate: bool) -> Recommendation:
    """The conditions of `metalic solve -c study.db`; the schedule must have as many phases as the study's."""
    from ..pinn.schedule import find_schedule
    from ..study import Study

    with warnings_as_lines(), Study(path, family, read_only=True) as study:
        phases, wanted = len(study.settings.schedule.phases), len(find_schedule(schedule).phases)
        if phases != wanted:
            raise StudyError(f"'{path}' knows plays of {phases} phase(s); schedule '{schedule}' has {wanted}")
        return study.recommend(values, extrapolate=extrapolate)


def _reader(ledger: str) -> Ledger:
    from ..study import Ledger
    from ..study.knowledge import find_ledger

    return Ledger(find_ledger(ledger))


def read_workers(text: str) -> int | str:
    if "://" in text:
        return text
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise StudyError(f"--workers is a number of at least 1, or an address such as tcp://host:8786, not '{text}'")
    return count


def _read_bandit(bandit: str | None, policy: str | None, kernel: str | None, first: list[str] | None) -> Settings:
    from ..bandit import Sequential, Single, find_policy

    if bandit not in (None, *BANDITS):
        raise ParameterError(f"--bandit is one of {', '.join(BANDITS)}, not '{bandit}'")
    options: dict[str, Any] = {"first": first or ()}
    if policy is not None:
        options["policy"] = find_policy(policy)
    if kernel is not None:
        options["kernel"] = kernel
    return Single(**options) if bandit == "single" else Sequential(**options)


def _summary(rows: list[PlayRow], settings: dict[str, Any]) -> dict[str, Any]:
    """A study in a few numbers, ready for JSON."""
    counts = {status: sum(row.status == status for row in rows) for status in ("done", "diverged", "failed", "running")}
    errors = [(row.error, row) for row in rows if row.taught and row.error is not None]
    error, best = min(errors, key=lambda pair: pair[0], default=(None, None))
    return {
        "family": settings["family"]["name"],
        "bandit": settings["bandit"],
        "schedule": settings["schedule"]["name"],
        "reward": settings["reward"],
        "seed": settings["seed"],
        "borrowed": settings["borrowed"],
        "protocol": settings.get("protocol"),
        "plays": len(rows) - counts["running"],
        **counts,
        "best_error": error,
        "best_play": None if best is None else {"number": best.number, **best.parameters, "conditions": best.sets},
        "accumulated_error": sum(error for error, _ in errors) if errors else None,
        "seconds": sum(_seconds(row) for row in rows),
    }


def _print_summary(ledger: Path, summary: dict[str, Any]) -> None:
    bandit = summary["bandit"]
    typer.echo(
        f"{ledger}: {summary['family']}, {bandit['name']} {bandit['policy']['name']} with kernel {bandit['kernel']}, "
        f"schedule {summary['schedule']}, reward {summary['reward']}, seed {summary['seed']}"
        + (f", protocol {summary['protocol']}" if summary["protocol"] else "")
    )
    odd = "".join(f", {summary[status]} {status}" for status in ("diverged", "failed", "running") if summary[status])
    typer.echo(f"{summary['plays']} plays in {summary['seconds']:.0f} s of training{odd}")
    best = summary["best_play"]
    if best is not None:
        typer.echo(f"best error {summary['best_error']:.2e} in play {best['number']} with {best['conditions']}")


def _print_advice(advice: Recommendation) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    parameters = ", ".join(f"{name} = {value:g}" for name, value in advice.parameters.items())
    console.print(f"{advice.family}, {parameters}: from {advice.plays} plays")
    for number, phase in enumerate(advice.phases, start=1):
        where = "" if len(advice.phases) == 1 else f"phase {number}: "
        best, *others = (str(one.conditions) for one in phase.suggestions)
        console.print(
            f"{where}[bold]{best}[/bold]   then {' | '.join(others)}" if others else f"{where}[bold]{best}[/bold]"
        )
    if advice.expected is not None and advice.interval is not None:
        low, high = advice.interval
        console.print(f"{advice.meaning} {advice.expected:.1e} expected, 95 % between {low:.1e} and {high:.1e}")
    table = Table("condition", *(f"effect in phase {i + 1}" for i in range(len(advice.phases))))
    for name in advice.phases[0].effects:
        effects = [phase.effects[name] for phase in advice.phases]
        table.add_row(name, *(f"{effect.mean:+.2f} ± {effect.std:.2f}" for effect in effects))
    console.print(table)
    console.print("Effects: decades of reward that switching a condition on adds, averaged over the others.")


@contextmanager
def play_display(study: Study, quiet: bool) -> Iterator[Any]:
    """A live table on a terminal, a line per play elsewhere, nothing if quiet; on stderr."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        board = _Board(study)
        with Live(console=Console(stderr=True), get_renderable=board.table, refresh_per_second=2):
            yield board
    else:
        yield _Board(study, lines=True)


class _Board:
    """Keeps what the display shows: the last plays, the best error, the accumulated error, the time left."""

    last = 12

    def __init__(self, study: Study, lines: bool = False):
        self.lines, self.begun, self.shown, self.note = lines, time.monotonic(), 0, ""
        self.rows: list[tuple[str, ...]] = []
        before = [play for play in study.plays if play.taught and play.error is not None]
        self.errors = [play.error or 0.0 for play in before]
        self.was_random = study.was_random
        self.random = [play.error or 0.0 for play in before if study.was_random(play)]

    def __call__(self, progress: StudyProgress) -> None:
        if progress.stopping:
            self.note = f"{progress.flying} play(s) in flight have {GRACE:g} s to finish; Ctrl-C again stops at once"
            if self.lines:
                typer.echo(self.note, err=True)
            return
        row = progress.play
        assert row is not None
        self.shown += 1
        if row.taught and row.error is not None:
            self.errors.append(row.error)
            if self.was_random(row):
                self.random.append(row.error)
        left = (time.monotonic() - self.begun) / self.shown * (progress.goal - progress.finished_count)
        best = _number(min(self.errors, default=None))
        error = _number(row.error) if row.taught else row.status
        self.note = f"{progress.finished_count} of {progress.goal} plays, about {left:.0f} s left{self._accumulated()}"
        self.rows.append((str(row.number), _context(row), row.sets, error, best))
        if self.lines:
            typer.echo(
                f"play {row.number}/{progress.goal}  {_context(row)}  {row.sets}  error {error}  best {best}"
                f"  about {left:.0f} s left",
                err=True,
            )

    def _accumulated(self) -> str:
        """The accumulated error beside what random sets would have given, by the mean of the random plays so far."""
        if not self.random:
            return ""
        expected = sum(self.random) / len(self.random) * len(self.errors)
        return f"; accumulated error {sum(self.errors):.3g}, by random sets about {expected:.3g}"

    def table(self) -> Any:
        from rich.table import Table

        table = Table("play", "context", "conditions", "error", "best so far", caption=self.note or "compiling ...")
        for row in self.rows[-self.last :]:
            table.add_row(*row)
        return table


def _context(row: PlayRow) -> str:
    return " ".join(f"{name}={value:.4g}" for name, value in row.parameters.items())


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2e}"


def _seconds(row: PlayRow) -> float:
    return sum(phase.seconds or 0.0 for phase in row.phases)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Warnings of ours as one line each on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: typer.echo(f"warning: {message}", err=True)
        yield
