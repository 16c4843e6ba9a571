"""`metalic replay`: a play, or all decisions of a study, taken again from the ledger."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import ParameterError
from ..options import FamilyFile, Json, LedgerName
from ..printing import names, print_json, warnings_as_lines

if TYPE_CHECKING:
    from ...study.replay import Redecision, Replay


def command(
    ledger: LedgerName,
    play: Annotated[int | None, typer.Option("--play", min=1, help="Run this play again and compare.")] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Take decisions again, without training: all, or those of --play.")
    ] = False,
    family: FamilyFile = None,
    as_json: Json = False,
) -> None:
    """Repeat a play, or the decisions of a study, from its ledger, and compare with what was written.

    Exit code 0: bit for bit the same; 1: not.   Example: metalic replay poisson.db --play 37
    """
    if play is None and not decisions:
        raise ParameterError("replay needs --play NUMBER (run it again) or --decisions (all decisions), or both")
    from ... import runtime

    runtime.prepare()
    from ...study import Study
    from ...study.replay import redecide, replay

    with warnings_as_lines(), Study(ledger, family, read_only=True) as study:
        if decisions:
            found = list(redecide(study, None if play is None else [play]))
            same = _report_decisions(found, as_json)
        else:
            assert play is not None
            same = _report_play(replay(study, play), as_json)
    if not same:
        raise typer.Exit(1)


def _report_decisions(found: list[Redecision], as_json: bool) -> bool:
    reproduced = sum(one.reproduced for one in found)
    identical = sum(one.identical for one in found)
    if as_json:
        counts = {"decisions": len(found), "reproduced": reproduced, "identical": identical}
        differing = [one.to_dict() for one in found if not one.identical]
        print_json(counts | {"differing": differing})
    else:
        from ...choices import levels_text

        typer.echo(f"{len(found)} decisions: {reproduced} chose the same set, {identical} of them bit for bit")
        for one in found:
            if not one.reproduced:
                then, now = (
                    " ".join(filter(None, (names(chosen), levels_text(levels))))
                    for chosen, levels in ((one.written, one.written_choices), (one.found, one.found_choices))
                )
                typer.echo(f"play {one.play}, phase {one.phase + 1}: {then} then, {now} now")
        shifts = [one.shift for one in found if math.isfinite(one.shift)]
        if identical < reproduced:
            typer.echo(f"expectations of the reward model moved by at most {max(shifts):.1e} decades")
    return identical == len(found)


def _report_play(found: Replay, as_json: bool) -> bool:
    same = found.identical and all(one.identical for one in found.decisions)
    if as_json:
        print_json(found.to_dict())
        return same
    verdict = "bit for bit the same" if found.identical else "not the same"
    typer.echo(f"play {found.play}: {verdict}")
    for number, (then, now) in enumerate(zip(found.written, found.found, strict=False), start=1):
        errors = f"error {_pair(then.error, now.error)}, loss {_pair(then.loss, now.loss)}"
        typer.echo(f"phase {number}, {names(then.conditions)}: {errors}")
    if not found.identical:
        far = f"at most {found.distance:.1e} apart, relatively" if math.isfinite(found.distance) else "another course"
        typer.echo(f"errors and losses: {far}")
    for name, (before, today) in found.elsewhere.items():
        typer.echo(f"{name} was {before} and is now {today}")
    _report_decisions(list(found.decisions), as_json=False)
    return same


def _pair(then: float | None, now: float | None) -> str:
    if then is None or now is None:
        return "-"
    return f"{then:.3e}" if then == now else f"{then:.3e} then, {now:.3e} now"
