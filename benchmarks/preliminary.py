"""Does the set of conditions matter under the paper's own training? Poisson u_xx + u_yy = 1, schedule `paper`.

    python benchmarks/preliminary.py --seeds 5 --out results/preliminary.json

Solves with {uavg, c, yy} and with {uavg} and sets the median errors side by side. Resumable: finished seeds stay.
"""

import argparse
import json
from pathlib import Path
from statistics import median

from metalic import runtime

SETS = ("uavg,c,yy", "uavg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--schedule", default="paper")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/preliminary.json"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    import metalic as mt

    rows = json.loads(options.out.read_text())["runs"] if options.out.exists() else []
    done = {(row["set"], row["seed"]) for row in rows}
    for seed in range(options.seeds):
        for conditions in SETS:
            if (conditions, seed) in done:
                continue
            solution = mt.solve("poisson-unit", conditions, options.schedule, seed=seed)
            rows.append({"set": conditions, "seed": seed, **solution.to_dict()})
            print(f"{conditions:12} seed {seed}: error {solution.error:.3e}, {solution.seconds:.0f} s", flush=True)
            errors = {name: median(r["error"] for r in rows if r["set"] == name) for name in {r["set"] for r in rows}}
            result = {"schedule": options.schedule, "median_error": errors, "runs": rows}
            options.out.write_text(json.dumps(result, indent=1) + "\n")
    ratio = errors[SETS[1]] / errors[SETS[0]]
    print(f"median error {{{SETS[0]}}} {errors[SETS[0]]:.3e}, {{{SETS[1]}}} {errors[SETS[1]]:.3e}: ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
