"""How many plays does a reward model need? Recommendations after more and more random plays, on unseen problems.

    python -m experiments.learning_curve results/plays/poisson-quick-random-0.db --out results/learning_curve_poisson

For every kernel and every number of plays, the sets that follow from the first plays of the ledger (posterior mean,
the loss between phases as expected) are used to solve the same unseen problems with the ledger's schedule. Solves are
shared by all models that recommend the same sets for a problem, and kept in the .json file: run again to continue.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from experiments.kernels import bandit_of, plays_of
from metalic import runtime
from metalic.bandit import KERNELS

SIZES = (20, 40, 60, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--kernels", nargs="+", choices=sorted(KERNELS), default=["paper", "lean"])
    parser.add_argument("--out", type=Path, default=Path("results/learning_curve"))
    options = parser.parse_args()
    runtime.prepare()
    import metalic as mt
    from metalic.conditions import Catalogue

    name, plays = plays_of(options.ledger)
    with mt.Study(options.ledger, read_only=True) as study:
        schedule = study.settings.schedule
    family = mt.find_family(name)
    catalogue = Catalogue(family)
    low, high = zip(*family.parameters.values())
    contexts = qmc.scale(qmc.Sobol(len(low), rng=7).random(options.problems), low, high).tolist()
    kept = options.out.with_suffix(".json")
    solves: dict[str, float] = json.loads(kept.read_text())["solves"] if kept.exists() else {}

    def error(number: int, sets: tuple[int, ...]) -> float:
        key = f"{number}:{','.join(map(str, sets))}"
        if key not in solves:
            chosen = [catalogue.parse(index) for index in sets]
            parameters = dict(zip(family.parameters, contexts[number]))
            solution = mt.solve(family, chosen, schedule, seed=10_000 + number, parameters=parameters)
            solves[key] = float(solution.error)
            kept.write_text(json.dumps({"solves": solves}))
        return solves[key]

    rows = []
    for kernel in options.kernels:
        for size in (size for size in options.sizes if size <= len(plays)):
            learned = bandit_of(name, kernel).learn(plays[:size])
            found = []
            for number, context in enumerate(contexts):
                ranked = learned.recommend(context, top=1)
                found.append(error(number, tuple(phase[0].conditions.index for phase in ranked)))
            mean = float(np.exp(np.mean(np.log(found))))
            rows.append({"kernel": kernel, "plays": size, "geometric_mean": mean, "median": float(np.median(found))})
            print(rows[-1], flush=True)
    text = (
        f"# Recommendations after n random plays: {name}\n\n`python -m experiments.learning_curve "
        f"{options.ledger} --out {options.out}`\n\nRelative error on {options.problems} unseen problems "
        f"(schedule `{schedule.name}`) solved with the recommended sets.\n\n"
        "| kernel | plays | geometric mean | median |\n|---|---|---|---|\n"
    )
    for row in rows:
        text += f"| {row['kernel']} | {row['plays']} | {row['geometric_mean']:.2e} | {row['median']:.2e} |\n"
    options.out.with_suffix(".md").write_text(text)
    kept.write_text(json.dumps({"rows": rows, "solves": solves}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
