"""`metalic play`: run the plays of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import ParameterError, StudyError
from ..display import play_display
from ..interrupts import deadline_after_interrupt, exit_on_interrupt
from ..options import Json, ProtocolName, Quiet, Workers, read_workers
from ..printing import print_json, print_summary, summarize, warnings_as_lines

if TYPE_CHECKING:
    from ...bandit import Settings
    from ...study import Study

BANDITS = ("seq", "single")


def command(
    ledger: Annotated[Path, typer.Argument(help="The study's file; created if it does not exist, else continued.")],
    plays: Annotated[int, typer.Option("--plays", "-n", help="Play until the study has this many plays in all.")] = 200,
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
        typer.Option(help="A set to begin with, as u,c; or textbook: the sets of the literature. May be repeated."),
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="fast, quick, accurate or paper. [default: fast]")] = None,
    reward: Annotated[str | None, typer.Option(help="error, residual or error+time:SECONDS.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Decides contexts, points and ties. [default: 0]")] = None,
    protocol: ProtocolName = None,
    workers: Workers = "1",
    start_from: Annotated[
        str | None,
        typer.Option(help="A ledger, or the name of a ready-made one, whose plays are known from the start."),
    ] = None,
    networks: Annotated[
        bool, typer.Option(help="Keep the trained networks of each play, about 8 kB, to start later solves from.")
    ] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Keep an estimate of the error and a verdict for each play (about 1 s).")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Play a study: learn which interface conditions suit a family. Run the same command again to continue.

    Example: metalic play poisson.db --family poisson --plays 200 --workers 2
    """
    if plays < 1:
        raise StudyError(f"--plays is a number of at least 1, not {plays}")
    pool = read_workers(workers)
    from ... import runtime

    runtime.prepare(pin=pool == 1)
    from ...study import Study

    chosen = None if bandit is policy is kernel is first is None else _read_bandit(bandit, policy, kernel, first)
    options: dict[str, Any] = {"start_from": start_from, "protocol": protocol, "networks": networks, "check": check}
    with (
        deadline_after_interrupt(),
        warnings_as_lines(),
        Study(ledger, family, chosen, schedule, reward, seed, **options) as study,
    ):
        _play(study, plays, pool, quiet)
        summary = summarize(study.plays, study.settings.to_dict())
    if as_json:
        print_json(summary)
    else:
        print_summary(ledger, summary)


def _play(study: Study, plays: int, pool: int | str, quiet: bool) -> None:
    left = plays - study.finished_count
    if left > 0:
        with (
            play_display(study, quiet) as show,
            exit_on_interrupt(study.path, lambda: f" after {study.finished_count} plays"),
        ):
            study.play(left, workers=pool, progress=show)
    elif not quiet:
        typer.echo(f"'{study.path}' has {study.finished_count} plays already; --plays is the total number", err=True)


def _read_bandit(bandit: str | None, policy: str | None, kernel: str | None, first: list[str] | None) -> Settings:
    from ...bandit import Sequential, Single, find_policy

    if bandit not in (None, *BANDITS):
        raise ParameterError(f"--bandit is one of {', '.join(BANDITS)}, not '{bandit}'")
    options: dict[str, Any] = {"first": first or ()}
    if policy is not None:
        options["policy"] = find_policy(policy)
    if kernel is not None:
        options["kernel"] = kernel
    return Single(**options) if bandit == "single" else Sequential(**options)
