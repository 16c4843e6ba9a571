"""Step times of our optimizers against an eager PyTorch implementation of the same loss, and against DeepXDE.

    python -m benchmarks.steps --out results/steps

One process, one core, float64 and float32, alternating repetitions; every figure is a median. DeepXDE solves the
single-domain problem of the same size (2 000 collocation points, one network, no interface). Writes .md and .json.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from metalic import runtime

SETS = {"poisson": "u,c", "advection": "u", "reaction": "u", "burgers": "u,c,x"}
PARAMETER = {"poisson": 20.0, "advection": 24.02, "reaction": 4.1, "burgers": 0.0173}
REPETITIONS = 5


def ours(family: str, precision: str) -> dict[str, Callable[[], float]]:
    """For each optimizer a function that runs a block of iterations and gives milliseconds an iteration."""
    import jax
    import jax.numpy as jnp

    import metalic as mt
    from metalic.pinn.optimizers import advance, start

    phases = {
        "adam": (mt.Adam(1e-3), 200),
        "lbfgs": (mt.LBFGS(50, 0.0, 0.0), 100),
        "gauss-newton": (mt.GaussNewton(), 10),
    }
    problem_of = mt.solve(
        family, SETS[family], [mt.Phase(mt.Adam(1e-3), 250)], precision=precision, sampling="random", scaling="none",
        parameters={next(iter(mt.find_family(family).parameters)): PARAMETER[family]},
    )  # fmt: skip
    with jax.enable_x64(precision == "float64"):
        problem, theta = problem_of.problem, jnp.asarray(problem_of.theta)

    def block(name: str) -> Callable[[], float]:
        optimizer, count = phases[name]

        def run() -> float:
            with jax.enable_x64(precision == "float64"):
                state = jax.block_until_ready(start(optimizer, problem, theta))
                begun = time.perf_counter()
                state, done = jax.block_until_ready(advance(optimizer, problem, state, jnp.asarray(count)))
                return 1e3 * (time.perf_counter() - begun) / max(int(done), 1)

        run()  # compiles
        return run

    return {name: block(name) for name in phases}


def peers(family: str, precision: str) -> dict[str, Callable[[], float]]:
    from benchmarks.peers.deepxde_peer import DeepXDEPeer
    from benchmarks.peers.torch_peer import TorchPeer

    torch = TorchPeer(family, PARAMETER[family], tuple(SETS[family].split(",")), precision, 0)
    deepxde = DeepXDEPeer(family, PARAMETER[family], precision, 0)
    torch.adam(10)
    deepxde.adam(10)

    def adam(peer, steps: int) -> Callable[[], float]:
        return lambda: 1e3 * peer.adam(steps) / steps

    def lbfgs(peer, iterations: int) -> Callable[[], float]:
        def run() -> float:
            result = peer.lbfgs(iterations)
            return 1e3 * result.seconds / max(result.iterations, 1)

        return run

    def gauss_newton() -> float:
        result = torch.gauss_newton(2)
        return 1e3 * result.seconds / max(result.iterations, 1)

    found = {"torch adam": adam(torch, 40), "torch lbfgs": lbfgs(torch, 30)}
    if precision == "float64":
        found["torch gauss-newton"] = gauss_newton
    return found | {"deepxde adam": adam(deepxde, 40), "deepxde lbfgs": lbfgs(deepxde, 30)}


def measure(family: str, precision: str) -> dict:
    blocks = ours(family, precision) | peers(family, precision)
    times: dict[str, list[float]] = {name: [] for name in blocks}
    for _ in range(REPETITIONS):
        for name, run in blocks.items():
            times[name].append(run())
    print(family, precision, {name: round(median(values), 2) for name, values in times.items()}, flush=True)
    return {"family": family, "precision": precision, "ms": {name: median(values) for name, values in times.items()}}


def table(rows: list[dict]) -> str:
    head = (
        "Milliseconds an iteration on one core (median of 5 alternating repetitions), and ratios.\n\n"
        "| family | precision | Adam | L-BFGS | Gauss-Newton | L-BFGS / Adam | PyTorch Adam / ours "
        "| DeepXDE Adam / ours | PyTorch L-BFGS / ours | PyTorch Gauss-Newton / ours |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    lines = []
    for row in rows:
        ms = row["ms"]
        newton = f"{ms['torch gauss-newton'] / ms['gauss-newton']:.1f}" if "torch gauss-newton" in ms else "-"
        lines.append(
            f"| {row['family']} | {row['precision']} | {ms['adam']:.2f} | {ms['lbfgs']:.2f} | {ms['gauss-newton']:.1f} "
            f"| {ms['lbfgs'] / ms['adam']:.2f} | {ms['torch adam'] / ms['adam']:.1f} "
            f"| {ms['deepxde adam'] / ms['adam']:.1f} | {ms['torch lbfgs'] / ms['lbfgs']:.1f} | {newton} |\n"
        )
    return head + "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(SETS))
    parser.add_argument("--precisions", nargs="+", default=["float64", "float32"])
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/steps"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    rows = []
    for precision in options.precisions:
        for family in options.families:
            rows.append(measure(family, precision))
            text = table(rows)
            options.out.with_suffix(".md").write_text(f"# Step times\n\n`python -m benchmarks.steps`\n\n{text}")
            options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
