"""How far the estimate of the error can be trusted: many solves with known errors, good and bad.

    python -m experiments.verdict                  continue until all solves are made, then write the table
    python -m experiments.verdict --shard 0/2      one of two processes that share the work

Every solve appends a line to results/verdict.jsonl; lines that are there are not made again. The table goes to
results/verdict.md. Families, sets, parameters, budgets and seeds follow from the number of a solve alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from metalic import runtime

runtime.prepare()

import metalic as mt  # noqa: E402
from experiments import verdict_problems as new  # noqa: E402

HERE = Path(__file__).parent.parent
LINES, TABLE = HERE / "results" / "verdict.jsonl", HERE / "results" / "verdict.md"
POINTS, HIDDEN = mt.Points(300, 80, 60), (10, 10)
BUDGETS = (8, 25, 70, 150)  # Gauss-Newton iterations
ROUNDS = 6

SETS: dict[str, tuple[str, ...]] = {  # per family, the good set first
    "poisson": ("u,c", "u", "c"),
    "advection": ("u", "t"),
    "reaction": ("u", "x"),
    "burgers": ("u,c", "u"),
    "heat": ("u", "x"),
    "kdv": ("u", "x"),
    "examples/wave.py:Wave": ("u,c", "u"),
    "examples/two_materials.py:TwoMaterials": ("u,c", "u,x"),
    "examples/system.py:Sloshing": ("u", "c"),
    "examples/heat3d.py:Heat3D": ("u,c", "u"),
    "examples/own_condition.py:PoissonRobin": ("u,c", "robin"),
    "Helmholtz": ("u,c", "u", "c"),
    "KleinGordon": ("u,c", "u", "c"),
    "Layer": ("u,c", "u", "c"),
    "AllenCahn": ("u,c", "u", "c"),
    "Contrast": ("u,c", "u", "c"),
    "Fisher": ("u,c", "u", "c"),
    "Beam": ("u,c,x,xx", "u,x", "u,c"),
}


def family(name: str) -> mt.Family:
    """The family, with no conditions but those of its sets and of the complete set: less to compile."""
    if hasattr(new, name):
        return mt.find_family(getattr(new, name))
    found = mt.find_family(str(HERE / name) if name.endswith(".py") or ":" in name else name)
    used = {one for text in SETS[name] for one in text.split(",")}
    own = tuple(one.name for one in found.own_conditions)
    return found.changed(conditions=tuple(sorted(used - set(own))), default_conditions=None)


def tasks() -> Iterator[dict[str, Any]]:
    """All solves, in an order in which every part of the list is a fair sample."""
    for number, name in itertools.product(range(ROUNDS), SETS):
        good, *bad = SETS[name]
        for budget in BUDGETS:
            yield {"family": name, "conditions": good, "iterations": budget, "seed": number}
        yield {"family": name, "conditions": bad[number % len(bad)], "iterations": 70, "seed": number}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One solve and its check."""
    found = family(task["family"])
    rng = np.random.default_rng([task["seed"], task["iterations"], list(SETS).index(task["family"])])
    parameters = {name: float(rng.uniform(*box)) for name, box in found.parameters.items()}
    schedule = [mt.Phase(mt.GaussNewton(), task["iterations"])]
    options = {"seed": task["seed"], "hidden": HIDDEN, "points": POINTS, "check": False}
    solution = mt.solve(found, task["conditions"], schedule, parameters=parameters, **options)
    check = solution.check()
    return task | {
        "parameters": parameters,
        "error": solution.error,
        "estimate": check.estimate,
        "verdict": check.verdict,
        "method": check.method,
        "check_seconds": check.seconds,
        "seconds": solution.seconds,
    }


def key(task: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(task[name] for name in ("family", "conditions", "iterations", "seed"))


def made() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []


# --- The table -------------------------------------------------------------------------------------------------------


def share(rows: list[bool]) -> str:
    return f"{sum(rows)} of {len(rows)}" + (f" ({100 * np.mean(rows):.1f} %)" if rows else "")


def table(rows: list[dict[str, Any]]) -> str:
    measured = [row for row in rows if row["error"] > 1e-7]
    ratio = {key(row): row["estimate"] / row["error"] for row in measured}
    within = lambda factor: [1 / factor <= ratio[key(row)] <= factor for row in measured]  # noqa: E731
    lines = [
        "# How far the estimate of the error can be trusted",
        "",
        "Made by `python -m experiments.verdict`. Networks of 2 x 10 units, 300 points per subdomain, 8 to 150",
        "Gauss-Newton iterations, parameters drawn at random from their boxes; good sets and bad ones. Errors are",
        "relative L2 errors against known solutions, which the check does not see.",
        "",
        "| aim | found |",
        "|---|---|",
        f"| solves | {len(rows)} |",
        f"| with errors above 1e-2 | {sum(row['error'] > 1e-2 for row in rows)} |",
        f"| of these not `good` (99 %) | {share([row['verdict'] != 'good' for row in rows if row['error'] > 1e-2])} |",
        f"| errors below 1e-4: `good` (98 %) | {share([r['verdict'] == 'good' for r in rows if r['error'] < 1e-4])} |",
        f"| errors above 1e-7: estimate within a factor of 3 (90 %) | {share(within(3))} |",
        f"| errors above 1e-7: estimate within a factor of 10 (99 %) | {share(within(10))} |",
        f"| seconds of a check, median | {np.median([row['check_seconds'] for row in rows]):.1f} |",
        "",
        "Estimate / error, for errors above 1e-7. A miss is an estimate off by more than a factor of 3.",
        "",
        "| family | solves | median | 5 % | 95 % | misses | by polynomials |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        mine = [row for row in measured if row["family"] == name]
        if mine:
            ratios = np.array([ratio[key(row)] for row in mine])
            low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
            misses = int(np.sum((ratios > 3) | (ratios < 1 / 3)))
            by = sum(row["method"] == "polynomials" for row in mine)
            short = name.rpartition(":")[2]
            lines.append(f"| {short} | {len(mine)} | {middle:.2f} | {low:.2f} | {high:.2f} | {misses} | {by} |")
    missed = [row for row in measured if not 1 / 3 <= ratio[key(row)] <= 3]
    lines += ["", "Every miss:", "", "| family | set | iterations | seed | error | estimate | verdict |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for row in sorted(missed, key=lambda row: ratio[key(row)]):
        name, numbers = row["family"].rpartition(":")[2], f"{row['error']:.1e} | {row['estimate']:.1e}"
        lines.append(
            f"| {name} | {row['conditions']} | {row['iterations']} | {row['seed']} | {numbers} | {row['verdict']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shard", default="0/1", help="i/n: every n-th family, from the i-th on")
    parser.add_argument("--table", action="store_true", help="only write the table of what is there")
    given = parser.parse_args()
    part, parts = map(int, given.shard.split("/"))
    done = {key(row) for row in made()}
    for task in [] if given.table else tasks():
        if list(SETS).index(task["family"]) % parts == part and key(task) not in done:
            row = run(task)
            with LINES.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{row['family']:24} {row['conditions']:8} {row['iterations']:4} error {row['error']:.1e}", end=" ")
            print(f"estimate {row['estimate']:.1e} {row['verdict']} by {row['method']}", flush=True)
    TABLE.write_text(table(made()))


if __name__ == "__main__":
    sys.exit(main())
