"""`metalic demo`: what a newcomer sees first. A small study of Poisson's equation, its advice, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..display import play_display, solve_display
from ..options import Seed, check_writable
from ..printing import names, print_rows

if TYPE_CHECKING:
    from ...pinn import Solution
    from ...study import Study

S = 20.0  # the new problem
SCHEDULE: Any = "quick"
PLAYS = 12
RANDOM = 3  # sets: the one of median error is compared with


def command(
    out: Annotated[Path, typer.Option(help="Directory for the study, the picture and the solutions.")] = Path(
        "metalic-demo"
    ),
    plays: Annotated[int, typer.Option(min=6, help="How many plays; the first five are random.")] = PLAYS,
    seed: Seed = 0,
) -> None:
    """Play a small study of Poisson's equation, and compare its advice with the default set and with random sets."""
    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / "demo.png")
    from ... import runtime

    runtime.prepare()
    runtime.start_jax()
    from rich.console import Console

    from ...study import Study

    console = Console()
    console.print(
        "Poisson's equation u_xx + u_yy = f(x, y; s) on the unit square, cut in two at y = 0.5, a small network for "
        "each half. Which interface conditions should stitch the two networks together?"
    )
    with Study(out / "poisson.db", "poisson", schedule=SCHEDULE, seed=seed) as study:
        console.print(f"A study plays: {plays} problems of random s, the first 5 with random sets of conditions.")
        with play_display(study, quiet=False) as show:
            if study.finished_count < plays:
                study.play(plays - study.finished_count, progress=show)
        solutions = _solutions(study, seed, console)
        _draw(solutions, study, out / "demo.png")
    for name, solution in solutions.items():
        solution.save(out / f"{name}.npz")
    for sentence in verdict({name: solution.error or 0.0 for name, solution in solutions.items()}):
        console.print(sentence)
    console.print(f"picture: {out / 'demo.png'}", soft_wrap=True)
    console.print(f"study:   {out / 'poisson.db'}", soft_wrap=True)
    console.print(f"next:    metalic dashboard {out / 'poisson.db'}   # look at it", soft_wrap=True)


def verdict(errors: dict[str, float]) -> list[str]:
    """What the errors of 'learned', 'default' and 'random' say, in words."""
    others = {"default": "the default set of the family", "random": f"a random set (the median one of {RANDOM})"}
    return [
        f"The learned set is {_compared(errors[name] / max(errors['learned'], 1e-16))} {what}."
        for name, what in others.items()
    ]


def _compared(ratio: float) -> str:
    if ratio > 1.2:
        return f"{float(f'{ratio:.2g}'):g} times as accurate as"
    if ratio > 1 / 1.2:
        return "as accurate as"
    return f"less accurate, by a factor of {float(f'{1 / ratio:.2g}'):g}, than"


def _solutions(study: Study, seed: int, console: Any) -> dict[str, Solution]:
    """The same problem with the learned, the default and a random set: same networks, points and iterations."""
    import numpy as np

    from ...conditions import default_conditions
    from ...solving import solve

    advice = study.recommend(s=S)
    console.print(f"For a new problem, s = {S:g}, it recommends {_named(advice.conditions)}.")
    if advice.caution:
        console.print(f"({advice.caution}; a real study has more)")
    drawn = np.random.default_rng([seed, 1]).choice(2 ** len(study.settings.catalogue), RANDOM, replace=False)
    sets = {"learned": advice, "default": _fixed(default_conditions(study.family))}
    sets |= {f"random {i}": _fixed(int(one)) for i, one in enumerate(drawn, start=1)}
    found = {}
    for name, conditions in sets.items():
        with solve_display(quiet=False) as show:
            found[name] = solve("poisson", conditions, SCHEDULE, seed=seed, progress=show, check=False, s=S)
    columns = ("set", "conditions", "relative error", "training seconds")
    rows = [(name, _named(one.conditions), f"{one.error:.2e}", f"{one.seconds:.1f}") for name, one in found.items()]
    print_rows(columns, rows)
    random = sorted(
        (found.pop(name) for name in sets if name not in ("learned", "default")), key=lambda one: one.error or 0.0
    )
    return {**found, "random": random[RANDOM // 2]}


def _fixed(conditions: Any) -> Any:
    """One set for all phases, as a function: all sets then share the programs that the study has compiled."""
    return lambda phase, loss: conditions


def _draw(solutions: dict[str, Solution], study: Study, path: Path) -> None:
    from ...pinn.figures import comparison_figure

    titles = {f"{name}: {_named(one.conditions)}": one for name, one in solutions.items()}
    comparison_figure(titles, first=lambda axis: _draw_plays(axis, study)).savefig(path, dpi=120)


def _named(conditions: Any) -> str:
    """Sets per phase as text, one if they are all the same."""
    sets = [names(one) for one in conditions]
    return sets[0] if len(set(sets)) == 1 else " then ".join(sets)


def _draw_plays(axis: Any, study: Study) -> None:
    """The error of every play; the first are random."""
    rows = [row for row in study.plays if row.taught and row.error is not None]
    chosen = study.settings.bandit_settings.random_plays
    for label, part, mark in (("random set", rows[:chosen], "o"), ("chosen by the bandit", rows[chosen:], "s")):
        axis.semilogy([row.number for row in part], [row.error for row in part], mark, label=label)
    axis.set_xlabel("play")
    axis.set_title("relative error of the plays")
    axis.legend()
