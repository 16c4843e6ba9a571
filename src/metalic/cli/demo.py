"""`metalic demo`: what a newcomer sees first. One Poisson problem, a good and a bad set of interface conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Seed, check_writable

GOOD, BAD = "u,c", "uavg,r,rc,gr,xx"


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the picture and the two solutions.")] = Path("metalic-demo"),
    seed: Seed = 0,
) -> None:
    """Solve one Poisson problem with a good and with a bad set of conditions, and compare (about a minute)."""
    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / "demo.png")
    from .. import runtime

    runtime.prepare()
    from rich.console import Console
    from rich.table import Table

    from ..pinn import solve
    from ..pinn.figures import comparison_figure
    from .solving import progress_display

    console = Console()
    console.print("Poisson's equation u_xx + u_yy = f on the unit square, cut in two at y = 0.5, a small network each.")
    console.print("The only difference below is which interface conditions stitch the two networks together.")
    solutions = {}
    for conditions in (GOOD, BAD):
        with progress_display(quiet=False) as show:
            solutions[conditions] = solve("poisson", conditions, "quick", seed=seed, progress=show, s=20)
    table = Table("conditions", "relative error", "training seconds")
    for conditions, solution in solutions.items():
        table.add_row(conditions, f"{solution.error:.2e}", f"{solution.seconds:.1f}")
        solution.save(out / f"{conditions.replace(',', '-')}.npz")
    console.print(table)
    comparison_figure(solutions).savefig(out / "demo.png", dpi=120)
    good, bad = (solutions[name].error or 0.0 for name in (GOOD, BAD))
    console.print(f"The first set is {bad / good:.0f} times more accurate than the second, in the same time.")
    console.print(f"picture: {out / 'demo.png'}", soft_wrap=True)
