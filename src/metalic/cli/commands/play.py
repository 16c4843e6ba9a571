"""`metalic play`: run the plays of a study."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import ParameterError, StudyError
from ..display import play_display
from ..interrupts import deadline_after_interrupt, exit_on_interrupt
from ..options import Choose, Json, ProtocolName, Quiet, Workers, read_choose, read_workers
from ..printing import print_json, print_summary, summarize, warnings_as_lines

if TYPE_CHECKING:
    from ...bandit import Settings
    from ...study import Study

BANDITS = ("paired", "seq", "single")


def command(
    ledger: Annotated[Path, typer.Argument(help="The study's file; created if it does not exist, else continued.")],
    plays: Annotated[int, typer.Option("--plays", "-n", help="Play until the study has this many plays in all.")] = 200,
    family: Annotated[
        str | None, typer.Option("--family", help="A family by name, file.py:MyFamily or module:MyFamily.")
    ] = None,
    bandit: Annotated[
        str | None,
        typer.Option(
            help="paired: one set for the whole play, in pairs with a champion; seq: a set for each phase; single: one "
            "for the whole play. [default: seq; with --choose or --champion paired]"
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="top-two, ucb, ucb:theorem, ts, random or greedy. [default: ucb; paired: top-two]"),
    ] = None,
    choose: Choose = None,
    champion: Annotated[
        str | None,
        typer.Option(help="What a paired study compares with, as 'u,c strip=0.1'. [default: the family's own]"),
    ] = None,
    probability: Annotated[
        float | None,
        typer.Option(help="How surely a challenger must beat the champion to be recommended. [default: 0.95]"),
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="Of the reward model: lean, paper or additive. [default: lean]")
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option(help="A set to begin with, as u,c; or textbook: the sets of the literature. May be repeated."),
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="fast, quick, accurate or paper. [default: fast]")] = None,
    reward: Annotated[str | None, typer.Option(help="error, estimate, residual or error+time:SECONDS.")] = None,
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
    stop_when_level: Annotated[
        bool, typer.Option("--stop-when-level", help="Stop early once nothing is expected to beat the champion.")
    ] = False,
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

    if isinstance(pool, str):  # before there is a ledger
        from ...study.workers import open_pool

        open_pool(pool).close()
    choices = read_choose(choose)
    given = {"champion": champion, "probability": probability, "policy": policy, "kernel": kernel, "first": first}
    given = {name: value for name, value in given.items() if value is not None}
    usual = "paired" if choices or champion or probability else "seq"
    chosen = _read_bandit(bandit or usual, given) if bandit is not None or given else None
    options: dict[str, Any] = {"start_from": start_from, "protocol": protocol, "networks": networks, "check": check}
    options["choices"] = choices
    with (
        deadline_after_interrupt(),
        warnings_as_lines(),
        Study(ledger, family, chosen, schedule, reward, seed, **options) as study,
    ):
        _play(study, plays, pool, quiet, stop_when_level)
        summary = summarize(study.plays, study.settings.to_dict())
        following = _following(study, family)
    if as_json:
        print_json(summary)
    else:
        print_summary(ledger, summary)
        for command in following:
            typer.echo(command)


def _play(study: Study, plays: int, pool: int | str, quiet: bool, stop_when_level: bool) -> None:
    left = plays - study.finished_count
    if left > 0:
        from ...study.workers import open_pool

        opened = open_pool(pool)
        if opened.dashboard and not quiet:
            typer.echo(opened.dashboard, err=True)
        with (
            closing(opened),
            play_display(study, quiet) as show,
            exit_on_interrupt(study.path, lambda: f" after {study.finished_count} plays"),
        ):
            study.play(left, workers=opened, progress=show, stop_when_level=stop_when_level)
        if stop_when_level and study.finished_count < plays and not quiet:
            typer.echo(
                f"stopped after {study.finished_count} plays: nothing is expected to be better than the champion by "
                "more than 12 %",
                err=True,
            )
    elif not quiet:
        typer.echo(f"'{study.path}' has {study.finished_count} plays already; --plays is the total number", err=True)


def _following(study: Study, family: str | None) -> list[str]:
    """What one may do next, as commands."""
    own = f" --family {family}" if family and study.settings.spec != study.family.name else ""
    middle = {name: 0.5 * (low + high) for name, (low, high) in study.family.parameters.items()}
    where = "".join(f" -p {name}={value:.3g}" for name, value in middle.items())
    commands = {f"recommend {study.path}{own}{where}": "what to use", f"dashboard {study.path}{own}": "look at it"}
    return [f"next: metalic {command}   # {what}" for command, what in commands.items()] if study.plays else []


def _read_bandit(bandit: str, given: dict[str, Any]) -> Settings:
    from ...bandit import Paired, Sequential, Single, find_policy

    kinds: dict[str, type[Settings]] = {"paired": Paired, "single": Single, "seq": Sequential}
    if bandit not in BANDITS:
        raise ParameterError(f"--bandit is one of {', '.join(BANDITS)}, not '{bandit}'")
    paired = [name for name in ("champion", "probability") if name in given]
    if paired and bandit != "paired":
        raise ParameterError(f"--{paired[0]} is for --bandit paired, not for '{bandit}'")
    options = given | ({"policy": find_policy(given["policy"])} if "policy" in given else {})
    return kinds[bandit](**options)
