"""Offline tests as one page: what each study has learned against every baseline, and beside the paper's Table 1.

    metalic test poisson --pdes 10 --out results/tests/poisson.db       # one for each family, bandit and schedule
    python -m benchmarks.offline results/tests --out results/offline

A test may have more PDEs for one method than for another; the page names the commands that make it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.timing import markdown
from metalic import runtime

if TYPE_CHECKING:
    from metalic.bandit import Play
    from metalic.evaluation.offline import OfflineTest, Summary

SHARE = {"fast": 0.1, "accurate": 0.01}  # of the paper's mean, which that of Seq-UCB shall not exceed
SHIPPED, GIVEN, THEOREM = "Seq-UCB", ", given sets first", ", the theorem's bound"
DRAWN = 10  # a method solved on fewer PDEs is not in the figure, which is over those PDEs that all in it have solved


def bandit_of(settings: Mapping[str, Any]) -> str:
    """The study's bandit, whether it began with given sets, and whether it explored as the theorem says."""
    from metalic.evaluation.figures import label

    given, explores = settings["bandit"].get("first"), settings["bandit"]["policy"].get("c") == "theorem"
    return label(settings) + GIVEN * bool(given) + THEOREM * explores


class Origin(NamedTuple):
    """A study that may have been tested."""

    path: Path
    schedule: str
    history: Sequence[Play]


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
    from metalic.evaluation.paper import FAMILIES

    schedule, bandit = settings["schedule"]["name"], bandit_of(settings)
    schedules = ["fast", "accurate", "paper"]
    return schedules.index(schedule), FAMILIES.index(settings["family"]["name"]), "" if bandit == SHIPPED else bandit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", type=Path, help="directory of files that `metalic test` wrote")
    parser.add_argument("--plays", type=Path, default=Path("results/plays"), help="directory of the studies tested")
    parser.add_argument("--out", type=Path, default=Path("results/offline"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.evaluation.figures import methods_figure
    from metalic.evaluation.offline import OfflineTest
    from metalic.evaluation.paper import OFFLINE
    from metalic.evaluation.tables import summary_table, text

    studies = origins(options.plays)
    tests = {path: OfflineTest.read(path) for path in sorted(options.tests.glob("*.db"))}
    data: list[dict[str, Any]] = []
    rows, parts, notes = [], [], ("",)
    for path, test in sorted(tests.items(), key=lambda item: order(item[1].settings)):
        family, schedule = test.settings["family"]["name"], test.settings["schedule"]["name"]
        bandit, summaries = bandit_of(test.settings), test.summary()
        plays = test.settings["trials"]["plays"]
        about = {"family": family, "schedule": schedule, "bandit": bandit, "plays": plays}
        data.append(about | {"methods": [one.to_dict() for one in summaries]})
        table = summary_table(summaries, test.settings)
        table, notes = replace(table, title=f"{family}, `{schedule}`, {plays} plays of {bandit}", notes=()), table.notes
        parts.append(f"{table.to_markdown()}\n{commands(test, summaries, path, studies)}")
        measures = {one.title: test.measures(one.method) for one in summaries if one.pdes >= DRAWN}
        common = set.intersection(*(set(one) for one in measures.values()))
        groups = {title: [one[pde] for pde in sorted(common)] for title, one in measures.items()}
        if len(groups) > 1:
            methods_figure(groups).savefig(options.out.with_name(f"{options.out.name}_{path.stem}.png"), dpi=120)
        for one in summaries:
            name = bandit if one.method == "learned" else one.title
            paper = OFFLINE.get(name.split(",")[0], {}).get(family)
            ratio = None if paper is None else one.mean / paper
            rows.append([schedule, family, name, one.pdes, *map(text, (one.mean, one.median, paper, ratio))])
    head = ["schedule", "family", "method", "PDEs", "mean", "median", "paper's mean", "ours / paper's"]
    aims = ", ".join(f"{share:g} with `{schedule}`" for schedule, share in SHARE.items())
    page = (
        f"# Unseen PDEs\n\n`python -m benchmarks.offline {options.tests}`, from what `metalic test` wrote there. "
        f"Relative L2 error; the aim for the learned sets ({SHIPPED}) is a mean of at most {aims} of the paper's, and "
        "below every baseline. Means of different numbers of PDEs are not comparable; ratios are over the PDEs "
        f"that both have solved, the figures beside this page over those that all with {DRAWN} or more have solved.\n\n"
        f"{markdown(head, rows)}\nIn what follows, {notes[0]}\n\n" + "\n".join(parts)
    )
    options.out.with_suffix(".md").write_text(page)
    options.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    print(page)


if __name__ == "__main__":
    main()
