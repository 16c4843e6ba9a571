"""The benchmark problems as plain numbers: domains, cuts, data and points, in NumPy and shared by all peers.

A point is (x, y) for Poisson and (x, t) otherwise. A subdomain is a union of boxes; its boundary is the list of
straight edges on which data is given (t = 0 and the lateral sides; never the final time, never the interface).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Corner = tuple[float, float]
Segment = tuple[Corner, Corner]

COLLOCATION = 1000  # per subdomain
BOUNDARY = 100  # per subdomain
LAMBDA_B = 20.0
LAMBDA_I = 5.0
ADAM_RATE = 1e-3
# Where L-BFGS stops.
GRADIENT_TOLERANCE = 1e-6
CHANGE_TOLERANCE = 1e-9
HISTORY = 50
LINE_SEARCH_EVALUATIONS = 25  # what torch's strong Wolfe search allows in one iteration

PI = float(np.pi)


class Run(NamedTuple):
    """What one call of an optimizer took; evaluations are those of the loss."""

    seconds: float
    iterations: int
    evaluations: int


class Points(TypedDict):
    """The training points: one (N, 2) and one (M, 2) array per subdomain, and one (J, 2) array for the interface."""

    collocation: list[Array]
    boundary: list[Array]
    interface: Array


@dataclass(frozen=True)
class Subdomain:
    """Boxes as (lower corner, upper corner); edges with data as (start, end)."""

    boxes: tuple[Segment, ...]
    edges: tuple[Segment, ...]


@dataclass(frozen=True)
class Problem:
    """One family: where it lives, how it is cut, which conditions it knows, and its data on the boundary."""

    subdomains: tuple[Subdomain, Subdomain]
    interface: Array
    conditions: tuple[str, ...]
    boundary_value: Callable[[Array, float], Array]
    example: float  # the parameter that the benchmarks use

    @property
    def bounds(self) -> Segment:
        """Lower and upper corner of the whole domain."""
        corners = np.array([box for subdomain in self.subdomains for box in subdomain.boxes])
        lower, upper = corners[:, 0].min(0), corners[:, 1].max(0)
        return (float(lower[0]), float(lower[1])), (float(upper[0]), float(upper[1]))


def draw_points(problem: Problem, seed: int) -> Points:
    """Uniformly random collocation and boundary points; evenly spaced interface points."""
    rng = np.random.default_rng(seed)
    return {
        "collocation": [_draw_in_boxes(rng, subdomain.boxes, COLLOCATION) for subdomain in problem.subdomains],
        "boundary": [_draw_on_edges(rng, subdomain.edges, BOUNDARY) for subdomain in problem.subdomains],
        "interface": problem.interface.copy(),
    }


def _draw_in_boxes(rng: np.random.Generator, boxes: tuple[Segment, ...], count: int) -> Array:
    corners = np.array(boxes)
    lower, size = corners[:, 0], corners[:, 1] - corners[:, 0]
    area = size.prod(1)
    box = rng.choice(len(boxes), count, p=area / area.sum())
    return lower[box] + size[box] * rng.random((count, 2))


def _draw_on_edges(rng: np.random.Generator, edges: tuple[Segment, ...], count: int) -> Array:
    corners = np.array(edges)
    start, along = corners[:, 0], corners[:, 1] - corners[:, 0]
    length = np.linalg.norm(along, axis=1)
    edge = rng.choice(len(edges), count, p=length / length.sum())
    return start[edge] + along[edge] * rng.random((count, 1))


def _zero(points: Array, parameter: float) -> Array:
    return np.zeros(len(points))


def _travelling_sine(points: Array, beta: float) -> Array:
    return np.sin(points[:, 0] - beta * points[:, 1])


def _logistic(points: Array, rho: float) -> Array:
    start = np.exp(-((points[:, 0] - PI) ** 2) / (2 * (PI / 4) ** 2))
    growth = np.exp(rho * points[:, 1])
    return start * growth / (1 - start + start * growth)


def _initial_sine(points: Array, nu: float) -> Array:
    # On x = -1 and x = 1 it vanishes, as the lateral data does.
    return -np.sin(PI * points[:, 0])


def _horizontal_line(x0: float, x1: float, height: float, count: int) -> Array:
    return np.stack([np.linspace(x0, x1, count), np.full(count, height)], axis=1)


def _cut_in_time(example: float, boundary_value: Callable[[Array, float], Array]) -> Problem:
    """x in [0, 2 pi], t in [0, 1], cut at t = 0.5: advection and reaction."""
    x0, x1 = 0.0, 2 * PI
    return Problem(
        subdomains=(
            Subdomain(
                boxes=(((x0, 0.0), (x1, 0.5)),),
                edges=(((x0, 0.0), (x1, 0.0)), ((x0, 0.0), (x0, 0.5)), ((x1, 0.0), (x1, 0.5))),
            ),
            Subdomain(
                boxes=(((x0, 0.5), (x1, 1.0)),),
                edges=(((x0, 0.5), (x0, 1.0)), ((x1, 0.5), (x1, 1.0))),
            ),
        ),
        interface=_horizontal_line(x0, x1, 0.5, 101),
        conditions=("u", "uavg", "r", "rc", "gr", "t", "x", "xx", "tt"),
        boundary_value=boundary_value,
        example=example,
    )


def _poisson() -> Problem:
    return Problem(
        subdomains=(
            Subdomain(
                boxes=(((0.0, 0.0), (1.0, 0.5)),),
                edges=(((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 0.5)), ((1.0, 0.0), (1.0, 0.5))),
            ),
            Subdomain(
                boxes=(((0.0, 0.5), (1.0, 1.0)),),
                edges=(((0.0, 1.0), (1.0, 1.0)), ((0.0, 0.5), (0.0, 1.0)), ((1.0, 0.5), (1.0, 1.0))),
            ),
        ),
        interface=_horizontal_line(0.0, 1.0, 0.5, 101),
        conditions=("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "yy"),
        boundary_value=_zero,
        example=46.1,
    )


def _burgers() -> Problem:
    time = np.linspace(0.0, 1.0, 401)
    return Problem(
        subdomains=(
            Subdomain(boxes=(((-0.1, 0.0), (0.1, 1.0)),), edges=(((-0.1, 0.0), (0.1, 0.0)),)),
            Subdomain(
                boxes=(((-1.0, 0.0), (-0.1, 1.0)), ((0.1, 0.0), (1.0, 1.0))),
                edges=(
                    ((-1.0, 0.0), (-0.1, 0.0)),
                    ((0.1, 0.0), (1.0, 0.0)),
                    ((-1.0, 0.0), (-1.0, 1.0)),
                    ((1.0, 0.0), (1.0, 1.0)),
                ),
            ),
        ),
        interface=np.concatenate([np.stack([np.full_like(time, x), time], axis=1) for x in (-0.1, 0.1)]),
        conditions=("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "tt"),
        boundary_value=_initial_sine,
        example=0.0036,
    )


_MAKERS: dict[str, Callable[[], Problem]] = {
    "poisson": _poisson,
    "advection": partial(_cut_in_time, 24.02, _travelling_sine),
    "reaction": partial(_cut_in_time, 4.1, _logistic),
    "burgers": _burgers,
}
FAMILIES = tuple(_MAKERS)


def problem_of(family: str) -> Problem:
    """The problem of a family's name; `ValueError` for a name that is not in `FAMILIES`."""
    if family not in _MAKERS:
        raise ValueError(f"no family {family!r}: choose one of {', '.join(FAMILIES)}")
    return _MAKERS[family]()
