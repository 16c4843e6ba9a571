"""How long a decision among 512 arms takes, refit included, on one core; and how often growing data recompiles.

python benchmarks/decision_time.py [--json] [--plays 50 200 500 2000] [--repeat 3]

A decision is `bandit.learn(history).decide(...)`: hyperparameters from the fixed starts, posterior of all arms, UCB.
Times are medians after one decision that compiles. The wall time is what counts on an idle core; the processor time
is that of this process alone, for machines that are not idle. Targets: 0.3 s at 200 plays, 3 s at 2000.
"""

import argparse
import json
import os
import statistics
import time

if hasattr(os, "sched_setaffinity"):  # before JAX starts: it sizes its pool from the cores it may use
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import numpy as np

from metalic.bandit import Bandit, Learned, Played, PlayedPhase, Single

CONDITIONS = 9
NAMES = tuple(f"c{i}" for i in range(CONDITIONS))
KERNELS = ("paper", "lean", "additive")
COMPILED = "/jax/core/compile/backend_compile_duration"


def plays(count: int, seed: int = 0) -> list[Played]:
    """Random sets in random contexts, with a reward of main effects, pairs and context."""
    rng = np.random.default_rng(seed)
    history = []
    for _ in range(count):
        b, arm = rng.random(), rng.integers(0, 2, CONDITIONS)
        h = 2 * arm - 1
        reward = np.sin(4 * b) + 0.8 * h[0] - 0.5 * b * h[1] + 0.4 * h[2] * h[3] + 0.3 * rng.standard_normal()
        history.append(Played((float(b),), (PlayedPhase(tuple(arm.tolist()), float(reward)),)))
    return history


def learned(kernel: str, history: list[Played]) -> Learned:
    return Bandit(settings=Single(kernel=kernel), conditions=NAMES, low=(0.0,), high=(1.0,)).learn(history)


def seconds(kernel: str, count: int, repeat: int) -> tuple[float, float]:
    """Median wall and processor time of a decision."""
    wall, cpu = [], []
    for run in range(repeat + 1):
        history = plays(count, seed=run)
        start = time.perf_counter(), time.process_time()
        learned(kernel, history).decide((0.3,), play=count + 1, key=run)
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    return statistics.median(wall[1:]), statistics.median(cpu[1:])


def compiling_plays(kernel: str, count: int = 60) -> dict[int, int]:
    """Play number -> programs compiled, over a history that grows by one play at a time."""
    events: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: events.append(event))
    history, compiled = plays(count), {}
    for n in range(1, count + 1):
        events.clear()
        learned(kernel, history[:n]).decide((0.3,), play=n + 10, key=n)
        compiled[n] = events.count(COMPILED)
    return {n: k for n, k in compiled.items() if k}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--plays", type=int, nargs="+", default=[50, 200, 500, 2000])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    compiled = {kernel: compiling_plays(kernel) for kernel in KERNELS}
    times = {kernel: {n: seconds(kernel, n, options.repeat) for n in options.plays} for kernel in KERNELS}
    if options.json:
        print(json.dumps({"seconds": times, "compiled": compiled}))
        return
    print(f"{'plays':>6}" + "".join(f"{kernel + ' wall':>15}{kernel + ' cpu':>15}" for kernel in KERNELS))
    for n in options.plays:
        print(f"{n:>6}" + "".join(f"{t:>13.3f} s" for kernel in KERNELS for t in times[kernel][n]))
    for kernel, counts in compiled.items():
        print(f"{kernel}: {sum(counts.values())} programs compiled over 60 growing plays, at plays {sorted(counts)}")


if __name__ == "__main__":
    main()
