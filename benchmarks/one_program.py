"""Does one program for all sets of conditions cost more than a program made for each set?

    python -m benchmarks.one_program --out results/one_program

For random sets on Poisson: time an iteration of Adam and of Gauss-Newton in the one program that serves all 512 sets,
and, for some of these sets, in a program of a family that has no other conditions. From both, the time of `fast` over
all the sets: the one program with its compilation, against special programs with none counted.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median

import numpy as np

from metalic import runtime

ADAM, NEWTON = 100, 10  # iterations of a timed block


def iteration_times(family, conditions) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Seconds per iteration of either optimizer (median of three blocks), and the seconds of compiling both."""
    import jax
    import jax.numpy as jnp

    import metalic as mt
    from metalic.pinn.optimizers import advance, start

    solution = mt.solve(family, conditions, [mt.Phase(mt.Adam(5e-3), 1)], s=20)
    found = {"compile": solution.phases[0].compile_seconds}
    with jax.enable_x64(True):
        problem, theta = solution.problem, jnp.asarray(solution.theta)
        for name, optimizer, count in (("adam", mt.Adam(5e-3), ADAM), ("newton", mt.GaussNewton(), NEWTON)):
            begun = time.perf_counter()
            state = start(optimizer, problem, theta)
            jax.block_until_ready(advance(optimizer, problem, state, jnp.asarray(1)))
            found["compile"] += time.perf_counter() - begun
            blocks = []
            for _ in range(3):
                begun = time.perf_counter()
                _, done = jax.block_until_ready(advance(optimizer, problem, state, jnp.asarray(count)))
                blocks.append((time.perf_counter() - begun) / max(int(done), 1))
            found[name] = median(blocks)
    return found


def fast_seconds(times: dict[str, float]) -> float:
    from metalic.pinn import SCHEDULES

    adam, newton = (phase.iterations for phase in SCHEDULES["fast"].phases)
    return adam * times["adam"] + newton * times["newton"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--special", type=int, default=8, help="how many sets get a program of their own")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/one_program"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    import os

    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)  # compilation is part of the figure
    from metalic.conditions import Catalogue
    from metalic.families import Poisson

    catalogue = Catalogue(Poisson())
    indices = np.random.default_rng(0).choice(2 ** len(catalogue), size=options.sets, replace=False)
    rows = []
    for i, index in enumerate(indices):
        chosen = catalogue.parse(int(index))
        row = {"set": ",".join(chosen.names), "shared": iteration_times(Poisson(), chosen)}
        if i < options.special:
            only = type("Special", (Poisson,), {"conditions": chosen.names, "name": "special"})
            row["special"] = iteration_times(only(), chosen)
        print(row, flush=True)
        rows.append(row)
    both = [row for row in rows if "special" in row]
    slower = sum(fast_seconds(r["shared"]) for r in both) / sum(fast_seconds(r["special"]) for r in both)
    compilation = sum(row["shared"]["compile"] for row in rows)
    shared = sum(fast_seconds(row["shared"]) for row in rows)
    ratio = (shared + compilation) / (shared / slower)
    text = (
        f"# One program for all sets\n\n`python -m benchmarks.one_program --sets {options.sets} --special "
        f"{options.special}`\n\n`fast` on Poisson over {options.sets} random sets, one core: {shared:.0f} s of training"
        f" and {compilation:.0f} s of compilation in the one program. On {len(both)} of the sets the one program takes "
        f"{slower:.3f}x the time of a program that has these conditions only. Total with compilation against special "
        f"programs without: **{ratio:.2f}x** (target: at most 1.25x).\n"
    )
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps({"ratio": ratio, "slower": slower, "rows": rows}, indent=1))
    print(text)


if __name__ == "__main__":
    main()
