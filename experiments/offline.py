"""Offline tests as one page: what each study has learned against every baseline, and beside the paper's Table 1.

    metalic test poisson --pdes 10 --out results/tests/poisson.db       # one for each family, bandit and schedule
    python -m experiments.offline results/tests --out results/offline

A test may have more PDEs for one method than for another; the page names the commands that make it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.timing import markdown
from metalic import runtime

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metalic.bandit import Played
    from metalic.evaluation.offline import OfflineTest, Summary

SHARE = {"fast": 0.1, "accurate": 0.01}  # of the paper's mean, which that of Seq-UCB shall not exceed
SHIPPED = "Seq-UCB"
GIVEN, CHALLENGED, THEOREM = ", given sets first", ", challenged by the cPINN set", ", the theorem's bound"
BESIDE = ("cpinn", "pinn-sub")
SHIPPED_HEAD = [
    "family",
    "PDEs",
    "learned",
    "the paper's Seq-UCB",
    "paper's / ours",
    "cPINN set",
    "one network, undivided",
]
DRAWN = 10  # a method solved on fewer PDEs is not in the figure, which is over those PDEs that all in it have solved


def bandit_of(settings: Mapping[str, Any]) -> str:
    """The study's bandit, whether it began with given sets or played them after another study's plays, and whether it
    explored as the theorem says."""
    from metalic.evaluation.figures import label

    bandit = settings["bandit"]
    opening = (CHALLENGED if settings["borrowed"] else GIVEN) if bandit.get("first") else ""
    return label(settings) + opening + THEOREM * (bandit["policy"].get("c") == "theorem")


class Origin(NamedTuple):
    """A study that may have been tested."""

    path: Path
    schedule: str
    history: Sequence[Played]


def origins(plays: Path) -> list[Origin]:
    from metalic.study import Study

    found = []
    for path in sorted(plays.glob("*.db")):
        with Study(path, read_only=True) as study:
            found.append(Origin(path, study.settings.schedule.name, study.learned.history))
    return found


def commands(test: OfflineTest, summaries: list[Summary], path: Path, studies: list[Origin]) -> str:
    """What made a test: a command for each number of PDEs."""
    from metalic.evaluation.offline import ORACLE_NAME, experience_hash

    about, schedule = test.settings["trials"], test.settings["schedule"]["name"]
    study = next(one for one in studies if experience_hash(one.history[: about["plays"]]) == about["hash"])
    option = "" if schedule == study.schedule else f" --schedule {schedule}"
    since = len(study.history) - about["plays"]
    lines = [f"The study has played {since} more since.\n"] if since else []
    for pdes in sorted({one.pdes for one in summaries}, reverse=True):
        names = [one.method for one in summaries if one.pdes == pdes]
        methods = ",".join(dict.fromkeys(["learned", *(name for name in names if name != ORACLE_NAME)]))
        draws = f" --oracle {max(map(len, test.draws.values()))}" if ORACLE_NAME in names else ""
        lines.append(f"`metalic test {study.path}{option} --pdes {pdes} --methods {methods}{draws} --out {path}`\n")
    return "\n".join(lines)


def order(settings: Mapping[str, Any]) -> tuple[int, int, str]:
    """Of tests on the page: schedule by schedule, families as in the paper, the shipped studies first."""
    from metalic.reproduction.paper import FAMILIES

    schedule, bandit = settings["schedule"]["name"], bandit_of(settings)
    schedules = ["fast", "accurate", "paper"]
    return schedules.index(schedule), FAMILIES.index(settings["family"]["name"]), "" if bandit == SHIPPED else bandit


def shipped_rows(tests: Sequence[OfflineTest]) -> list[list[Any]]:
    """What the ledgers inside the package recommend, beside the paper's Seq-UCB and two baselines on the same PDEs."""
    from metalic.evaluation.offline import compare, experience_hash
    from metalic.reproduction.paper import OFFLINE
    from metalic.study import Study

    rows = []
    for family, paper in OFFLINE[SHIPPED].items():
        with Study(family, read_only=True) as study:
            known = experience_hash(study.learned.history)
        same = [t for t in tests if (t.settings["family"]["name"], t.settings["schedule"]["name"]) == (family, "fast")]
        learned = next(t for t in same if t.settings["trials"]["hash"] == known).measures("learned")
        mean = float(np.mean(list(learned.values())))
        row: list[Any] = [family, len(learned), brief(mean), brief(paper), f"{paper / mean:.0f}"]
        for method in BESIDE:
            theirs = next(t for t in same if method in t.methods).measures(method)
            both = sorted(set(theirs) & set(learned))
            other = np.array([theirs[pde] for pde in both])
            ratio, _, p = compare(other, np.array([learned[pde] for pde in both]))
            few = "" if len(both) == len(learned) else f", {len(both)} PDEs"
            row.append(f"{brief(other.mean())} ({ratio:.2f} times, p = {p:.1g}{few})")
        rows.append(row)
    return rows


def overview_rows(tests: Sequence[OfflineTest]) -> list[list[Any]]:
    """Every method on every family with `fast`. Baselines are those of the test that has most of them."""
    from metalic.reproduction.paper import FAMILIES, OFFLINE, PDES

    cells: dict[str, dict[str, str]] = {}
    plays: dict[str, set[int]] = {}
    fast = [test for test in tests if test.settings["schedule"]["name"] == "fast"]
    for test in sorted(fast, key=lambda test: -len(test.methods)):
        for one in test.summary():
            name = one.title.split(" of ")[0]  # an oracle of n draws
            if one.method == "learned":
                name = bandit_of(test.settings)
                plays.setdefault(name, set()).add(test.settings["trials"]["plays"])
            cells.setdefault(name, {}).setdefault(test.settings["family"]["name"], f"{brief(one.mean)} ({one.pdes})")
    titles = {name: f"{name}, {' or '.join(map(str, sorted(numbers)))} plays" for name, numbers in plays.items()}
    bandits = sorted(titles, key=lambda name: (not name.startswith(SHIPPED), name))
    names = [*bandits, *(name for name in cells if name not in titles)]
    rows = [[titles.get(name, name), *(cells[name].get(family) for family in FAMILIES)] for name in names]
    return [*rows, [f"the paper's {SHIPPED}", *(f"{brief(OFFLINE[SHIPPED][family])} ({PDES})" for family in FAMILIES)]]


def brief(value: float) -> str:
    return f"{value:.1e}"


def page(directory: Path, plays: Path) -> tuple[str, list[dict[str, Any]], dict[str, Figure]]:
    """The page, its numbers, and a figure for each file of a test that has several methods."""
    from metalic.evaluation.figures import methods_figure
    from metalic.evaluation.offline import OfflineTest
    from metalic.evaluation.tables import summary_table, text
    from metalic.reproduction.paper import FAMILIES, OFFLINE

    studies = origins(plays)
    tests = {path: OfflineTest.read(path) for path in sorted(directory.glob("*.db"))}
    data: list[dict[str, Any]] = []
    figures: dict[str, Figure] = {}
    rows, parts, notes = [], [], ("",)
    for path, test in sorted(tests.items(), key=lambda item: order(item[1].settings)):
        family, schedule = test.settings["family"]["name"], test.settings["schedule"]["name"]
        bandit, summaries = bandit_of(test.settings), test.summary()
        played = test.settings["trials"]["plays"]
        about = {"family": family, "schedule": schedule, "bandit": bandit, "plays": played}
        data.append(about | {"methods": [one.to_dict() for one in summaries]})
        table = summary_table(summaries, test.settings)
        title = f"{family}, `{schedule}`, {played} plays of {bandit}"
        table, notes = replace(table, title=title, notes=()), table.notes
        parts.append(f"{table.to_markdown()}\n{commands(test, summaries, path, studies)}")
        measures = {one.title: test.measures(one.method) for one in summaries if one.pdes >= DRAWN}
        if len(measures) > 1:
            common = set.intersection(*(set(one) for one in measures.values()))
            groups = {title: [one[pde] for pde in sorted(common)] for title, one in measures.items()}
            figures[path.stem] = methods_figure(groups)
        for one in summaries:
            name = bandit if one.method == "learned" else one.title
            paper = OFFLINE.get(name.split(",")[0], {}).get(family)
            ratio = None if paper is None else one.mean / paper
            rows.append([schedule, family, name, one.pdes, *map(text, (one.mean, one.median, paper, ratio))])
    head = ["schedule", "family", "method", "PDEs", "mean", "median", "paper's mean", "ours / paper's"]
    aims = ", ".join(f"{share:g} with `{schedule}`" for schedule, share in SHARE.items())
    shipped, overview = shipped_rows(list(tests.values())), overview_rows(list(tests.values()))
    written = (
        f"# Unseen PDEs\n\n`python -m experiments.offline {directory}`, from what `metalic test` wrote there. "
        f"Relative L2 error; the aim for the learned sets ({SHIPPED}) is a mean of at most {aims} of the paper's, and "
        "below every baseline. Means of different numbers of PDEs are not comparable; ratios are over the PDEs "
        f"that both have solved, the figures beside this page over those that all with {DRAWN} or more have solved.\n\n"
        "## The ledgers inside the package\n\nWith `fast`: the mean error, and in brackets the median, PDE by PDE, of "
        "the method's error over the learned choice's, with the p-value of Wilcoxon's signed-rank test on the "
        f"logarithms.\n\n{markdown(SHIPPED_HEAD, shipped)}\n"
        "## All methods with `fast`\n\nThe mean error, and of how many PDEs.\n\n"
        f"{markdown(['method', *FAMILIES], overview)}\n"
        f"## All tests\n\n{markdown(head, rows)}\nIn what follows, {notes[0]}\n\n" + "\n".join(parts)
    )
    return written, data, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", type=Path, help="directory of files that `metalic test` wrote")
    parser.add_argument("--plays", type=Path, default=Path("results/plays"), help="directory of the studies tested")
    parser.add_argument("--out", type=Path, default=Path("results/offline"))
    options = parser.parse_args()
    runtime.prepare()
    written, data, figures = page(options.tests, options.plays)
    options.out.with_suffix(".md").write_text(written)
    options.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    for name, figure in figures.items():
        figure.savefig(options.out.with_name(f"{options.out.name}_{name}.png"), dpi=120)
    print(written)


if __name__ == "__main__":
    main()
