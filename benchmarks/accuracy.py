"""How accurate is `fast`? Ten random parameters per family, one fixed sensible set, one core.

    python -m benchmarks.accuracy --out results/accuracy

Beside each family: the time of 3 000 Adam steps of an eager PyTorch implementation of the same loss on the same core
in the same run (steps measured in blocks, the median block scaled to 3 000). Writes a table (.md) and all runs (.json).
"""

import argparse
import json
from pathlib import Path
from statistics import median

import numpy as np

from metalic import runtime

SETS = {"poisson": "u,c", "advection": "u", "reaction": "u", "burgers": "u,c,x"}
TARGETS = {"poisson": 1e-3, "advection": 5e-5, "reaction": 3e-4, "burgers": 2.5e-4}
PAPER = {"poisson": 1.406e-2, "advection": 7.0e-4, "reaction": 9.9e-4, "burgers": 1.39e-3}
PEER_STEPS, PEER_BLOCK, PEER_BLOCKS = 3000, 60, 5


def peer_seconds(family: str, parameter: float) -> float:
    """Seconds of 3 000 Adam steps of the PyTorch peer, from the median of several blocks."""
    from benchmarks.peers.torch_peer import TorchPeer

    peer = TorchPeer(family, parameter, tuple(SETS[family].split(",")), "float64", 0)
    peer.adam(10)
    return PEER_STEPS / PEER_BLOCK * median(peer.adam(PEER_BLOCK) for _ in range(PEER_BLOCKS))


def measure(name: str, count: int, schedule: str) -> dict:
    import metalic as mt

    family = mt.find_family(name)
    ((parameter, (low, high)),) = family.parameters.items()
    values = np.random.default_rng(2026).uniform(low, high, size=count)
    peer = peer_seconds(name, float(np.mean([low, high])))
    runs = []
    for seed, value in enumerate(values):
        solution = mt.solve(family, SETS[name], schedule, seed=seed, parameters={parameter: value})
        runs.append(solution.to_dict())
        print(f"{name} {parameter}={value:.4g}: error {solution.error:.2e} in {solution.seconds:.1f} s", flush=True)
    return {
        "family": name,
        "conditions": SETS[name],
        "median_error": median(run["error"] for run in runs),
        "worst_error": max(run["error"] for run in runs),
        "median_seconds": median(run["seconds"] for run in runs),
        "peer_seconds": peer,
        "target": TARGETS[name],
        "runs": runs,
    }


def table(rows: list[dict], schedule: str, count: int) -> str:
    head = (
        f"Schedule `{schedule}`, {count} random parameters per family, one core, float64.\n\n"
        "| family | conditions | median error | target | worst error | paper, Seq-UCB mean | median seconds"
        " | seconds of 3 000 Adam steps, eager PyTorch |\n|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(
        f"| {r['family']} | {r['conditions']} | {r['median_error']:.1e} | {r['target']:.1e} | {r['worst_error']:.1e} "
        f"| {PAPER[r['family']]:.1e} | {r['median_seconds']:.1f} | {r['peer_seconds']:.1f} |\n"
        for r in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(SETS))
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--schedule", default="fast")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/accuracy"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    rows = []
    for name in options.families:
        rows.append(measure(name, options.count, options.schedule))
        text = table(rows, options.schedule, options.count)
        command = f"python -m benchmarks.accuracy --schedule {options.schedule} --count {options.count}"
        options.out.with_suffix(".md").write_text(f"# Accuracy of `{options.schedule}`\n\n`{command}`\n\n{text}")
        options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
