"""Studies that began, chose or were trained in different ways: what they recommend, on the same unseen PDEs.

    python -m experiments.openings results/tests/advection.db results/tests/advection-first.db --out results/openings

Takes files that `metalic test` wrote with one seed, so that PDE number p is the same in all files of a family. Every
learned choice, and every baseline that one of the files has, is compared with the learned choice of the family's first
file, and the cPINN set with it, over the PDEs that both have solved.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import markdown, write
from experiments.offline import THEOREM
from metalic import runtime

if TYPE_CHECKING:
    from metalic.evaluation.offline import OfflineTest


def opening_of(test: OfflineTest) -> str:
    """How the study of a test chose its sets."""
    from metalic.evaluation.figures import label

    given = len(test.settings["bandit"].get("first", ()))
    when = f"after {test.settings['borrowed']['plays']} plays" if test.settings["borrowed"] else "first"
    opening = f"{given} given sets {when}" if given else "random sets first"
    explores = THEOREM * (test.settings["bandit"]["policy"].get("c") == "theorem")
    schedule = test.settings["schedule"]["name"]
    trained = "" if schedule == "fast" else f", `{schedule}`"
    return f"{label(test.settings)}{explores}, {test.settings['trials']['plays']} plays, {opening}{trained}"


def same_pdes(tests: list[OfflineTest]) -> None:
    for number, row in tests[0].rows["learned"].items():
        for test in tests[1:]:
            other = test.rows["learned"].get(number)
            assert other is None or (other.parameters, other.seed) == (row.parameters, row.seed), "other PDEs"


def against(theirs: Mapping[int, float], ours: Mapping[int, float]) -> tuple[float | None, float | None, float | None]:
    """`compare` over the PDEs that both have solved; None if there are none, or of a method and itself."""
    from metalic.evaluation.offline import compare

    common = [pde for pde in theirs if pde in ours]
    if not common or theirs is ours:
        return None, None, None
    return compare(np.array([theirs[pde] for pde in common]), np.array([ours[pde] for pde in common]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/openings"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.evaluation.baselines import METHODS
    from metalic.evaluation.offline import OfflineTest, statistics

    families: dict[str, list[OfflineTest]] = defaultdict(list)
    for path in options.tests:
        test = OfflineTest.read(path)
        families[test.settings["family"]["name"]].append(test)
    rows: list[dict[str, Any]] = []
    for family, tests in families.items():
        same_pdes(tests)
        found = {described(test): test.measures("learned") for test in tests}
        for test in reversed(tests):
            names = [name for name in test.methods if name in METHODS and name != "learned"]
            found |= {METHODS[name].title: test.measures(name) for name in names}
        base, plain = next(iter(found.values())), found.get(METHODS["cpinn"].title, {})
        for name, measures in found.items():
            mean, _, median, _, failures = statistics(np.array(list(measures.values())))
            row: dict[str, Any] = {"family": family, "sets": name, "PDEs": len(measures)}
            row |= {"mean": mean, "median": median, "failures": failures}
            row |= dict(zip(("ratio", "first wins", "p"), against(measures, base)))
            ratio, _, p = against(plain, measures)
            rows.append(row | {"cPINN's ratio": ratio, "its p": p})
    head = list(rows[0])
    table = markdown(head, [[f"{v:.2e}" if k in ("mean", "median") else v for k, v in row.items()] for row in rows])
    text = (
        f"`python -m experiments.openings {' '.join(map(str, options.tests))}`\n\n"
        "Relative L2 error on unseen PDEs, the same ones for all. ratio: median, PDE by PDE, of the error over that of "
        "the family's first line; first wins: the share of PDEs on which the first line is better; p: Wilcoxon's "
        "signed-rank test on the logarithms. cPINN's ratio, its p: the same for the error of the cPINN set over that "
        f"of the line.\n\n{table}"
    )
    write(options.out, "Studies that began, chose or were trained in different ways", text, rows)
    print(text)


if __name__ == "__main__":
    main()
