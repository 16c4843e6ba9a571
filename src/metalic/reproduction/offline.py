"""Unseen PDEs: Table 1, the analysis of what was chosen, and point-wise errors at the paper's four members."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..errors import FileError
from ..evaluation.baselines import METHODS, PAPER
from ..evaluation.figures import chosen_share, errors_figure, frequency_figure, methods_figure, sets_figure
from ..evaluation.offline import OfflineTest, Planner, measure, planner, statistics
from ..evaluation.tables import Table
from ..pinn import Solution
from ..pinn.figures import comparison_figure, error_on_plane
from ..study import Ledger, PlayRow
from .campaign import Campaign, Item, Made
from .paper import OFFLINE, POINTWISE
from .paper import PDES as PAPER_PDES

Errors = dict[Hashable, float]
"""Errors on unseen PDEs, by PDE and seed."""
BANDITS = ("Single-TS", "Single-UCB", "Seq-TS", "Seq-UCB")
BEST = "Seq-UCB"


def offline(campaign: Campaign) -> Made:
    """Make Table 1. Random baselines are read from random studies where these exist; their PDEs are unseen, too."""
    names = list(OFFLINE)
    found = {
        (name, family): np.array([*errors_of(campaign, family, name).values()])
        for family in campaign.families
        for name in names
    }
    if not any(map(len, found.values())):
        raise campaign.nothing("offline tests or random studies")
    rows: list[tuple[Any, ...]] = []
    data: list[tuple[Any, ...]] = []
    for (name, family), values in found.items():
        mean, std, median, quartiles, failures = statistics(values)
        paper = OFFLINE[name].get(family)
        ratio = None if paper is None or np.isnan(mean) else f"{mean / paper:.2g}"
        rows.append((family, name, len(values), mean, std, median, paper, ratio))
        if len(values):
            data.append((family, name, len(values), mean, std, median, *quartiles, failures, paper))
    columns = ("family", "method", "PDEs", "mean", "std", "median", "paper", "ratio")
    notes = (f"paper: the mean over {PAPER_PDES} PDEs that it prints; ratio: our mean over the paper's.",)
    table = Table("Offline: relative L2 error on unseen PDEs", columns, tuple(rows), notes)
    header = ("family", "method", "pdes", "mean", "std", "median", "quartile 1", "quartile 3", "failures", "paper")
    figures = {
        f"-{family}": methods_figure(
            {name: found[name, family].tolist() for name in reversed(names) if len(found[name, family])}
        )
        for family in campaign.families
        if any(len(found[name, family]) for name in names)
    }
    return campaign.save(
        "offline", figures, Table("", header, tuple(data)), table, overview=_table_1(campaign.families, found)
    )


def _table_1(families: Sequence[str], found: dict[tuple[str, str], np.ndarray]) -> Table:
    """In the paper's own form: a row for each method, a column for each family."""

    def cell(name: str, family: str) -> str:
        mean, paper = statistics(found[name, family])[0], OFFLINE[name].get(family)
        return " / ".join("-" if one is None or np.isnan(one) else f"{one:.1e}" for one in (mean, paper))

    rows = [(name, *(cell(name, family) for family in families)) for name in OFFLINE]
    notes = ("Mean relative L2 error, ours / the paper's. The numbers of PDEs are in the table below.",)
    return Table("Table 1", ("method", *families), tuple(rows), notes)


def errors_of(campaign: Campaign, family: str, name: str) -> Errors:
    """Errors of a method of Table 1 on a family."""
    if name in BANDITS:
        return _of_test(campaign.test(family, name), "learned")
    method = name.lower()
    if name.startswith("Random") and campaign.has_study(family, name):
        rows = [row for path in campaign.studies(family, name) for row in _rows(path)]
        return {_key(row): measure(row) for row in rows if row.status != "running"}
    wanted = [one for one in PAPER if not (one.startswith("random") and campaign.has_study(family, METHODS[one].title))]
    return _of_test(campaign.test(family, BEST, wanted), method)


def _of_test(test: OfflineTest | None, method: str) -> Errors:
    if test is None:
        return {}
    return {_key(test.rows[method][pde]): error for pde, error in test.measures(method).items()}


def _key(row: PlayRow) -> Hashable:
    """The PDE of a row and its seed."""
    return (*row.parameters.values(), row.seed)


def _rows(path: Path) -> list[PlayRow]:
    with Ledger(path) as ledger:
        return [row for row in ledger.plays() if not row.borrowed]


def analysis(campaign: Campaign) -> Made:
    """Sets, conditions and errors over the unseen PDEs; the learned sets, and random ones where they were tested."""
    figures: dict[str, Figure] = {}
    data, rows = [], []
    for family in campaign.families:
        test = campaign.test(family, BEST)
        if test is None:
            continue
        groups = {BEST: list(test.rows["learned"].values())}
        for name in ("random-seq", "random-single"):
            if name in test.rows:
                groups[METHODS[name].title] = list(test.rows[name].values())
        conditions = test.settings["family"]["conditions"]
        parameter = next(iter(test.settings["family"]["parameters"]))
        figures[f"-{family}-sets"] = sets_figure(groups[BEST], parameter)
        figures[f"-{family}-conditions"] = frequency_figure(groups, conditions)
        figures[f"-{family}-errors"] = errors_figure(groups, parameter)
        for name, found in groups.items():
            for row in found:
                for phase, one in enumerate(row.phases, start=1):
                    values = (one.index, ",".join(one.conditions), one.error)
                    data.append((family, name, row.parameters[parameter], phase, *values))
        rows += _chosen(family, groups[BEST], conditions)
    if not rows:
        raise campaign.nothing(f"offline tests of {BEST}")
    header = ("family", "method", "parameter", "phase", "index", "conditions", "error")
    title = f"Analysis: how often {BEST} chose each condition"
    columns = ("family", "phase", "PDEs", "conditions, by how often they were chosen")
    table = Table(title, columns, tuple(rows), ("The paper shows plots and prints no numbers.",))
    return campaign.save("analysis", figures, Table("", header, tuple(data)), table)


def _chosen(family: str, rows: Sequence[PlayRow], conditions: Sequence[str]) -> list[tuple[Any, ...]]:
    found = []
    for phase in range(max(len(row.phases) for row in rows)):
        share = chosen_share(rows, conditions, phase)
        order = np.argsort(-share, kind="stable")
        listing = ", ".join(f"{conditions[i]} {share[i]:.0%}" for i in order)
        found.append((family, phase + 1, len(rows), listing))
    return found


def pointwise(campaign: Campaign) -> Made:
    """Maps of the absolute error; the solutions are kept as files."""
    figures: dict[str, Figure] = {}
    data, rows = [], []
    for family in campaign.families:
        parameters = POINTWISE.get(family)
        if parameters is None:
            continue
        solutions = _solutions(campaign, family, parameters)
        if not solutions:
            continue
        figures[f"-{family}"] = comparison_figure(solutions, campaign.scale.map)
        where = ", ".join(f"{name} = {value:g}" for name, value in parameters.items())
        for name, solution in solutions.items():
            points, error = error_on_plane(solution, campaign.scale.map // 2 + 1)
            data += [(family, name, *map(_short, (*point, value))) for point, value in zip(points, error)]
            sets = " then ".join(dict.fromkeys(",".join(one) or "none" for one in solution.conditions))
            rows.append((family, where, name, sets, solution.error, float(error.max()), float(error.mean())))
    if not rows:
        raise campaign.nothing("solutions")
    columns = ("family", "PDE", "method", "sets", "relative L2 error", "largest error", "mean error")
    table = Table("Point-wise errors", columns, tuple(rows), ("The paper shows maps and prints no numbers.",))
    return campaign.save(
        "pointwise", figures, Table("", ("family", "method", "x", "y or t", "error"), tuple(data)), table
    )


def _short(value: float) -> float:
    """Four figures: a map has many thousand numbers."""
    return float(f"{value:.4g}")


def _solutions(campaign: Campaign, family: str, parameters: dict[str, float]) -> dict[str, Solution]:
    found = {}
    bandits = [
        name for name in ("Single-UCB", BEST) if (name == BEST and campaign.run) or campaign.has_study(family, name)
    ]
    for bandit in bandits:
        with campaign.longest(family, bandit) as study:
            plan = planner(study, campaign.schedule)
            methods = ["learned"] + (["random-single", "random-seq", "pinn-sub"] if bandit == BEST else [])
            for method in methods:
                title = bandit if method == "learned" else METHODS[method].title
                name = f"{family}-{title.lower()}"
                if method == "learned":  # by the number of plays: a study that is continued learns something else
                    name += f"-{len(study.learned.history)}"
                solution = _solution(campaign, plan, name, method, parameters)
                if solution is not None:
                    found[title] = solution
    return found


def _solution(
    campaign: Campaign, plan: Planner, name: str, method: str, parameters: dict[str, float]
) -> Solution | None:
    path = campaign.out / "solutions" / f"{name}.npz"
    path.parent.mkdir(exist_ok=True)
    task = plan.at(METHODS[method], parameters, seed=0, number=METHODS[method].number)
    try:
        return Solution.load(path, task.family)
    except FileError:
        if not campaign.run:
            return None
        solution = task.solve()
        solution.save(path)
        return solution


OFFLINE_ITEM = Item("offline", offline)
ANALYSIS_ITEM = Item("analysis", analysis)
POINTWISE_ITEM = Item("pointwise", pointwise)
