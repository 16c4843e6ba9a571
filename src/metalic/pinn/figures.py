"""Pictures of solutions; every function returns a matplotlib Figure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from ..errors import ParameterError
from ..look import LINES, SEQUENTIAL, Drawing, error_scale, field_scale

if TYPE_CHECKING:
    from .solution import Solution

DOTS = 600  # collocation points drawn per subdomain


def _slice(solution: Solution, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two axes and all points (count^2, d) of a plane: first and last coordinate vary, others stay at their middle."""
    domain = solution.family.domain
    middle = (domain.low + domain.high) / 2
    x = np.linspace(domain.low[0], domain.high[0], count)
    y = np.linspace(domain.low[-1], domain.high[-1], count)
    points = np.tile(middle, (count * count, 1))
    grid_x, grid_y = np.meshgrid(x, y, indexing="ij")
    points[:, 0], points[:, -1] = grid_x.ravel(), grid_y.ravel()
    return x, y, points


def _at(solution: Solution, points: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The values (n, m) at points, and the absolute error where there is a reference; NaN outside the domain."""
    family, inside = solution.family, solution.family.domain.contains(points)
    values = np.full((len(points), len(family.components)), np.nan)
    values[inside] = solution(points[inside]).reshape(-1, values.shape[1])
    if solution.error is None or family.reference is None:
        return values, None
    error = np.full_like(values, np.nan)
    try:
        reference = np.asarray(family.reference(**solution.parameters)(points[inside]))
    except ParameterError:  # beyond the box there may be none
        return values, None
    error[inside] = np.abs(values[inside] - reference.reshape(-1, values.shape[1]))
    return values, error


def _beside(solution: Solution, points: np.ndarray, error: np.ndarray | None) -> tuple[str, np.ndarray]:
    """What is drawn next to the solution: its error, or the size of the residual where there is no reference."""
    if error is not None:
        return "absolute error", error
    inside = solution.family.domain.contains(points)
    found = np.full((len(points), 1), np.nan)
    residual = np.asarray(solution.residual(points[inside])).reshape(int(inside.sum()), -1)
    found[inside, 0] = np.linalg.norm(residual, axis=1)
    return "size of the residual", found


def _title(solution: Solution) -> str:
    parameters = ", ".join(f"{name} = {value:g}" for name, value in solution.parameters.items())
    sets = " then ".join("{" + ", ".join(one) + "}" for one in dict.fromkeys(solution.conditions))
    error = "" if solution.error is None else f"   relative error {solution.error:.2e}"
    return f"{solution.family.name} {parameters}   conditions {sets}{error}"


def solution_figure(solution: Solution, count: int = 161) -> Figure:
    """The solution; its point-wise error, or the residual where there is no reference; and the subdomains with the
    points last used."""
    if len(solution.family.coordinates) == 1:
        return _line_figure(solution)
    x, y, points = _slice(solution, count)
    values, error = _at(solution, points)
    what, beside = _beside(solution, points, error)
    drawn = any(len(points) for points in solution.collocation)
    panels = 2 + drawn
    figure = Drawing(figsize=(4.6 * panels, 4.2), layout="constrained")
    axes = figure.subplots(1, panels)
    name = solution.family.components[0]
    _map(figure, axes[0], x, y, values[:, 0], "solution", name, *field_scale(values[:, 0]))
    _map(figure, axes[1], x, y, beside[:, 0], what, what, SEQUENTIAL, error_scale(beside[:, 0]))
    if drawn:
        _draw_points(axes[-1], solution)
    for axis in axes:
        _frame(axis, solution)
    figure.suptitle(_title(solution))
    return figure


def error_on_plane(solution: Solution, count: int = 161) -> tuple[np.ndarray, np.ndarray]:
    """Points of the plane that is drawn, (n, 2), and the absolute error there; the solution without reference."""
    _, _, points = _slice(solution, count)
    points = points[solution.family.domain.contains(points)]
    values, error = _at(solution, points)
    return points[:, [0, -1]], (values if error is None else error)[:, 0]


def comparison_figure(
    solutions: Mapping[str, Solution], count: int = 161, first: Callable[[Any], None] | None = None
) -> Figure:
    """Point-wise errors of several solutions of one problem, side by side on one colour scale of decades; `first`
    draws a panel of its own on the left."""
    panels = len(solutions) + (first is not None)
    figure = Drawing(figsize=(4.6 * panels, 4.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, panels))
    if first is not None:
        first(axes[0])
        axes = axes[1:]
    maps = []
    for solution in solutions.values():
        x, y, points = _slice(solution, count)
        values, error = _at(solution, points)
        maps.append((values if error is None else error)[:, 0])
    scale = error_scale(*maps)
    for axis, (label, solution), shown in zip(axes, solutions.items(), maps):
        reached = "" if solution.error is None else f"\nrelative error {solution.error:.2e}"
        _map(figure, axis, x, y, shown, f"{label}{reached}", "absolute error", SEQUENTIAL, scale, bar=axis is axes[-1])
        _frame(axis, solution)
    return figure


def members_figure(
    solutions: Sequence[Solution], along: Sequence[float], measures: Sequence[float], label: str, count: int = 81
) -> Figure:
    """Members of a family side by side, and below them the error of many along a parameter, in decades.

    Args:
        solutions: The members that are drawn, at most a handful.
        along: Where each measured member lies on the axis of the lower panel.
        measures: The error of each, or its estimate; NaN leaves a gap.
        label: What the axis of the lower panel is.
        count: The number of points per axis of a map.
    """
    lines = not solutions or len(solutions[0].family.coordinates) == 1
    panels = 1 if lines else len(solutions)
    figure = Drawing(figsize=(max(7.0, 3.2 * panels), 6.4), layout="constrained")
    grid = figure.add_gridspec(2, panels, height_ratios=(3, 2))
    if lines:
        _draw_lines(figure.add_subplot(grid[0, 0]), solutions)
    else:
        _draw_maps(figure, [figure.add_subplot(grid[0, i]) for i in range(panels)], solutions, count)
    below = figure.add_subplot(grid[1, :])
    order = np.argsort(along, kind="stable")
    below.semilogy(np.asarray(along)[order], np.asarray(measures)[order], "o-", markersize=4)
    below.set_xlabel(label)
    below.set_ylabel("relative error")
    below.set_title("error of each member, or its estimate")
    return figure


def _named(solution: Solution) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in solution.parameters.items())


def _draw_lines(axis: Any, solutions: Sequence[Solution]) -> None:
    for solution, style in zip(solutions, itertools.cycle(LINES)):
        name = solution.family.coordinates[0]
        x = np.linspace(*solution.family.domain.sides[name], 400)
        axis.plot(x, solution.values(x[:, None])[:, 0], linestyle=style, label=_named(solution))
        axis.set_xlabel(name)
        axis.set_ylabel(solution.family.components[0])
    axis.set_title("members")
    axis.legend(fontsize="small")


def _draw_maps(figure: Figure, axes: Sequence[Any], solutions: Sequence[Solution], count: int) -> None:
    """Maps of the first component on one colour scale."""
    shown = []
    for solution in solutions:
        x, y, points = _slice(solution, count)
        shown.append(_at(solution, points)[0][:, 0])
    colours, scale = field_scale(np.concatenate(shown))
    for axis, solution, values in zip(axes, solutions, shown):
        name, last = solution.family.components[0], axis is axes[-1]
        _map(figure, axis, x, y, values, _named(solution), name, colours, scale, bar=last)
        _frame(axis, solution)


def _map(
    figure: Figure,
    axis: Any,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    title: str,
    label: str,
    colours: str,
    scale: Normalize,
    bar: bool = True,
) -> None:
    if isinstance(scale, LogNorm):
        values = np.maximum(values, scale.vmin or 0.0)
    values = np.ma.masked_invalid(values.reshape(len(x), len(y)))
    image = axis.pcolormesh(x, y, values.T, cmap=colours, shading="gouraud", norm=scale, rasterized=True)
    if bar:
        figure.colorbar(image, ax=axis, label=label)
    axis.set_title(title)


def _frame(axis: Any, solution: Solution) -> None:
    """Labels, limits, and the outlines of the subdomains."""
    domain = solution.family.domain
    axis.set_xlabel(domain.names[0])
    axis.set_ylabel(domain.names[-1])
    axis.set_xlim(domain.low[0], domain.high[0])
    axis.set_ylim(domain.low[-1], domain.high[-1])
    for region in solution.family.decomposition.subdomains.values():
        axis.add_collection(LineCollection(list(region.outline()), colors="0.6", linewidths=0.8, clip_on=False))


def _draw_points(axis: Any, solution: Solution) -> None:
    for name, points in zip(solution.family.decomposition.names, solution.collocation):
        shown = points[:: max(1, len(points) // DOTS)]
        axis.plot(shown[:, 0], shown[:, -1], ".", markersize=2, label=f"subdomain {name}")
    axis.set_title("subdomains and collocation points")
    axis.legend(loc="upper right", fontsize="small", markerscale=4)


def _line_figure(solution: Solution) -> Figure:
    name = solution.family.coordinates[0]
    x = np.linspace(*solution.family.domain.sides[name], 400)
    values, error = _at(solution, x[:, None])
    figure = Drawing(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(x, values)
    left.set_title("solution")
    for axis in (left, right):
        axis.set_xlabel(name)
    what, beside = _beside(solution, x[:, None], error)
    right.semilogy(x, beside + 1e-18)
    right.set_title(what)
    figure.suptitle(_title(solution))
    return figure
