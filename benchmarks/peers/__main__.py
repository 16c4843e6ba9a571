"""Milliseconds per Adam step and per L-BFGS iteration of every peer: `python -m benchmarks.peers --family poisson`.

Every time is the best of several blocks, which is what the machine can do when nothing else disturbs it. Processor time
stands beside elapsed time: with one thread the two differ only if the core was shared. Threads are those of the
environment; set OMP_NUM_THREADS=1 to measure one core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Protocol

import torch

from .compiled_torch import CompiledTorchPeer
from .deepxde_peer import DeepXDEPeer
from .problems import FAMILIES, Problem, Run, problem_of
from .torch_peer import DTYPES, TorchPeer

BLOCKS = 5


class Peer(Protocol):
    def adam(self, steps: int) -> float: ...
    def lbfgs(self, iterations: int) -> Run: ...


def adam_block(peer: Peer, steps: int) -> dict[str, float]:
    start = time.process_time()
    seconds = peer.adam(steps)
    cpu = time.process_time() - start
    return {"adam_ms": 1e3 * seconds / steps, "adam_cpu_ms": 1e3 * cpu / steps}


def lbfgs_block(peer: Peer, iterations: int) -> dict[str, float]:
    start = time.process_time()
    run = peer.lbfgs(iterations)
    cpu = time.process_time() - start
    count = max(run.iterations, 1)  # at an optimum it stops at once
    return {
        "lbfgs_ms": 1e3 * run.seconds / count,
        "lbfgs_cpu_ms": 1e3 * cpu / count,
        "lbfgs_evaluations": run.evaluations / count,
    }


def measure(make: Callable[[], Peer], adam_steps: int, lbfgs_iterations: int) -> dict[str, float]:
    """Times of one peer; every block carries on training where the last one ended."""
    peer = make()
    peer.adam(10)  # warm-up
    adam = [adam_block(peer, adam_steps) for _ in range(BLOCKS)]
    lbfgs = [lbfgs_block(peer, lbfgs_iterations) for _ in range(BLOCKS)]
    evaluations = sum(block["lbfgs_evaluations"] for block in lbfgs) / BLOCKS
    return best(adam) | best(lbfgs) | {"lbfgs_evaluations": evaluations}


def best(blocks: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(block[name] for block in blocks) for name in blocks[0]}


def peers_of(
    family: str, parameter: float, conditions: tuple[str, ...], dtype: str, seed: int, compiled: bool
) -> dict[str, Callable[[], Peer]]:
    """A maker for every peer, so that none holds memory while another runs."""
    peers: dict[str, Callable[[], Peer]] = {
        "torch": lambda: TorchPeer(family, parameter, conditions, dtype, seed),
        "deepxde": lambda: DeepXDEPeer(family, parameter, dtype, seed),
    }
    if compiled:
        peers["torch.compile"] = lambda: CompiledTorchPeer(family, parameter, conditions, dtype, seed)
    return peers


def chosen_conditions(names: str, problem: Problem) -> tuple[str, ...]:
    return problem.conditions if names == "all" else tuple(name for name in names.split(",") if name)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--family", choices=FAMILIES, default="poisson")
    parser.add_argument("--parameter", type=float, help="the PDE's parameter; a typical one by default")
    parser.add_argument("--conditions", default="uavg,rc", help="names joined by commas, or 'all' (PyTorch only)")
    parser.add_argument("--dtype", choices=tuple(DTYPES), default="float64")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--adam-steps", type=int, default=50, help="steps in one block")
    parser.add_argument("--lbfgs-iterations", type=int, default=50, help="iterations in one block")
    parser.add_argument("--compiled", action="store_true", help="measure torch.compile too (minutes to compile)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    return parser.parse_args()


def main() -> None:
    options = parse()
    problem = problem_of(options.family)
    parameter = problem.example if options.parameter is None else options.parameter
    conditions = chosen_conditions(options.conditions, problem)
    makers = peers_of(options.family, parameter, conditions, options.dtype, options.seed, options.compiled)
    report = {
        "family": options.family,
        "parameter": parameter,
        "conditions": conditions,
        "dtype": options.dtype,
        "threads": torch.get_num_threads(),
        "peers": {name: measure(make, options.adam_steps, options.lbfgs_iterations) for name, make in makers.items()},
    }
    print(json.dumps(report, indent=2) if options.json else table(report))


def table(report: dict) -> str:
    conditions = ",".join(report["conditions"]) or "none"
    lines = [
        f"{report['family']} ({report['parameter']:g}), {report['dtype']}, {report['threads']} thread(s), "
        f"conditions {conditions}",
        f"{'peer':<14}{'Adam ms/step':>13} {'(cpu)':>7}{'L-BFGS ms/iter.':>17} {'(cpu)':>7}{'losses/iter.':>14}",
    ]
    lines += [
        f"{name:<14}{row['adam_ms']:>13.2f} {row['adam_cpu_ms']:>7.2f}"
        f"{row['lbfgs_ms']:>17.2f} {row['lbfgs_cpu_ms']:>7.2f}{row['lbfgs_evaluations']:>14.2f}"
        for name, row in report["peers"].items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
