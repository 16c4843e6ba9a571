"""Does the reward that needs no reference rank plays as the true error does?

    python -m experiments.rewards LEDGER... --out results/rewards

Reads studies that played random sets with the reward `residual` on families that have a reference, so that a row holds
both. Spearman's rank correlation between the reward and -log10 error, and between -log10 training loss and it.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from experiments.ledgers import finished_rows
from metalic import Study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledgers", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/rewards"))
    options = parser.parse_args()
    pools = defaultdict(list)
    for path in options.ledgers:
        with Study(path, read_only=True) as study:
            if study.settings.reward.name != "residual":
                parser.error(f"{path} has the reward {study.settings.reward}, not residual")
            schedule = study.settings.schedule.name
        family, rows = finished_rows(path)
        pools[family, schedule] += rows
    found = []
    for (family, schedule), rows in pools.items():
        for phase in range(len(rows[0].phases)):
            ended = [row.phases[phase] for row in rows]
            accuracy = [-np.log10(one.error) for one in ended]
            rho = {
                "residual": float(spearmanr([one.reward for one in ended], accuracy).statistic),
                "loss": float(spearmanr([-np.log10(one.loss) for one in ended], accuracy).statistic),
            }
            found.append({"family": family, "schedule": schedule, "plays": len(rows), "phase": phase + 1, "rho": rho})
    lines = [
        f"| {r['family']} | {r['schedule']} | {r['plays']} | {r['phase']} | {r['rho']['residual']:.3f} "
        f"| {r['rho']['loss']:.3f} |\n"
        for r in found
    ]
    text = (
        f"# Ranking without a reference\n\n`python -m experiments.rewards {' '.join(map(str, options.ledgers))}`\n\n"
        "Spearman's rho with -log10 of the true error over random plays, at the end of each phase; the reward "
        "of a play is that of its last phase.\n\n"
        "| family | schedule | plays | phase | reward `residual` | training loss |\n|---|---|---|---|---|---|\n"
        + "".join(lines)
    )
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
