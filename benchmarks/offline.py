"""Offline tests as one page: what each study has learned against every baseline, and beside the paper's Table 1.

    metalic test poisson --pdes 10 --out results/tests/poisson.db       # one for each family
    python -m benchmarks.offline results/tests --out results/offline

A test may have more PDEs for one method than for another; the page names the commands that make it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.timing import markdown
from metalic import runtime

SHARE = 0.1  # of the paper's mean, which ours shall not exceed


def commands(family: str, summaries: list[Any], folder: Path) -> str:
    """What made a test: a command for each number of PDEs."""
    lines = []
    for pdes in sorted({one.pdes for one in summaries}, reverse=True):
        methods = ",".join(dict.fromkeys(["learned", *(one.method for one in summaries if one.pdes == pdes)]))
        lines.append(f"`metalic test {family} --pdes {pdes} --methods {methods} --out {folder / family}.db`\n")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", type=Path, help="directory of files that `metalic test` wrote")
    parser.add_argument("--out", type=Path, default=Path("results/offline"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.evaluation.figures import methods_figure
    from metalic.evaluation.offline import OfflineTest
    from metalic.evaluation.paper import FAMILIES, OFFLINE
    from metalic.evaluation.tables import summary_table, text

    tests = {family: OfflineTest.read(path) for family in FAMILIES if (path := options.tests / f"{family}.db").exists()}
    data: dict[str, Any] = {}
    rows, parts = [], []
    for family, test in tests.items():
        summaries = test.summary()
        data[family] = [one.to_dict() for one in summaries]
        parts.append(
            summary_table(summaries, test.settings).to_markdown() + "\n" + commands(family, summaries, options.tests)
        )
        measures = {one.title: test.measures(one.method) for one in summaries}
        common = set.intersection(*(set(one) for one in measures.values()))
        groups = {title: [one[pde] for pde in sorted(common)] for title, one in measures.items()}
        if len(groups) > 1:
            methods_figure(groups).savefig(options.out.with_name(f"{options.out.name}_{family}.png"), dpi=120)
        for one in summaries:
            name = "Seq-UCB" if one.method == "learned" else one.title
            paper = OFFLINE.get(name, {}).get(family)
            ratio = None if paper is None else one.mean / paper
            rows.append([family, name, one.pdes, *map(text, (one.mean, one.median, paper, ratio))])
    head = ["family", "method", "PDEs", "mean", "median", "paper's mean", "ours / paper's"]
    page = (
        f"# Unseen PDEs\n\n`python -m benchmarks.offline {options.tests}`, from what `metalic test` wrote there. "
        "Relative L2 error with the schedule of the study; the aim for the learned sets (Seq-UCB) is a mean of "
        f"{SHARE:g} of the paper's, and below every baseline. Means of different numbers of PDEs are not comparable; "
        "ratios, and the figures beside this page, are over the PDEs that both, or all, have solved.\n\n"
        f"{markdown(head, rows)}\n" + "\n".join(parts)
    )
    options.out.with_suffix(".md").write_text(page)
    options.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    print(page)


if __name__ == "__main__":
    main()
