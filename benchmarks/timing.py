"""What the benchmarks share: the problems, blocks of iterations that are timed, alternating repetitions, files.

A *block* is a function that runs some iterations and gives milliseconds per iteration. Blocks that are compared run in
turns in one process on one core, so that whatever disturbs the machine disturbs all of them; figures are medians.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

SETS = {"poisson": "u,c", "advection": "u", "reaction": "u", "burgers": "u,c,x"}
PARAMETER = {"poisson": 20.0, "advection": 24.02, "reaction": 4.1, "burgers": 0.0173}
REPETITIONS = 5

Block = Callable[[], float]


def parameters(family: str) -> dict[str, float]:
    """The parameter that the benchmarks use, by name."""
    import metalic as mt

    return {next(iter(mt.find_family(family).parameters)): PARAMETER[family]}


def trained(family: str, precision: str = "float64", steps: int = 250) -> Any:
    """A Solution after some Adam steps with plain random points and unscaled inputs, as the peers have them."""
    import metalic as mt

    return mt.solve(
        family,
        SETS[family],
        [mt.Phase(mt.Adam(1e-3), steps)],
        precision=precision,
        sampling="random",
        scaling="none",
        parameters=parameters(family),
        check=False,
    )


def iterations(solution: Any, optimizer: Any, count: int) -> Block:
    """A block of our own optimizer, always from the same weights; it is compiled before this returns."""
    import jax
    import jax.numpy as jnp

    from metalic.pinn.optimizers import advance, start

    precise = solution.theta.dtype == "float64"
    with jax.enable_x64(precise):
        theta = jnp.asarray(solution.theta)

    def run(count: int = count) -> float:
        with jax.enable_x64(precise):
            state = jax.block_until_ready(start(optimizer, solution.problem, theta))
            begun = time.perf_counter()
            _, done = jax.block_until_ready(advance(optimizer, solution.problem, state, jnp.asarray(count)))
            return 1e3 * (time.perf_counter() - begun) / max(int(done), 1)

    run(1)
    return run


def alternate(blocks: Mapping[str, Block], repetitions: int = REPETITIONS) -> dict[str, float]:
    """Every block in turn, this many times; the median of each."""
    times: dict[str, list[float]] = {name: [] for name in blocks}
    for _ in range(repetitions):
        for name, run in blocks.items():
            times[name].append(run())
    return {name: median(values) for name, values in times.items()}


def markdown(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers with three digits, None as a dash."""
    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def quotient(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a / b


def write(out: Path, title: str, text: str, data: Any) -> None:
    """OUT.md and OUT.json."""
    out.with_suffix(".md").write_text(f"# {title}\n\n{text}")
    out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
