"""Do plays that start from trained networks tell sets apart with less noise, and in fewer seconds, than cold plays?

    python -m experiments.warm_plays run --out results/warm_plays.jsonl
    python -m experiments.warm_plays table --out results/warm_plays.jsonl

Two parameters of each family are solved with eight sets and three seeds: cold with `fast`, and warm, from the
networks of the library of the family with Gauss-Newton alone. A set has a mean of log10 errors over its seeds; *noise*
is the deviation of a single play from it, *signal* the deviation of these means between sets, both within a parameter.
The rank correlation compares the order of the sets in warm plays with their order in cold ones.

Every solve is one line of JSON, written as soon as it is finished; `run` skips what the file already holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import metalic as mt
from benchmarks.timing import markdown
from metalic import runtime
from metalic.conditions import Catalogue, default_conditions

FAMILIES = ("poisson", "advection", "reaction", "burgers")
SETS, PARAMETERS, SEEDS = 8, 2, 3
ITERATIONS = 60
HEAD = ("family", "plays", "sets", "noise", "signal", "signal / noise", "seconds", "rank correlation with cold")


def sets_of(name: str) -> list[str]:
    """The default set, and others at random."""
    family = mt.find_family(name)
    catalogue = Catalogue(family)
    rng, chosen = np.random.default_rng(19), [default_conditions(family)]
    while len(chosen) < SETS:
        drawn = catalogue.parse(rng.integers(0, 2, len(catalogue.names)))
        if drawn.names and drawn not in chosen:
            chosen.append(drawn)
    return [" ".join(one.names) for one in chosen]


def values_of(name: str) -> tuple[str, list[float]]:
    """The name of the parameter, and values in the inner part of its box."""
    ((parameter, (low, high)),) = mt.find_family(name).parameters.items()
    return parameter, [float(value) for value in np.linspace(low, high, PARAMETERS + 2)[1:-1]]


def run(path: Path, libraries: Path) -> None:
    done = {(r["family"], r["parameter"], r["set"], r["seed"], r["kind"]) for r in read(path)}
    for name in FAMILIES:
        parameter, values = values_of(name)
        library = mt.Library(libraries / f"{name}.db", name)
        networks = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
        warm = mt.Schedule("warm", (mt.Phase(mt.GaussNewton(), ITERATIONS),))
        kinds: dict[str, dict[str, Any]] = {"cold": {"schedule": "fast"}, "warm": {"schedule": warm, "start": library}}
        for chosen, value, seed, kind in itertools.product(sets_of(name), values, range(SEEDS), kinds):
            key = (name, value, chosen, seed, kind)
            if key in done:
                continue
            options = {**kinds[kind], **networks, "seed": seed, "parameters": {parameter: value}, "check": False}
            solution = mt.solve(name, chosen.split(), **options)
            names = ("family", "parameter", "set", "seed", "kind", "error", "seconds")
            with path.open("a") as file:
                file.write(json.dumps(dict(zip(names, (*key, solution.error, solution.seconds)))) + "\n")
            print(*key, f"{solution.error:.1e} {solution.seconds:.1f} s", flush=True)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(records: list[dict[str, Any]]) -> str:
    """A row per family and kind of play."""
    rows = []
    for name in dict.fromkeys(r["family"] for r in records):
        cold, warm = (log_errors(records, name, kind) for kind in ("cold", "warm"))
        ranks = [spearmanr(a, b).statistic for a, b in zip(cold.mean(axis=-1), warm.mean(axis=-1))]
        for kind, errors in (("cold", cold), ("warm", warm)):
            noise = float(np.sqrt(np.mean(np.var(errors, axis=-1, ddof=1))))
            signal = float(np.sqrt(np.mean(np.var(errors.mean(axis=-1), axis=-1, ddof=1))))
            seconds = float(np.median([r["seconds"] for r in records if (r["family"], r["kind"]) == (name, kind)]))
            shown = (f"{noise:.2f}", f"{signal:.2f}", f"{signal / noise:.1f}", f"{seconds:.1f}")
            ranked = ", ".join(f"{rank:.2f}" for rank in ranks) if kind == "warm" else ""
            rows.append([name, kind, str(errors.shape[1]), *shown, ranked])
    return markdown(HEAD, rows)


def log_errors(records: list[dict[str, Any]], name: str, kind: str) -> np.ndarray:
    """log10 errors by parameter, set and seed, of the parameters whose plays are complete."""
    mine = [r for r in records if (r["family"], r["kind"]) == (name, kind)]
    by_key = {(r["parameter"], r["set"], r["seed"]): np.log10(r["error"]) for r in mine}
    sets, values = dict.fromkeys(r["set"] for r in mine), dict.fromkeys(r["parameter"] for r in mine)
    full = [v for v in values if all((v, s, n) in by_key for s in sets for n in range(SEEDS))]
    return np.array([[[by_key[v, s, n] for n in range(SEEDS)] for s in sets] for v in full])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("--library", type=Path, help="a directory of libraries instead of those in the package")
    parser.add_argument("--out", type=Path, default=Path("results/warm_plays.jsonl"))
    options = parser.parse_args()
    if options.action == "run":
        runtime.prepare()
        from metalic.study.knowledge import MEMBERS

        run(options.out, options.library or MEMBERS)
    print(table(read(options.out)))


if __name__ == "__main__":
    main()
