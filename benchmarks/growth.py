"""How step times grow with points, width, subdomains and coordinates.

    python -m benchmarks.growth --out results/growth

Poisson's equation in any number of coordinates on a grid of subdomains, conditions {u, c}. In every series one size
grows and the others stay: 1 000 points and 2 subdomains, width 20, 2 coordinates. The sizes of a series run in turns;
its exponent is the slope of least squares in log-log over all of them (overheads make the first sizes flat).
Gauss-Newton leaves out widths above 40: its matrix has P^2 numbers for P weights per subdomain (width 160: 5.6 GB).
Beside the series, 64 subdomains with 1/32 of the points each against 2 with all of them, in turns. A series that would
use up its share of `--seconds` with compilation leaves out its larger sizes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import REPETITIONS, Block, alternate, cell, iterations, markdown, write
from metalic import runtime

SERIES = {
    "coordinates": (2, 3, 4),
    "width": (10, 20, 40, 80, 160),
    "points": (500, 2_500, 12_500, 64_000),
    "subdomains": (2, 4, 16, 64),
}
OPTIMIZERS = ("adam", "gauss-newton")
WIDEST_NEWTON = 40
LONGER = 3  # how much longer the next size may take to compile
FEW, MANY, ALL_POINTS = 2, 64, 6_400  # of the comparison: subdomains, and points of each of the few
TARGET = 1.5


def blocks(solution: Any, newton: bool) -> dict[str, Block]:
    """Few iterations where they are long: a block of Adam has about two million evaluations of a unit."""
    import metalic as mt

    units = solution.problem.collocation.weight.size * sum(solution.hidden)
    found = {"adam": iterations(solution, mt.Adam(1e-3), max(3, 2_000_000 // units))}
    if newton:  # damped so strongly that the first trial is taken: all sizes do the same work
        found["gauss-newton"] = iterations(solution, mt.GaussNewton(damping=1.0), 1)
    return found


def exponent(sizes: list[float], times: list[float]) -> float | None:
    """The slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) if len(sizes) > 1 else None


class Growth:
    """All measurements so far."""

    def __init__(self, repetitions: int):
        self.repetitions = repetitions
        self.rows: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        self.comparison: dict[str, Any] = {}

    def measure(self, series: str, sizes: list[int], deadline: float) -> None:
        """All sizes of a series in turns. The first two are always made ready, a larger one if it may be so before
        the deadline."""
        from benchmarks.cube import problem

        runs: dict[str, Block] = {}
        expected = 0.0
        for number, size in enumerate(sizes):
            begun = time.perf_counter()
            if number > 1 and begun + expected > deadline:
                self.left_out.append(f"{series} {size}")
                continue
            newton = series != "width" or size <= WIDEST_NEWTON
            found = blocks(problem(**{series: size}), newton)
            runs |= {f"{size} {name}": run for name, run in found.items()}
            expected = LONGER * (time.perf_counter() - begun)
            print(series, size, flush=True)
        ms = alternate(runs, self.repetitions)
        for size in sizes:
            of_size = {name: ms[f"{size} {name}"] for name in OPTIMIZERS if f"{size} {name}" in ms}
            if of_size:
                self.rows.append({"series": series, "size": size, "ms": of_size})

    def compare(self) -> None:
        """Many subdomains with few points each against few with all."""
        from benchmarks.cube import problem

        many = problem(points=ALL_POINTS * FEW // MANY, subdomains=MANY)
        few = problem(points=ALL_POINTS, subdomains=FEW)
        runs = {"many": blocks(many, newton=False)["adam"], "few": blocks(few, newton=False)["adam"]}
        ms = alternate(runs, self.repetitions)
        self.comparison = {"ms": ms, "ratio": ms["many"] / ms["few"]}
        print(self.comparison, flush=True)

    def exponents(self) -> dict[str, dict[str, float | None]]:
        found: dict[str, dict[str, float | None]] = {}
        for series in SERIES:
            for name in OPTIMIZERS:
                rows = [row for row in self.rows if row["series"] == series and name in row["ms"]]
                slope = exponent([row["size"] for row in rows], [row["ms"][name] for row in rows])
                found.setdefault(series, {})[name] = slope
        return found

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "exponents": self.exponents(),
            "comparison": self.comparison,
            "left_out": self.left_out,
        }

    def table(self) -> str:
        lines = [[r["series"], r["size"], r["ms"]["adam"], r["ms"].get("gauss-newton")] for r in self.rows]
        slopes = [[series, one["adam"], one["gauss-newton"]] for series, one in self.exponents().items()]
        text = (
            "`python -m benchmarks.growth`\n\nMilliseconds per iteration on one core, float64 (medians of "
            f"{self.repetitions} alternating repetitions). Points are those of a subdomain.\n\n"
            f"{markdown(['what grows', 'size', 'Adam', 'Gauss-Newton'], lines)}\n"
            f"{markdown(['exponent in', 'Adam', 'Gauss-Newton'], slopes)}\n"
        )
        if self.comparison:
            text += (
                f"An Adam step with {MANY} subdomains of {ALL_POINTS * FEW // MANY} points takes "
                f"**{cell(self.comparison['ratio'])}** times that with {FEW} of {ALL_POINTS} (target: at most "
                f"{TARGET}).\n"
            )
        if self.left_out:
            text += f"\nNo time was left for: {', '.join(self.left_out)}.\n"
        return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", nargs="+", default=list(SERIES), choices=list(SERIES))
    parser.add_argument("--largest", type=int, default=10**9, help="leave out sizes above")
    parser.add_argument("--seconds", type=float, default=3600.0, help="shared by the series")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/growth"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    growth = Growth(options.repetitions)
    if options.largest >= MANY:
        growth.compare()
        write(options.out, "Growth", growth.table(), growth.to_dict())
    begun, share = time.perf_counter(), options.seconds / len(options.series)
    for number, series in enumerate(options.series):
        sizes = [size for size in SERIES[series] if size <= options.largest]
        growth.measure(series, sizes, begun + (number + 1) * share)
        write(options.out, "Growth", growth.table(), growth.to_dict())
    print(growth.table())


if __name__ == "__main__":
    main()
