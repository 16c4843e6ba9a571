"""What helps where `fast` is least accurate: Burgers' equation with a small viscosity, whose front is thinner than the
distance between collocation points.

    python -m experiments.sharp_front --out results/sharp_front      # run again to continue

Solves the same problems with `fast` as it is and with one thing changed at a time: points that gather where the
residual is large, four times the points, four times the iterations, a deeper network; and with several changed.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import cell, markdown, write
from metalic import runtime

VISCOSITIES = (0.001, 0.0015, 0.0025)
CONDITIONS = "uavg,c,x"


def remedies() -> dict[str, tuple[Any, dict[str, Any]]]:
    """By name: the schedule and options of the solver."""
    import metalic as mt

    adam = mt.Phase(mt.Adam(5e-3), 300)

    def schedule(iterations: int = 200, **options: Any) -> Any:
        phases = (adam, mt.Phase(mt.GaussNewton(), iterations, **options))
        return mt.Schedule("varied", phases, interface_line=101)

    many = mt.Points(4000, 200, 101)
    moving = {"resample": 25, "adaptive": True}
    return {
        "`fast`": ("fast", {}),
        "adaptive points": (schedule(**moving), {}),
        "four times the points": (schedule(), {"points": many}),
        "four times the iterations": (schedule(800), {}),
        "a third hidden layer": (schedule(), {"hidden": (20, 20, 20)}),
        "adaptive, four times the points": (schedule(**moving), {"points": many}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/sharp_front"))
    options = parser.parse_args()
    runtime.prepare()
    import metalic as mt

    kept = options.out.with_suffix(".json")
    found: list[dict[str, Any]] = json.loads(kept.read_text())["solves"] if kept.exists() else []
    solved = {(one["remedy"], one["nu"], one["seed"]) for one in found}
    for name, (schedule, solver) in remedies().items():
        for nu in VISCOSITIES:
            for seed in range(options.seeds):
                if (name, nu, seed) in solved:
                    continue
                begun = time.perf_counter()
                solution = mt.solve("burgers", CONDITIONS, schedule, seed=seed, nu=nu, **solver)
                seconds = sum(phase.seconds for phase in solution.phases)
                found.append({"remedy": name, "nu": nu, "seed": seed, "error": solution.error, "seconds": seconds})
                print(found[-1], round(time.perf_counter() - begun, 1), flush=True)
        rows = [row(name, found) for name in dict.fromkeys(one["remedy"] for one in found)]
        header = ["remedy", *(f"nu = {nu}" for nu in VISCOSITIES), "seconds per solve"]
        text = (
            f"`python -m experiments.sharp_front --seeds {options.seeds}`\n\nBurgers with the conditions {CONDITIONS}: "
            f"geometric mean of the relative L2 error over {options.seeds} seed(s), and median seconds of the "
            f"optimizers.\n\n{markdown(header, rows)}"
        )
        write(options.out, "Sharp fronts", text, {"solves": found})
    print(text)


def row(name: str, found: list[dict[str, Any]]) -> list[str]:
    mine = [one for one in found if one["remedy"] == name]
    errors = [np.exp(np.mean([np.log(one["error"]) for one in mine if one["nu"] == nu])) for nu in VISCOSITIES]
    return [name, *(f"{error:.1e}" for error in errors), cell(float(np.median([one["seconds"] for one in mine])))]


if __name__ == "__main__":
    main()
