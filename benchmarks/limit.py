"""How far are our steps from what this core's arithmetic allows?

    python -m benchmarks.limit --out results/limit

The multiply-adds and tanh evaluations that an iteration needs are counted from shapes, and divided by the core's rates
in large matrix products and in tanh, measured in the same run (the better of NumPy's and XLA's). Points of weight zero
are not needed and not counted, nor are conditions outside the set. Letters: n points, C Taylor coefficients (those
that laws touch, with all lower ones; a sum of second derivatives is one), hidden widths h1, h2, d inputs, P weights.

- Adam, for n points: the first layer d h1 (its derivatives are constants), an inner layer C h1 h2, the last layer h2
  for each channel. The backward pass takes every product twice, for weights and for inputs, those of the first layer
  once. The series of tanh, per unit: in the first layer one multiply-add for each order of derivatives, in others one
  for every product of the recurrence; twice as many backwards. One tanh per hidden unit and point.
- Gauss-Newton: the lower triangle of J^T J of each subdomain, P (P + 1) / 2 for each row; the coupling of neighbours,
  P^2 for each row of the interface; one Cholesky factorisation by block elimination. Jacobian rows, trials and
  solutions come on top; the limit leaves them out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import REPETITIONS, SETS, alternate, iterations, markdown, trained, write
from metalic import runtime

SIZE, LENGTH = 384, 20_000  # of the products and arrays that rates are measured with; both fit into the cache


@dataclass(frozen=True)
class Work:
    """What an iteration needs."""

    multiply_adds: int
    tanhs: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.multiply_adds + other.multiply_adds, self.tanhs + other.tanhs)

    def milliseconds(self, rates: dict[str, float]) -> float:
        return 1e3 * (self.multiply_adds / rates["multiply-adds"] + self.tanhs / rates["tanh"])


def series_products(indices: Iterable[Any]) -> int:
    """Multiply-adds of tanh's Taylor coefficients at one unit and point: w = 1 - y^2, then the recurrence's terms."""
    from metalic.families.derivatives import Laplacian

    total, squares = 1, set()
    for index in indices:
        if isinstance(index, Laplacian):
            total += len(index.axes) + 3
        elif index.order:
            axis = min((i for i, order in enumerate(index.orders) if order), key=lambda i: index.orders[i])
            lower = (index - index.first(axis)).below()
            total += len(lower)
            squares |= {b for b in lower if b.order}
    return total + sum((len(b.below()) + 1) // 2 for b in squares)


def pass_work(network: Any, channels: tuple[Any, ...], points: int) -> Work:
    """Value and gradient of a network's channels at this many points."""
    from metalic.families.derivatives import closure

    indices = closure(index for _, index in channels)
    shapes = network.shapes
    first, last = shapes[0][0] * shapes[0][1], shapes[-1][1] * len(channels)
    inner = sum(b * a for b, a in shapes[1:-1]) * len(indices)
    order = max(index.order for index in indices)
    series = network.hidden[0] * (1 + order) + sum(network.hidden[1:]) * series_products(indices)
    products = 2 * first + 3 * (inner + last + series)
    return Work(points * products, points * sum(network.hidden))


def counts(block: Any) -> list[int]:
    """Points that count in each row of a block."""
    return [int(np.sum(np.asarray(weight) > 0)) for weight in block.weight]


def active_laws(problem: Any) -> list[Any]:
    active, laws = np.asarray(problem.active), problem.system.conditions
    return [laws[name] for name, on in zip(problem.system.catalogue.names, active, strict=True) if on]


def adam_work(problem: Any) -> Work:
    system, total = problem.system, Work(0)
    blocks = [(problem.collocation, [system.residual])]
    blocks += [(block, [law]) for block, law in zip(problem.boundary, system.boundary, strict=True)]
    if problem.interface is not None and active_laws(problem):
        blocks.append((problem.interface, active_laws(problem)))
    for block, laws in blocks:
        channels = tuple({channel for law in laws for channel in law.channels})
        sides = 2 if block.b else 1
        total += pass_work(system.network, channels, sides * sum(counts(block)))
    return total


def factor_work(count: int, size: int, edges: tuple[tuple[int, int], ...]) -> int:
    """Block Cholesky in minimum-degree order: P^3/6 for a diagonal block, and with m blocks below it P^3/2 each for
    the solutions, P^3/2 for each updated diagonal block and P^3 for each updated pair."""
    from metalic.pinn.blocks import elimination_order

    near: dict[int, set[int]] = {k: set() for k in range(count)}
    for low, high in edges:
        near[low].add(high)
        near[high].add(low)
    total = 0.0
    for k in elimination_order(count, edges):
        neighbours = near.pop(k)
        m = len(neighbours)
        total += size**3 * (1 / 6 + m / 2 + m / 2 + m * (m - 1) / 2)
        for i in neighbours:
            near[i] = (near[i] | neighbours) - {i, k}
    return round(total)


def newton_work(problem: Any) -> Work:
    system, size = problem.system, problem.system.network.size
    triangle = size * (size + 1) // 2
    laws = [(problem.collocation, system.residual.count)]
    laws += [(block, law.count) for block, law in zip(problem.boundary, system.boundary, strict=True)]
    if problem.interface is not None:
        laws.append((problem.interface, sum(law.count for law in active_laws(problem))))
    total = 0
    for block, rows in laws:
        total += rows * sum(counts(block)) * (2 * triangle + size**2 if block.b else triangle)
    return Work(total + factor_work(len(problem.centre), size, problem.edges))


def seconds(run: Callable[[], Any], least: float = 0.02) -> float:
    """Seconds of a call, from as many as fill a moment."""
    run()
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < least:
        run()
        calls += 1
    return (time.perf_counter() - begun) / calls


def rate_blocks(precision: str) -> dict[str, Callable[[], float]]:
    """For each kind of work and each library a function that measures its rate, in operations per second."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, SIZE, SIZE)).astype(precision)
    z = rng.normal(size=LENGTH).astype(precision)
    with jax.enable_x64(precision == "float64"):
        ja, jb, jz = jnp.asarray(a), jnp.asarray(b), jnp.asarray(z)
    dot, tanh = jax.jit(jnp.matmul), jax.jit(jnp.tanh)

    def device(run: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> Any:
            with jax.enable_x64(precision == "float64"):
                return jax.block_until_ready(run())

        return call

    return {
        "multiply-adds numpy": lambda: SIZE**3 / seconds(lambda: a @ b),
        "multiply-adds xla": lambda: SIZE**3 / seconds(device(lambda: dot(ja, jb))),
        "tanh numpy": lambda: LENGTH / seconds(lambda: np.tanh(z)),
        "tanh xla": lambda: LENGTH / seconds(device(lambda: tanh(jz))),
    }


def measure(family: str, precision: str, repetitions: int) -> dict[str, Any]:
    import metalic as mt

    solution = trained(family, precision)
    work = {"adam": adam_work(solution.problem), "gauss-newton": newton_work(solution.problem)}
    blocks = {
        "adam": iterations(solution, mt.Adam(1e-3), 200),
        "gauss-newton": iterations(solution, mt.GaussNewton(), 10),
        **rate_blocks(precision),
    }
    found = alternate(blocks, repetitions)
    rates = {kind: max(found[f"{kind} {lib}"] for lib in ("numpy", "xla")) for kind in ("multiply-adds", "tanh")}
    row: dict[str, Any] = {"family": family, "precision": precision, "rates": rates}
    for name, needed in work.items():
        limit = needed.milliseconds(rates)
        row[name] = {
            "multiply_adds": needed.multiply_adds,
            "tanhs": needed.tanhs,
            "ms": found[name],
            "limit_ms": limit,
            "ratio": found[name] / limit,
        }
    print(row, flush=True)
    return row


def table(rows: list[dict[str, Any]]) -> str:
    text = (
        "`python -m benchmarks.limit`\n\nAn iteration against the time that its multiply-adds and tanh evaluations "
        "take at this core's measured rates; how they are counted is described in `benchmarks/limit.py`.\n\n"
    )
    head = [
        "family",
        "precision",
        "iteration",
        "10^6 multiply-adds",
        "10^3 tanhs",
        "limit, ms",
        "measured, ms",
        "ratio",
    ]
    lines = []
    for row in rows:
        for name in ("adam", "gauss-newton"):
            one = row[name]
            counted = [one["multiply_adds"] / 1e6, one["tanhs"] / 1e3]
            lines.append([row["family"], row["precision"], name, *counted, one["limit_ms"], one["ms"], one["ratio"]])
    rates = [
        [row["family"], row["precision"], row["rates"]["multiply-adds"] / 1e9, row["rates"]["tanh"] / 1e6]
        for row in rows
    ]
    of_rates = markdown(["during", "precision", "10^9 multiply-adds per second", "10^6 tanhs per second"], rates)
    return f"{text}{markdown(head, lines)}\n{of_rates}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(SETS))
    parser.add_argument("--precisions", nargs="+", default=["float64"])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/limit"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    rows = []
    for precision in options.precisions:
        for family in options.families:
            rows.append(measure(family, precision, options.repetitions))
            write(options.out, "Steps against the arithmetic limit", table(rows), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
