"""Figures of what was learned; every function returns a matplotlib Figure. Their look is that of `metalic.look`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..bandit import Knowledge
from ..look import LINES, MARKS, PALETTE, SEQUENTIAL, style
from ..study.recommendation import NORMAL_95
from ..study.rows import PlayRow
from .rules import grid
from .standing import finished_plays, running_median

NAMED = 18  # sets with a line of their own in a scatter plot


def label(settings: Mapping[str, Any]) -> str:
    """The name of a study's bandit in the paper: 'Seq-UCB', 'Single-TS', 'Random-Seq'."""
    kind = {"sequential": "Seq", "single": "Single", "paired": "Paired"}[settings["bandit"]["name"]]
    policy = settings["bandit"]["policy"]["name"]
    if policy == "random":
        return f"Random-{kind}"
    return f"{kind}-{ {'ucb': 'UCB', 'thompson': 'TS'}.get(policy, policy) }".replace(" ", "")


# ---- online


def accumulated(plays: Sequence[PlayRow]) -> Float[np.ndarray, "plays"]:
    """The cumulative sum of the errors of the finished plays; failed plays count as 0."""
    return np.cumsum([play.error if play.taught and play.error is not None else 0.0 for play in finished_plays(plays)])


def running_errors(plays: Sequence[PlayRow]) -> Float[np.ndarray, "plays"]:
    """The running median of the errors of the finished plays. A sum is dominated by a few early plays; this is not."""
    return running_median([play.error for play in finished_plays(plays) if play.taught and play.error is not None])


def online_figure(
    curves: Mapping[str, Mapping[str, Sequence[Float[np.ndarray, "_plays"]]]], measure: str = "accumulated error"
) -> Figure:
    """Draw a measure of the errors, such as their sum so far, against plays.

    With several seeds the line is their mean and the band spans the smallest and the largest. Seeds of different
    lengths have a line each. Methods without curves keep their colour, panels without curves their place.

    Args:
        curves: For every panel, for every method, one curve per seed.
        measure: What the curves are.
    """
    columns = min(len(curves), 4)
    rows = -(-len(curves) // columns)
    with style():
        figure = Figure(figsize=(1.2 + 3.6 * columns, 3.4 * rows), layout="constrained")
        axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
        for axis, (title, methods) in zip(axes, curves.items()):
            for place, (name, runs) in enumerate(methods.items()):
                _curve(axis, name, runs, place)
            axis.set(title=title, xlabel="plays", ylabel=measure, yscale="log")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axis.lines:
                axis.legend()
            else:
                axis.text(0.5, 0.5, "no plays", transform=axis.transAxes, ha="center", color="0.4")
        for axis in axes[len(curves) :]:
            axis.set_visible(False)
    return figure


def _curve(axis: Any, name: str, runs: Sequence[Float[np.ndarray, "_plays"]], place: int) -> None:
    colour, line = PALETTE[place % len(PALETTE)], LINES[place % len(LINES)]
    lines = [run for run in runs if len(run)]
    if len({len(run) for run in lines}) == 1:
        plays, low, high = np.arange(1, len(lines[0]) + 1), np.min(lines, axis=0), np.max(lines, axis=0)
        axis.fill_between(plays, low, high, color=colour, alpha=0.2, linewidth=0)
        lines = [np.mean(lines, axis=0)]
    title = name if len(runs) == 1 else f"{name}, {len(runs)} seeds"
    for number, run in enumerate(lines):
        shown = None if number else title
        axis.plot(np.arange(1, len(run) + 1), run, line, color=colour, label=shown, linewidth=1.8)


# ---- sets, conditions and errors of many plays or tests


def set_name(conditions: Sequence[str]) -> str:
    return ", ".join(conditions) or "none"


def sets_figure(rows: Sequence[PlayRow], parameter: str) -> Figure:
    """Draw which set was used for which value of a parameter: a panel per phase, a line for each of the most frequent
    sets, colours by error."""
    done = [row for row in rows if row.taught]
    phases = phases_apart(done)
    panels = [set_lines(done, phase) for phase in phases]
    heights = [max(2.0, 0.3 * len(names) + 0.9) for names, _ in panels]
    with style():
        figure = Figure(figsize=(9, sum(heights)), layout="constrained")
        axes = np.atleast_1d(figure.subplots(len(panels), 1, height_ratios=heights, sharex=True))
        scale = _error_scale(done)
        dots = None
        for axis, phase, (names, places) in zip(axes, phases, panels):
            x = [row.parameters[parameter] for row in done]
            colours = [_measure(row) for row in done]
            dots = axis.scatter(x, places, c=colours, norm=scale, cmap=SEQUENTIAL, s=30, edgecolor="0.3", linewidth=0.4)
            axis.set_yticks(range(len(names)), names, fontsize=10)
            axis.set_ylim(len(names) - 0.5, -0.5)
            if len(phases) > 1:
                axis.set_title(f"phase {phase + 1}", loc="left")
        axes[-1].set_xlabel(parameter)
        if dots is not None:
            figure.colorbar(dots, ax=axes, label=_measured(done), aspect=30)
    return figure


def phases_apart(rows: Sequence[PlayRow]) -> list[int]:
    """The phases to show: only the last if no row has different sets in different phases."""
    most = max((len(row.phases) for row in rows), default=1)
    same = all(phase.index == row.phases[0].index for row in rows for phase in row.phases)
    return [most - 1] if same else list(range(most))


def set_lines(rows: Sequence[PlayRow], phase: int, most: int = NAMED) -> tuple[list[str], list[int]]:
    """The labels of the lines of a scatter plot, and the line of every row."""
    sets = [row.phases[min(phase, len(row.phases) - 1)] for row in rows]
    counts = Counter((one.index, set_name(one.conditions)) for one in sets)
    shown = sorted(key for key, _ in counts.most_common(most))
    names = [f"{name}  ({index})" for index, name in shown]
    rest = len(counts) - len(shown)
    if rest:
        names.append(f"{rest} other sets")
    place = {index: line for line, (index, _) in enumerate(shown)}
    return names, [place.get(one.index, len(shown)) for one in sets]


def _measure(row: PlayRow) -> float:
    if row.error is not None:
        return max(row.error, 1e-16)
    return float(10.0 ** -(row.reward or 0.0))


def _measured(rows: Sequence[PlayRow]) -> str:
    return "relative error" if any(row.error is not None for row in rows) else "10^-reward"


def _error_scale(rows: Sequence[PlayRow]) -> LogNorm:
    values = [_measure(row) for row in rows] or [0.1, 1.0]
    low, high = min(values), max(values)
    return LogNorm(low, high if high > low else 10 * low)


def frequency_figure(groups: Mapping[str, Sequence[PlayRow]], conditions: Sequence[str]) -> Figure:
    """Draw how often each condition was chosen: a panel per phase, a bar per group (a method, a study...)."""
    everything = [row for rows in groups.values() for row in rows if row.taught]
    phases = phases_apart(everything)
    with style():
        height = 1.4 + len(conditions) * (0.2 + 0.16 * len(groups))
        figure = Figure(figsize=(1.5 + 4 * len(phases), height), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(phases), sharey=True))
        places, thick = np.arange(len(conditions)), 0.8 / max(len(groups), 1)
        for axis, phase in zip(axes, phases):
            for number, (name, rows) in enumerate(groups.items()):
                share = chosen_share(rows, conditions, phase)
                offset = (number - (len(groups) - 1) / 2) * thick
                axis.barh(places + offset, 100 * share, thick, color=PALETTE[number % len(PALETTE)], label=name)
            axis.set(xlim=(0, 100), xlabel="chosen, % of solves")
            if len(phases) > 1:
                axis.set_title(f"phase {phase + 1}", loc="left")
            axis.grid(axis="y", visible=False)
        axes[0].set_yticks(places, conditions)
        axes[0].invert_yaxis()
        if len(groups) > 1:
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def chosen_share(rows: Sequence[PlayRow], conditions: Sequence[str], phase: int) -> Float[np.ndarray, "conditions"]:
    """The share of finished rows whose set of a phase has each condition."""
    sets = [row.phases[min(phase, len(row.phases) - 1)].conditions for row in rows if row.taught]
    return np.array([np.mean([name in one for one in sets]) if sets else 0.0 for name in conditions])


def errors_figure(groups: Mapping[str, Sequence[PlayRow]], parameter: str) -> Figure:
    """Draw the error of every row against a parameter, with a colour and a mark per group."""
    everything = [row for rows in groups.values() for row in rows if row.taught]
    with style():
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axis = figure.subplots()
        for number, (name, rows) in enumerate(groups.items()):
            done = [row for row in rows if row.taught]
            x, y = [row.parameters[parameter] for row in done], [_measure(row) for row in done]
            colour, mark = PALETTE[number % len(PALETTE)], MARKS[number % len(MARKS)]
            axis.plot(x, y, mark, color=colour, label=name, markersize=5, alpha=0.8, markeredgewidth=0)
        axis.set(xlabel=parameter, ylabel=_measured(everything), yscale="log")
        if len(groups) > 1:
            figure.legend(loc="outside lower center", ncols=4)
    return figure


def methods_figure(groups: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the spread of the errors of every method: a box for quartiles and median, whiskers for the range, a mark
    for the mean; the number of errors is next to the name."""
    with style():
        figure = Figure(figsize=(8, 1.2 + 0.42 * len(groups)), layout="constrained")
        axis = figure.subplots()
        values = [[value for value in group if np.isfinite(value)] or [np.nan] for group in groups.values()]
        boxes = axis.boxplot(
            values,
            orientation="horizontal",
            whis=(0, 100),
            widths=0.6,
            patch_artist=True,
            showmeans=True,
            meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black"},
            medianprops={"color": "black", "linewidth": 1.6},
        )
        for number, box in enumerate(boxes["boxes"]):
            box.set_facecolor(PALETTE[0] if number == 0 else "0.85")
        axis.set_yticks(range(1, len(groups) + 1), [f"{name}  ({len(group)})" for name, group in groups.items()])
        axis.invert_yaxis()
        axis.set(xscale="log", xlabel="relative error (box: quartiles, line: median, diamond: mean)")
        axis.grid(axis="y", visible=False)
    return figure


# ---- what the reward models say


def effects_figure(learned: Knowledge, conditions: Sequence[str], boxes: Mapping[str, tuple[float, float]]) -> Figure:
    """Draw the effect of each condition on the reward (decades) against the first parameter.

    There is a line with a 95 % band for the reward model of each phase; other parameters stay at their middle.
    """
    middle = [0.5 * (low + high) for low, high in boxes.values()]
    if not boxes:
        return _effects_bars(learned, conditions)
    name, (low, high) = next(iter(boxes.items()))
    x = grid(low, high, 21)
    tables = [_effects(learned, [(value, *middle[1:]) for value in x], p) for p in range(learned.bandit.decisions)]
    columns = min(len(conditions), 3)
    rows = -(-len(conditions) // columns)
    with style():
        figure = Figure(figsize=(1 + 3.2 * columns, 0.8 + 2.1 * rows), layout="constrained")
        axes = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
        for number, (axis, condition) in enumerate(zip(axes, conditions)):
            axis.axhline(0, color="black", linewidth=0.8)
            for phase, (mean, std) in enumerate(tables):
                colour, line = PALETTE[phase % len(PALETTE)], LINES[phase % len(LINES)]
                title = f"phase {phase + 1}" if len(tables) > 1 else None
                axis.plot(x, mean[:, number], line, color=colour, label=title, linewidth=1.8)
                half = NORMAL_95 * std[:, number]
                edge = mean[:, number] - half, mean[:, number] + half
                axis.fill_between(x, *edge, color=colour, alpha=0.2, linewidth=0)
            axis.set_title(condition, loc="left")
            axis.xaxis.set_major_locator(MaxNLocator(4))
            axis.yaxis.set_major_locator(MaxNLocator(5))
        for axis in axes[len(conditions) :]:
            axis.set_visible(False)
        figure.supxlabel(name if len(boxes) == 1 else f"{name} (other parameters at their middle)", fontsize=11)
        figure.supylabel("effect on the reward, decades", fontsize=11)
        if len(tables) > 1:
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(tables))
    return figure


def _effects(
    learned: Knowledge, contexts: Sequence[Sequence[float]], phase: int
) -> tuple[Float[np.ndarray, "n s"], Float[np.ndarray, "n s"]]:
    found = [learned.effects(context, phase=phase) for context in contexts]
    return np.array([one.mean for one in found]), np.array([one.std for one in found])


def _effects_bars(learned: Knowledge, conditions: Sequence[str]) -> Figure:
    with style():
        figure = Figure(figsize=(7, 1 + 0.4 * len(conditions)), layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(conditions))
        for phase in range(learned.bandit.decisions):
            mean, std = _effects(learned, [()], phase)
            axis.errorbar(
                mean[0],
                places + 0.15 * phase,
                xerr=NORMAL_95 * std[0],
                fmt=MARKS[phase % len(MARKS)],
                color=PALETTE[phase % len(PALETTE)],
                label=f"phase {phase + 1}",
            )
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_yticks(places, conditions)
        axis.invert_yaxis()
        axis.set_xlabel("effect on the reward, decades (95 %)")
        axis.legend()
    return figure
