"""The preliminary study on u_xx + u_yy = 1: sampling and weights, and eight sets at unit weights.

As in the paper, the PINN there has as many collocation points as one subdomain of the XPINN, and the boundary points of
both. 500 Adam epochs, then up to 20 000 iterations of L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..bandit import Random, Single
from ..evaluation.baselines import METHODS, FixedSet, Method, make_task
from ..evaluation.figures import PALETTE, style
from ..evaluation.offline import measure, statistics
from ..evaluation.tables import Table, text
from ..evaluation.trials import Trials
from ..families.registry import find_family
from ..geometry.sampling import Points
from ..study.ledger import TRIALS
from ..study.play import Task
from ..study.settings import StudySettings, new_settings
from .campaign import Campaign, Item, Made
from .paper import COMBINATIONS, SAMPLING

FAMILY = "poisson-unit"
STRIDE = 1000  # trial number = cell * STRIDE + run


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a model with a sampling and a weight."""

    name: str
    method: Method
    sampling: str
    weight: float

    def settings(self, campaign: Campaign) -> StudySettings:
        weights = {"sampling": self.sampling, "lambda_boundary": self.weight, "lambda_interface": self.weight}
        solver: dict[str, Any] = {**campaign.scale.solver, **weights}
        if self.method.name == "pinn-sub":
            family = find_family(FAMILY)
            points = solver.get("points", family.points)
            solver["points"] = Points(points.collocation // len(family.decomposition), points.boundary)
        return _settings(campaign, solver)


def _settings(campaign: Campaign, solver: Mapping[str, Any]) -> StudySettings:
    return new_settings(FAMILY, Single(policy=Random()), campaign.scale.preliminary, None, 0, solver, campaign.protocol)


def _model(name: str) -> Method:
    if name == "PINN":
        return METHODS["pinn-sub"]
    names = tuple({"XPINN": "uavg,rc"}.get(name, name).split(","))
    return FixedSet(name, name, 0, lambda catalogue, _: catalogue.parse(names))


def sampling(campaign: Campaign) -> Made:
    """Random, grid and Poisson-disc points, lambda_b = lambda_I of 1 and 20, PINN and XPINN."""
    cells = [Cell(model, _model(model), kind, weight) for model, kind, weight in SAMPLING]
    errors = _run(campaign, "sampling", cells)
    columns = ["model"]
    columns += [f"{kind}, λ = {w:g}{who}" for _, kind, w in list(SAMPLING)[:6] for who in ("", ", paper")]
    rows = []
    for model in ("PINN", "XPINN"):
        row: list[Any] = [model]
        for cell, values in zip(cells, errors):
            if cell.name == model:
                row += [_mean_and_std(values), SAMPLING[model, cell.sampling, cell.weight]]
        rows.append(tuple(row))
    table = Table(
        f"Preliminary study: sampling and weights, {_runs(errors)} runs per cell", tuple(columns), tuple(rows)
    )
    labels = [f"{cell.name}, {cell.sampling}, λ = {cell.weight:g}" for cell in cells]
    figure = _bars(labels, errors, list(SAMPLING.values()))
    return campaign.save("sampling", {"": figure}, _data(cells, errors), table, campaign.scale.preliminary.name)


def combinations(campaign: Campaign) -> Made:
    """A PINN and seven sets of conditions, all weights 1."""
    cells = [Cell(name, _model(name), "random", 1.0) for name in COMBINATIONS]
    errors = _run(campaign, "combinations", cells)
    paper = [COMBINATIONS[cell.name] for cell in cells]
    rows = [
        (c.name, _mean_and_std(e), f"{text(mean)} ± {text(std)}") for c, e, (mean, std) in zip(cells, errors, paper)
    ]
    title = f"Preliminary study: sets at unit weights, {_runs(errors)} runs each"
    table = Table(title, ("model", "ours", "paper"), tuple(rows))
    figure = _bars([cell.name for cell in cells], errors, [mean for mean, _ in paper])
    return campaign.save("combinations", {"": figure}, _data(cells, errors), table, campaign.scale.preliminary.name)


def _run(campaign: Campaign, kind: str, cells: list[Cell]) -> list[np.ndarray]:
    """The errors of all runs of all cells, run by run, so that what is finished is balanced."""
    todo: dict[int, Callable[[], Task]] = {
        STRIDE * place + run: partial(_task, campaign, cell, STRIDE * place + run, run)
        for run in range(campaign.scale.runs)
        for place, cell in enumerate(cells, start=1)
    }
    settings = _settings(campaign, campaign.scale.solver)
    path, own = campaign.trials(kind, FAMILY)
    with Trials(path, settings.to_dict() | {TRIALS: {"kind": kind}} if own else None) as trials:
        if own:
            with campaign.progress(f"{kind} study") as show:
                trials.run(todo, campaign.workers, show)
        rows = trials.rows
    found: dict[int, list[float]] = {place: [] for place in range(1, len(cells) + 1)}
    for number in sorted(rows):
        found[number // STRIDE].append(measure(rows[number]))
    return [np.array(values) for values in found.values()]


def _task(campaign: Campaign, cell: Cell, number: int, run: int) -> Task:
    settings = cell.settings(campaign)
    return make_task(cell.method.setup(settings, None), settings, number, {}, run, (run,))


def _runs(errors: list[np.ndarray]) -> str:
    least, most = min(map(len, errors)), max(map(len, errors))
    return f"{least}" if least == most else f"{least} to {most}"


def _mean_and_std(values: np.ndarray) -> str:
    mean, std, *_ = statistics(values)
    return f"{text(mean)} ± {text(std)}"


def _data(cells: list[Cell], errors: list[np.ndarray]) -> Table:
    rows = [
        (cell.name, cell.sampling, cell.weight, run, float(value))
        for cell, values in zip(cells, errors)
        for run, value in enumerate(values)
    ]
    return Table("", ("model", "sampling", "lambda", "run", "error"), tuple(rows))


def _bars(labels: list[str], errors: list[np.ndarray], paper: list[float]) -> Figure:
    """Our mean with every run, next to the paper's mean."""
    with style():
        figure = Figure(figsize=(8, 1.3 + 0.38 * len(labels)), layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(labels))
        for place, values in enumerate(errors):
            axis.plot(values, np.full(len(values), place), ".", color=PALETTE[4], label=None if place else "our runs")
        axis.plot([statistics(values)[0] for values in errors], places, "o", color=PALETTE[0], label="our mean")
        axis.plot(paper, places, "D", color=PALETTE[1], label="paper's mean", markerfacecolor="none")
        axis.set_yticks(places, labels)
        axis.invert_yaxis()
        axis.set(xscale="log", xlabel="relative L2 error")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


SAMPLING_ITEM = Item("sampling", sampling)
COMBINATIONS_ITEM = Item("combinations", combinations)
