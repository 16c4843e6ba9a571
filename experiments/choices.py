"""What studies that may choose where to cut have learned, on PDEs that they have not seen.

    metalic play results/choices/plays/layer.db --family layer --choose cut=0.02,0.05,0.1,0.2,0.5,undivided --plays 240
    metalic test results/choices/plays/layer.db --pdes 50 --out results/choices/tests/layer.db --methods ...
    python -m experiments.choices --out results/choices

The study of `layer` has 240 plays. The other studies are made in the same way, with 120 plays and the choices
strip=0.05,0.1,0.2,0.4,undivided (`turning`), parts=2,3,4,6,8 (`oscillator`) and lambda_interface=1,5,25,125
(`materials`). The methods of the tests are learned, champion, cpinn, xpinn, all, random-single and pinn-sub, which
`materials` does not have.

The page compares, on the same PDEs with the same seeds, what a study recommends with its champion and with other ways
to solve, and shows what is recommended along the parameter.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import markdown, write
from metalic import runtime
from metalic.choices import arm_text
from metalic.evaluation.offline import OfflineTest
from metalic.study import Study

FAMILIES = ("layer", "turning", "oscillator", "materials")
OTHERS = ("champion", "cpinn", "xpinn", "all", "random-single", "pinn-sub")
DRAWS, LEVEL = 20_000, 0.95  # of the bootstrap; the level is shared by all families
SHOWN = 6  # parameters per family
FLOOR, CAP = 1e-300, 100.0


def logs(test: OfflineTest, method: str, pdes: Sequence[int]) -> np.ndarray:
    """log10 of the errors; one that failed counts as 100."""
    found = test.measures(method)
    return np.log10([min(max(found[pde], FLOOR), CAP) for pde in pdes])


def interval(differences: np.ndarray, share: float) -> tuple[float, float]:
    """A bootstrap interval of the geometric mean of ratios; `share` of the error probability is this family's."""
    rng = np.random.default_rng(0)
    means = rng.choice(differences, (DRAWS, len(differences))).mean(axis=1)
    tail = (1 - LEVEL) * share / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return float(10**low), float(10**high)


def seconds(test: OfflineTest, method: str, pdes: Sequence[int]) -> float:
    """The median time of training."""
    return float(np.median([sum(phase.seconds or 0.0 for phase in test.rows[method][pde].phases) for pde in pdes]))


def compared(name: str, test: OfflineTest, share: float) -> list[list[Any]]:
    """A row per method: learned / method."""
    rows = []
    for method in OTHERS:
        theirs = test.measures(method)
        pdes = [pde for pde in test.measures("learned") if pde in theirs]
        if not pdes:
            rows.append([name, method, *[None] * 6])
            continue
        differences = logs(test, "learned", pdes) - logs(test, method, pdes)
        low, high = interval(differences, share)
        counts = [int(np.sum(differences < 0)), int(np.sum(differences == 0)), int(np.sum(differences > 0))]
        ratio = f"{10 ** differences.mean():.2g}"
        middle = float(np.median([theirs[pde] for pde in pdes]))
        shown = f"{low:.2g} to {high:.2g}"
        times = f"{seconds(test, 'learned', pdes):.1f}, {seconds(test, method, pdes):.1f}"
        rows.append([name, method, len(pdes), f"{middle:.1e}", ratio, shown, " / ".join(map(str, counts)), times])
    return rows


def covered(test: OfflineTest, study: Study) -> tuple[int, int]:
    """How many errors lie in the 95 % interval of the forecast, of how many."""
    inside, rows = 0, [row for row in test.rows["learned"].values() if row.error is not None]
    for row in rows:
        low, high = study.recommend(row.parameters).interval or (0.0, np.inf)
        inside += low <= (row.error or 0.0) <= high
    return inside, len(rows)


def recommended(name: str, study: Study) -> list[list[Any]]:
    """What is recommended at some parameters."""
    from metalic.study.interpolation import at_unit

    ((parameter, box),) = study.family.parameters.items()
    rows = []
    for unit in np.linspace(0, 1, SHOWN):
        value = at_unit(float(unit), box)
        advice = study.recommend({parameter: value})
        rows.append([name, f"{parameter} = {value:.3g}", arm_text(advice.phases[0].best), f"{advice.expected:.1e}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=Path, default=Path("results/choices/plays"))
    parser.add_argument("--tests", type=Path, default=Path("results/choices/tests"))
    parser.add_argument("--out", type=Path, default=Path("results/choices"))
    options = parser.parse_args()
    runtime.prepare()
    found = tables(options.plays, options.tests)
    write(options.out, "Studies that choose where to cut", page(found), found)


def tables(plays: Path, tests: Path) -> dict[str, list[list[Any]]]:
    """The rows of every table."""
    names = [name for name in FAMILIES if (tests / f"{name}.db").exists()]
    found: dict[str, list[list[Any]]] = {"compared": [], "covered": [], "recommended": []}
    for name in names:
        test = OfflineTest.read(tests / f"{name}.db")
        with Study(plays / f"{name}.db", read_only=True) as study:
            found["compared"] += compared(name, test, 1 / len(names))
            found["covered"].append([name, *covered(test, study)])
            found["recommended"] += recommended(name, study)
    return found


def page(found: dict[str, list[list[Any]]]) -> str:
    """The tables."""
    heads = {
        "compared": (
            "family",
            "method",
            "PDEs",
            "its median",
            "ratio",
            "95 % interval",
            "better / equal / worse",
            "seconds",
        ),
        "covered": ("family", "inside", "PDEs"),
        "recommended": ("family", "parameter", "recommended", "expected error"),
    }
    tables = {name: markdown(heads[name], rows) for name, rows in found.items()}
    text = [
        "Made by `python -m experiments.choices`, from studies of 120 plays (240 of `layer`) and from unseen PDEs.",
        "*Ratio*: learned / method, geometric mean over the PDEs that both have solved, from the same seeds; below 1",
        "what was learned is better. The bootstrap intervals hold for all families together with 95 %. *Seconds*:",
        "training with what was learned, and with the method; medians.\n",
        tables["compared"],
        "\nErrors in the 95 % interval of the forecast:\n",
        tables["covered"],
        "\nWhat is recommended along the parameter, and the error that is expected:\n",
        tables["recommended"],
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
