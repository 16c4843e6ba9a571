"""Seconds until the relative L2 error first falls below the paper's Seq-UCB mean.

    python -m benchmarks.time_to_accuracy --out results/time_to_accuracy

Schedule `fast` against schedule `paper`, both ours, and against the PyTorch peer under `paper`. The peer is not run to
the end: its time is *extrapolated*, our numbers of Adam and L-BFGS iterations times its median time per iteration in
the same run. Errors are measured between chunks of iterations (10 to 250 of them), compilation does not count. A run
stops at the accuracy, at the end of its schedule, or after `--most` seconds; if it has not reached the accuracy by
then, its seconds, and the ratios made from them, are lower bounds, marked with >.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import PARAMETER, REPETITIONS, SETS, alternate, cell, markdown, parameters, write
from metalic import runtime

PAPER = {"poisson": 1.4e-2, "advection": 7e-4, "reaction": 9.9e-4, "burgers": 1.39e-3}
TARGET = 100.0


class Stopped(Exception):  # noqa: N818
    """Ends a solve from its progress callback."""


class Watch:
    """A progress callback that keeps time and iterations of every phase and ends the solve at the accuracy."""

    def __init__(self, goal: float, most: float):
        self.goal, self.most = goal, most
        self.seconds: dict[int, float] = {}
        self.iterations: dict[str, int] = {}
        self.error: float | None = None

    def __call__(self, report: Any) -> None:
        self.seconds[report.phase] = report.seconds
        self.iterations[report.optimizer] = report.iteration
        self.error = report.error
        if self.reached or self.total > self.most:
            raise Stopped

    @property
    def reached(self) -> bool:
        return self.error is not None and self.error < self.goal

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "reached": self.reached,
            "seconds": self.total,
            "iterations": self.iterations,
            "error": self.error,
        }


def run(family: str, schedule: str, seed: int, most: float) -> dict[str, Any]:
    import metalic as mt

    watch = Watch(PAPER[family], most)
    with suppress(Stopped):
        mt.solve(family, SETS[family], schedule, seed=seed, parameters=parameters(family), progress=watch)
    print(family, schedule, watch.to_dict(), flush=True)
    return watch.to_dict()


def peer_times(family: str, repetitions: int) -> dict[str, float]:
    """Milliseconds per iteration of the PyTorch peer, float64."""
    from benchmarks.peers.torch_peer import TorchPeer

    peer = TorchPeer(family, PARAMETER[family], tuple(SETS[family].split(",")), "float64", 0)
    peer.adam(10)

    def lbfgs() -> float:
        result = peer.lbfgs(20)
        return 1e3 * result.seconds / max(result.iterations, 1)

    return alternate({"adam": lambda: 1e3 * peer.adam(30) / 30, "lbfgs": lbfgs}, repetitions)


def measure(family: str, seeds: int, most: float, repetitions: int) -> dict[str, Any]:
    """Both schedules for every seed; the figures are those of the seed with the median ratio."""
    milliseconds = peer_times(family, repetitions)
    runs = []
    for seed in range(seeds):
        fast, paper = run(family, "fast", seed, most), run(family, "paper", seed, most)
        extrapolated = sum(milliseconds[name] * count for name, count in paper["iterations"].items()) / 1e3
        runs.append({"seed": seed, "fast": fast, "paper": paper, "peer_extrapolated": extrapolated})
    runs.sort(key=lambda one: one["peer_extrapolated"] / one["fast"]["seconds"])
    return {"family": family, "goal": PAPER[family], "peer_ms": milliseconds, **runs[len(runs) // 2], "runs": runs}


def ratio(row: dict[str, Any]) -> float | None:
    """The peer's extrapolated time over that of `fast`; None if `fast` did not get there."""
    return row["peer_extrapolated"] / row["fast"]["seconds"] if row["fast"]["reached"] else None


def summary(rows: list[dict[str, Any]]) -> float:
    """The median ratio over families; one where `fast` does not get there counts as 0, it is not left out."""
    return median(ratio(row) or 0.0 for row in rows)


def table(rows: list[dict[str, Any]]) -> str:
    head = ["family", "error to reach", "`fast`, s", "`paper`, s", "Adam + L-BFGS iterations of `paper`"]
    head += ["PyTorch under `paper`, s (extrapolated)", "`paper` / `fast`", "PyTorch (extrapolated) / `fast`"]
    lines = []
    for row in rows:
        fast, paper = row["fast"], row["paper"]
        beyond = "" if paper["reached"] else ">"
        done = paper["iterations"]
        lines.append(
            [
                row["family"],
                row["goal"],
                ("" if fast["reached"] else ">") + cell(fast["seconds"]),
                beyond + cell(paper["seconds"]),
                beyond + f"{done.get('adam', 0)} + {done.get('lbfgs', 0)}",
                beyond + cell(row["peer_extrapolated"]),
                beyond + cell(paper["seconds"] / fast["seconds"]) if fast["reached"] else None,
                beyond + cell(ratio(row)),
            ]
        )
    whole = ("" if all(row["paper"]["reached"] for row in rows) else ">") + cell(summary(rows))
    return (
        "`python -m benchmarks.time_to_accuracy`\n\nSeconds until the relative L2 error first falls below the paper's "
        "Seq-UCB mean; one core, float64, without compilation. PyTorch is extrapolated: our iterations times its "
        f"median time per iteration in the same run. >: not reached, a lower bound.\n\n{markdown(head, lines)}\n"
        f"Median over families, PyTorch (extrapolated) / `fast`: **{whole}** (target {TARGET:.0f}).\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=float, default=600.0, help="seconds after which a run is given up")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/time_to_accuracy"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    rows = []
    for family in options.families:
        rows.append(measure(family, options.seeds, options.most, options.repetitions))
        write(options.out, "Time to the paper's accuracy", table(rows), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
