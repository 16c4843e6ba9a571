"""`metalic demo`: what a newcomer sees first. A small study of Poisson's equation, its advice, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..display import play_display, solve_display
from ..options import Seed, check_writable
from ..printing import names

if TYPE_CHECKING:
    from ...study import Study

S = 20.0  # the new problem
PLAYS = 12


def command(
    out: Annotated[Path, typer.Option(help="Directory for the study, the picture and the solutions.")] = Path(
        "metalic-demo"
    ),
    plays: Annotated[int, typer.Option(min=6, help="How many plays; the first five are random.")] = PLAYS,
    seed: Seed = 0,
) -> None:
    """Play a small study of Poisson's equation, ask it for advice, and compare with a random set (two minutes)."""
    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / "demo.png")
    from ... import runtime

    runtime.prepare()
    runtime.start_jax()
    from rich.console import Console
    from rich.table import Table

    from ...pinn.figures import comparison_figure
    from ...solving import solve
    from ...study import Study

    console = Console()
    console.print(
        "Poisson's equation u_xx + u_yy = f(x, y; s) on the unit square, cut in two at y = 0.5, a small network for "
        "each half. Which interface conditions should stitch the two networks together?"
    )
    with Study(out / "poisson.db", "poisson", schedule="quick", seed=seed) as study:
        console.print(f"A study plays: {plays} problems of random s, the first 5 with random sets of conditions.")
        with play_display(study, quiet=False) as show:
            if study.finished_count < plays:
                study.play(plays - study.finished_count, progress=show)
        advice = study.recommend(s=S)
        sets = {"recommended": advice, "random": _random_set(study, seed)}
        console.print(f"For a new problem, s = {S:g}, it recommends {_named(advice.conditions)}.")
        solutions = {}
        for name, conditions in sets.items():
            with solve_display(quiet=False) as show_solve:
                solutions[name] = solve(
                    "poisson", conditions, "quick", seed=seed, progress=show_solve, check=False, s=S
                )
        table = Table("set", "conditions", "relative error", "training seconds")
        for name, solution in solutions.items():
            table.add_row(name, _named(solution.conditions), f"{solution.error:.2e}", f"{solution.seconds:.1f}")
            solution.save(out / f"{name}.npz")
        console.print(table)
        titles = {f"{name}: {_named(one.conditions)}": one for name, one in solutions.items()}
        figure = comparison_figure(titles, first=lambda axis: _draw_plays(axis, study))
    figure.savefig(out / "demo.png", dpi=120)
    good, bad = (solution.error or 0.0 for solution in solutions.values())
    console.print(f"The recommended set is {bad / good:.0f} times as accurate as the random one, in the same time.")
    console.print(f"picture: {out / 'demo.png'}", soft_wrap=True)
    console.print(f"study:   {out / 'poisson.db'} (metalic show, metalic recommend)", soft_wrap=True)


def _random_set(study: Study, seed: int) -> int:
    import numpy as np

    return int(np.random.default_rng([seed, 1]).integers(2 ** len(study.settings.catalogue)))


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
