"""Does playing pay? Accumulated error of a bandit against that of random sets, on the same problems.

    python -m benchmarks.online results/plays --out results/online

Reads ledgers named FAMILY-METHOD-SEED.db; a seed decides the problems, so methods of one seed played the same ones.
Writes a table (.md), the figure (.png, .pdf) and the curves (.json).
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.ledgers import errors, finished, kernel

NAME = re.compile(r"(?P<family>.+?)-(?P<method>random|seq-ucb)-(?P<seed>\d+)$")
COLOURS = {"random": "#D55E00", "seq-ucb": "#0072B2"}
AT = 60


def read(folder: Path) -> dict[str, dict[str, dict[int, np.ndarray]]]:
    """family -> method -> seed -> errors of the plays in order."""
    found: dict[str, dict[str, dict[int, np.ndarray]]] = defaultdict(lambda: defaultdict(dict))
    for path in sorted(folder.glob("*.db")):
        if name := NAME.match(path.stem):
            _, rows = finished(path)
            found[name["family"]][name["method"]][int(name["seed"])] = errors(rows)
    return found


def rows_of(curves: dict[str, dict[str, dict[int, np.ndarray]]]) -> list[dict]:
    rows = []
    for family, methods in curves.items():
        for seed in sorted(set(methods.get("random", {})) & set(methods.get("seq-ucb", {}))):
            plays = min(AT, *(len(methods[m][seed]) for m in COLOURS))
            if plays == 0:
                continue  # one of the studies has just begun
            sums = {m: float(methods[m][seed][:plays].sum()) for m in COLOURS}
            late = {m: float(np.median(methods[m][seed][plays // 2 : plays])) for m in COLOURS}
            rows.append({"family": family, "seed": seed, "plays": plays, "accumulated": sums, "late_median": late})
    return rows


def figure_of(curves: dict[str, dict[str, dict[int, np.ndarray]]]) -> Figure:
    families = [family for family, methods in curves.items() if set(COLOURS) <= set(methods)]
    figure = Figure(figsize=(4.6 * len(families), 3.8), layout="constrained")
    for axis, family in zip(np.atleast_1d(figure.subplots(1, len(families))), families):
        for method, colour in COLOURS.items():
            for number, (seed, one) in enumerate(sorted(curves[family][method].items())):
                style = ("-", "--", ":")[number % 3]
                label = f"{method}, seed {seed}"
                axis.plot(np.arange(1, len(one[:AT]) + 1), np.cumsum(one[:AT]), style, color=colour, label=label)
        axis.set(title=family, xlabel="plays", ylabel="accumulated relative error")
        axis.legend()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/online"))
    options = parser.parse_args()
    curves = read(options.folder)
    rows = rows_of(curves)
    for row in rows:
        row["kernel"] = kernel(options.folder / f"{row['family']}-seq-ucb-{row['seed']}.db")
    text = (
        f"# Online learning\n\n`python -m benchmarks.online {options.folder}`\n\n"
        "Accumulated relative error of the plays, random sets against the sequential bandit with UCB on the same "
        "problems (`fast`; the first five plays of the bandit are random too), and the median error of the second "
        "half of the plays.\n\n"
        "| family | seed | kernel | plays | random | seq-ucb | ratio | median late, random | median late, seq-ucb |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    for row in rows:
        sums, late = row["accumulated"], row["late_median"]
        text += (
            f"| {row['family']} | {row['seed']} | {row['kernel']} | {row['plays']} | {sums['random']:.3g} "
            f"| {sums['seq-ucb']:.3g} | {sums['seq-ucb'] / sums['random']:.2f} "
            f"| {late['random']:.1e} | {late['seq-ucb']:.1e} |\n"
        )
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    figure = figure_of(curves)
    for kind in ("png", "pdf"):
        figure.savefig(options.out.with_suffix(f".{kind}"), dpi=150)
    print(text)


if __name__ == "__main__":
    main()
