"""A solution seen box by box, with fresh points: what its error is measured and solved for on.

Every box of every subdomain becomes a subdomain of its own, with the network of the one that it belongs to, and the
complete set of interface conditions is all that holds between them, whatever set was trained.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from ..conditions import complete_set
from ..families.base import Family
from ..geometry import Decomposition, Points, Region
from ..geometry.boxes import Rectilinear
from ..geometry.sampling import CHEBYSHEV
from .laws import System, system_of
from .linearised import Row, channel_sizes, linearise, network_channels
from .polynomials import count
from .problem import Problem
from .sampler import Draw, Sampler
from .solution import Solution

FRESH = 2 * 10**6  # the number of the first draw of points that no training has seen
UNKNOWNS = 3600  # in all boxes together
HIGHEST_DEGREE, MOST_POLYNOMIALS = 40, 900  # per box
LAMBDA_BOUNDARY, LAMBDA_INTERFACE = 2000.0, 500.0  # data and interface conditions must hold almost exactly


def boxed(family: Family) -> tuple[Family, list[int]]:
    """The family with a subdomain for each box of its subdomains and the complete set alone; whose box each is."""
    table = {name: _boxes(region) for name, region in family.decomposition.subdomains.items()}
    boxes = {f"{name}/{i}": box for name, parts in table.items() for i, box in enumerate(parts)}
    owners = [k for k, parts in enumerate(table.values()) for _ in parts]
    coefficients = {
        name: {box: values[box.rpartition("/")[0]] for box in boxes} for name, values in family.coefficients.items()
    }
    new = family.changed(decomposition=Decomposition(family.domain, boxes), coefficients=coefficients)
    return new.changed(conditions=(), own_conditions=complete_set(new)), owners


def _boxes(region: Region) -> tuple[Region, ...]:
    return region.boxes if isinstance(region, Rectilinear) else (region,)


def highest_degree(family: Family) -> int:
    """Of the polynomials on each box of a family, within the limits of work."""
    d = len(family.coordinates)
    most = min(UNKNOWNS // (len(family.decomposition) * len(family.components)), MOST_POLYNOMIALS)
    return max(degree for degree in range(1, HIGHEST_DEGREE + 1) if count(degree, d) <= most or degree == 1)


class Defect:
    """A solution on the boxes of its family, with fresh points that suit polynomials."""

    def __init__(self, solution: Solution, draw: int = 0):
        self.family, self.owners = boxed(solution.family)
        self.solution, self.degree = solution, highest_degree(self.family)
        face = count(self.degree, len(self.family.coordinates) - 1)
        points = Points(2 * count(self.degree, len(self.family.coordinates)), 8 * face, 2 * face)
        drawn = Sampler(self.family, points, CHEBYSHEV).draw(solution.seed, FRESH + draw)
        system = system_of(self.family, solution.network)
        found = problem_of(solution, system, drawn, self.owners, (LAMBDA_BOUNDARY, LAMBDA_INTERFACE))
        self.problem: Problem = jax.device_put(found)
        self.theta = jax.device_put(np.asarray(solution.theta, float)[self.owners])
        self.low, self.high = self.family.decomposition.bounding_boxes()

    @cached_property
    def channels(self) -> list[Float[np.ndarray, "_B2 _C _N"]]:
        """Of the networks."""
        return [np.asarray(values) for values in network_channels(self.problem, self.theta)]

    @cached_property
    def sizes(self) -> list[Float[np.ndarray, "_C"]]:
        """Mean squares of the channels over the domain."""
        return [np.asarray(values) for values in channel_sizes(self.problem, self.theta)]

    @cached_property
    def rows(self) -> list[list[Row]]:
        """Of the networks alone."""
        return self.linearised(self.channels)

    def linearised(self, channels: list[Float[np.ndarray, "_B2 _C _N"]]) -> list[list[Row]]:
        return jax.tree.map(np.asarray, linearise(self.problem, jax.device_put(channels)))


def problem_of(solution: Solution, system: System, drawn: Draw, owners: list[int], weights: tuple[Any, Any]) -> Problem:
    """A problem on other points for the networks of a solution, in float64; `owners` says whose each subdomain is."""
    arrays: dict[str, Any] = {
        "centre": np.asarray(solution.centre, float)[owners],
        "slope": np.asarray(solution.slope, float)[owners],
        "coefficients": system.family.coefficient_table(),
        "parameters": {name: np.asarray(float(value)) for name, value in solution.parameters.items()},
        "active": np.ones(len(system.catalogue), bool),
        "lambda_boundary": np.asarray(weights[0]),
        "lambda_interface": np.full(len(system.catalogue), weights[1]),
    }
    return Problem(*drawn.blocks(), **jax.device_put(arrays), system=system)
