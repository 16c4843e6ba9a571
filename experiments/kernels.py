"""The reward models side by side on real plays: how well each predicts plays it has not seen.

    python -m experiments.kernels results/plays/*-random-seq-*.db --out results/kernels

Five-fold cross-validation, two splits, on the pooled random plays of each family and for each phase of the sequential
bandit (the target of phase 1 is r_1 + 0.9 r_2, that of phase 2 is r_2 with the loss as a context), with -log10 error
as the reward. R^2 and rank correlation are of the held-out targets against the posterior mean; the log predictive
density is per play, noise included, of standardised targets. Writes .md and .json.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import norm, spearmanr

from experiments.ledgers import finished_rows
from metalic import runtime
from metalic.bandit import KERNELS, Bandit, Played, PlayedPhase, Sequential
from metalic.families import find_family

FOLDS, SPLITS = 5, 2


def plays_of(path: Path) -> tuple[str, list[Played]]:
    """The family of a ledger and its finished plays, with -log10 error as the reward of each phase."""
    family, rows = finished_rows(path)
    found = []
    for row in rows:
        losses = (None, row.phases[0].loss)
        phases = [PlayedPhase(p.arm, -np.log10(p.error), loss) for p, loss in zip(row.phases, losses)]
        found.append(Played(tuple(row.parameters.values()), phases))
    return family, found


def bandit_of(family: str, kernel: str) -> Bandit:
    found = find_family(family)
    low, high = zip(*found.parameters.values())
    settings = Sequential(kernel=kernel)
    return Bandit(settings=settings, conditions=found.conditions, low=low, high=high, phases=2)


def held_out(
    bandit: Bandit, plays: Sequence[Played], phase: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, posterior means and predictive deviations of every play, each from a model that has not seen it."""
    fold = np.random.default_rng(seed).permutation(len(plays)) % FOLDS
    targets = np.array([bandit.target(play, phase) for play in plays])
    mean, std = np.empty(len(plays)), np.empty(len(plays))
    for number in range(FOLDS):
        learned = bandit.learn([play for play, f in zip(plays, fold) if f != number])
        model = learned.model(phase)
        noise = model.hyperparameters["sigma0"][0] * np.std(model.reward)
        for i in np.flatnonzero(fold == number):
            chosen = plays[i].phases[phase]
            mean[i], deviation = learned.predict(plays[i].context, chosen.arm, phase=phase, loss=chosen.loss)
            std[i] = np.hypot(deviation, noise)
    return targets, mean, std


def scores(bandit: Bandit, plays: Sequence[Played], phase: int) -> dict[str, float]:
    found = []
    for seed in range(SPLITS):
        y, mean, std = held_out(bandit, plays, phase, seed)
        density = norm.logpdf(y, mean, std).mean() + np.log(np.std(y))
        found.append((1 - np.mean((y - mean) ** 2) / np.var(y), spearmanr(y, mean).statistic, density))
    return dict(zip(("r2", "rank", "density"), np.mean(found, axis=0).tolist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledgers", nargs="+", type=Path)
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS))
    parser.add_argument("--out", type=Path, default=Path("results/kernels"))
    options = parser.parse_args()
    runtime.prepare()
    pools: dict[str, list[Played]] = defaultdict(list)
    for path in options.ledgers:
        family, plays = plays_of(path)
        pools[family] += plays
    rows = []
    for family, plays in pools.items():
        for phase in (0, 1):
            for kernel in options.kernels:
                found = scores(bandit_of(family, kernel), plays, phase)
                rows.append({"family": family, "plays": len(plays), "phase": phase + 1, "kernel": kernel, **found})
                print(rows[-1], flush=True)
    lines = [
        f"| {r['family']} | {r['plays']} | {r['phase']} | {r['kernel']} | {r['r2']:.2f} | {r['rank']:.2f} "
        f"| {r['density']:.2f} |\n"
        for r in rows
    ]
    command = f"`python -m experiments.kernels {' '.join(map(str, options.ledgers))}`"
    head = "| family | plays | phase | kernel | R^2 | rank correlation | log density |\n|---|---|---|---|---|---|---|\n"
    text = f"# Reward models on random plays, cross-validated\n\n{command}\n\n{head}{''.join(lines)}"
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
