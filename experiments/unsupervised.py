"""How good are the recommendations of a study that never saw a reference?

    python -m experiments.unsupervised --out results/unsupervised results/plays/poisson-seq-ucb-0.db \\
        results/plays/poisson-seq-ucb-residual-0.db

Takes pairs of ledgers, one played for the reward `error` and one for `residual`, and solves the same unseen problems
with what each recommends after its first plays. Geometric means of the true errors, and their ratio.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from metalic import runtime


def solved(path: Path, plays: int, problems: list[dict[str, float]], schedule: str) -> list[dict]:
    """The error of each problem with the sets recommended after this many plays of a ledger."""
    import metalic as mt

    found = []
    with mt.Study(path, read_only=True) as study:
        for number, parameters in enumerate(problems):
            advice = study.recommend(parameters, after=plays)
            solution = mt.solve(study.family, advice, schedule, seed=10_000 + number, parameters=parameters)
            sets = ";".join(",".join(one) for one in solution.conditions)
            found.append({"parameters": parameters, "conditions": sets, "error": solution.error})
            print(path.stem, found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledgers", nargs="+", type=Path, help="error, residual, error, residual...")
    parser.add_argument("--problems", type=int, default=10)
    parser.add_argument("--plays", type=int, default=60)
    parser.add_argument("--schedule", default="fast")
    parser.add_argument("--out", type=Path, default=Path("results/unsupervised"))
    options = parser.parse_args()
    runtime.prepare()
    from experiments.ledgers import finished_rows
    from metalic.families import find_family

    rows, lines = [], []
    for supervised, unsupervised in zip(options.ledgers[::2], options.ledgers[1::2], strict=True):
        family = find_family(finished_rows(supervised)[0])
        low, high = zip(*family.parameters.values())
        unit = qmc.Sobol(len(low), rng=7).random(options.problems)
        problems = [dict(zip(family.parameters, map(float, x))) for x in qmc.scale(unit, low, high)]
        row = {
            "family": family.name,
            **{
                name: solved(path, options.plays, problems, options.schedule)
                for name, path in (("error", supervised), ("residual", unsupervised))
            },
        }
        mean = {
            name: float(np.exp(np.mean([np.log(one["error"]) for one in row[name]]))) for name in ("error", "residual")
        }
        rows.append(row | {"mean": mean})
        ratio = mean["residual"] / mean["error"]
        lines.append(f"| {family.name} | {mean['error']:.2e} | {mean['residual']:.2e} | {ratio:.2f} |\n")
        words = ("--schedule", options.schedule, "--problems", options.problems, "--plays", options.plays)
        command = " ".join(map(str, (*words, "--out", options.out, *options.ledgers)))
        text = (
            f"# Learning without a reference\n\n`python -m experiments.unsupervised {command}`\n\nGeometric mean of "
            f"the true relative error on {options.problems} unseen problems (`{options.schedule}`), solved with what a "
            f"study recommends after {options.plays} plays for the reward `error` and for the reward `residual`.\n\n"
            "| family | `error` | `residual` | ratio |\n|---|---|---|---|\n" + "".join(lines)
        )
        options.out.with_suffix(".md").write_text(text)
        options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
