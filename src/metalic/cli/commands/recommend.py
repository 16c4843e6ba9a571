"""`metalic recommend`: the conditions that a study advises for one PDE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..display import wait_display
from ..options import Extrapolate, FamilyFile, Json, LedgerName, Parameters, read_parameters
from ..printing import print_json, print_rows, warnings_as_lines

if TYPE_CHECKING:
    from ...study import Recommendation


def command(
    ledger: LedgerName,
    parameter: Parameters = None,
    family: FamilyFile = None,
    top: Annotated[int, typer.Option(min=1, help="The number of sets to list.")] = 5,
    extrapolate: Extrapolate = False,
    as_json: Json = False,
) -> None:
    """Recommend interface conditions for one PDE, from the plays of a study.

    Example: metalic recommend poisson.db -p s=17
    """
    values = read_parameters(parameter)
    from ... import runtime

    runtime.prepare()
    from ...study import Study

    waiting = wait_display(as_json, "fitting the reward models")
    with warnings_as_lines(), Study(ledger, family, read_only=True) as study, waiting:
        advice = study.recommend(values, top=top, extrapolate=extrapolate)
    if as_json:
        print_json(advice.to_dict())
    else:
        _print_advice(advice)


def _print_advice(advice: Recommendation) -> None:
    from rich.console import Console

    from ...choices import arm_text

    console = Console()
    parameters = ", ".join(f"{name} = {value:g}" for name, value in advice.parameters.items())
    console.print(f"{advice.family}, {parameters}: from {advice.plays} plays")
    for number, phase in enumerate(advice.phases, start=1):
        where = "" if len(advice.phases) == 1 else f"phase {number}: "
        best, *others = (arm_text(one) for one in phase.suggestions)
        console.print(f"{where}[bold]{best}[/bold]" + (f"   then {' | '.join(others)}" if others else ""))
    for sentence in filter(None, (advice.certainty, advice.caution and f"But: {advice.caution}.")):
        console.print(sentence)
    if advice.expected is not None and advice.interval is not None:
        low, high = advice.interval
        console.print(f"{advice.meaning} {advice.expected:.1e} expected, 95 % between {low:.1e} and {high:.1e}")
    rows = []
    for name in advice.phases[0].effects:
        effects = [phase.effects[name] for phase in advice.phases]
        rows.append((name, *(f"{effect.mean:+.2f} ± {effect.std:.2f}" for effect in effects)))
    print_rows(["condition", *(f"effect in phase {i + 1}" for i in range(len(advice.phases)))], rows)
    console.print("Effects: decades of reward that switching a condition on adds, averaged over the others.")
    if advice.choices:
        console.print("Effects of levels: compared with the other levels of the choice.")
