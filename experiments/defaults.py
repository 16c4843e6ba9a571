"""Compare configurations of the solver on random members of the four main families, each solve from nothing.

    python experiments/defaults.py run --config fast --count 20 --out results/defaults.jsonl
    python experiments/defaults.py run --config small-2x20 --code baseline --out results/defaults.jsonl
    python experiments/defaults.py table --out results/defaults.jsonl

Every solve is one line of JSON, written as soon as it is finished; `run` skips what the file already holds, so a run
that was stopped continues. Parameters are drawn uniformly from the box of the family, the default set of conditions is
used, and the seed of a solve is its number. To compare with another version of the library, run the same command with
its `src` in PYTHONPATH and a name for it in `--code`: the table then shows ratios of seconds.

Two times are kept: `seconds`, the sum of `phases[].seconds`, and `cpu`, the processor time of the same solve, which
other processes on the machine disturb less. Programs are compiled before, by a solve of one iteration per phase.
"""

import argparse
import dataclasses
import inspect
import json
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from metalic import runtime

FAMILIES = ("poisson", "advection", "reaction", "burgers")
FAILED = 1e-2
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "fast": {"schedule": "fast"},
    "accurate": {"schedule": "accurate"},
    "sharp": {"schedule": "sharp"},
    "quick": {"schedule": "quick"},
    "2x20": {"schedule": "fast", "hidden": (20, 20), "lambda_boundary": 20.0},
    "3x14": {"schedule": "fast", "hidden": (14,) * 3, "lambda_boundary": 20.0},
    "4x12": {"schedule": "fast", "hidden": (12,) * 4, "lambda_boundary": 20.0},
    "4x12-200": {"schedule": "fast", "hidden": (12,) * 4, "lambda_boundary": 200.0},
}


def parameters(name: str, count: int, seed: int) -> tuple[str, np.ndarray]:
    """The name of the family's parameter, and values drawn from its box."""
    import metalic as mt

    ((parameter, (low, high)),) = mt.find_family(name).parameters.items()
    return parameter, np.random.default_rng(seed).uniform(low, high, size=count)


def one_iteration(schedule: Any) -> Any:
    """The same programs with as little training as possible."""
    from metalic.pinn.schedule import find_schedule

    found = find_schedule(schedule)
    phases = tuple(dataclasses.replace(phase, iterations=1) for phase in found.phases)
    return dataclasses.replace(found, phases=phases)


def solves(name: str, options: dict[str, Any], numbers: Iterable[int], values: np.ndarray, parameter: str) -> Any:
    """A record per solve."""
    import metalic as mt

    rest = {key: value for key, value in options.items() if key != "schedule"}
    if "check" in inspect.signature(mt.solve).parameters:  # version 0.1 has no check; its seconds are no training
        rest["check"] = False
    mt.solve(name, None, one_iteration(options["schedule"]), parameters={parameter: values[0]}, **rest)
    for number in numbers:
        begun = time.process_time()
        solution = mt.solve(
            name, None, options["schedule"], seed=number, parameters={parameter: values[number]}, **rest
        )
        yield {
            "family": name,
            "number": number,
            "parameter": values[number],
            "error": solution.error,
            "loss": solution.loss,
            "seconds": solution.seconds,
            "cpu": time.process_time() - begun,
            "iterations": [phase.iterations for phase in solution.phases],
            "gathered": list(getattr(solution.phases[-1], "gathered", ())),
            "stopped": solution.phases[-1].stop_reason,
        }


def run(options: argparse.Namespace) -> None:
    key = {"code": options.code, "config": options.config, "draw": options.draw}
    done = {(r["family"], r["number"]) for r in read(options.out) if all(r[k] == v for k, v in key.items())}
    for name in options.families:
        parameter, values = parameters(name, options.count, options.draw)
        left = [number for number in range(options.count) if (name, number) not in done]
        for record in solves(name, CONFIGURATIONS[options.config], left, values, parameter) if left else ():
            with options.out.open("a") as file:
                file.write(json.dumps(key | record) + "\n")
            print(
                f"{name} {parameter}={record['parameter']:.4g}: {record['error']:.1e}, {record['cpu']:.1f} s",
                flush=True,
            )


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


HEAD = ("code", "config", "family", "solves", "median error", "worst error", "failures", "seconds", "CPU s", "ratio")


def table(records: list[dict[str, Any]]) -> str:
    """A row per code, configuration and family. A failure has an error above 1e-2; `ratio` compares the median
    processor time with that of the first row of the family."""
    rows, first = [HEAD, ("---",) * len(HEAD)], {}
    for group in dict.fromkeys((r["code"], r["config"], r["family"]) for r in records):
        mine = [r for r in records if (r["code"], r["config"], r["family"]) == group]
        errors, cpu = [r["error"] for r in mine], median(r["cpu"] for r in mine)
        ratio = cpu / first.setdefault(group[2], cpu)
        accuracy = (f"{median(errors):.1e}", f"{max(errors):.1e}", str(sum(error > FAILED for error in errors)))
        times = (f"{median(r['seconds'] for r in mine):.1f}", f"{cpu:.1f}", f"{ratio:.2f}")
        rows.append((*group, str(len(mine)), *accuracy, *times))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("--config", choices=CONFIGURATIONS, default="fast")
    parser.add_argument("--code", default="here", help="a name for the version of the library that is imported")
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--draw", type=int, default=2026, help="the seed of the random parameters")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/defaults.jsonl"))
    options = parser.parse_args()
    if options.action == "run":
        runtime.prepare(core=options.core)
        run(options)
    print(table(read(options.out)))


if __name__ == "__main__":
    main()
