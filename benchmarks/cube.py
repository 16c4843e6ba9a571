"""A problem of any size: Poisson's equation in several coordinates on a grid of subdomains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import metalic as mt

NAMES = ("x", "y", "z", "w")


class Cube(mt.Family):
    """sum of second derivatives = 1 on the unit cube, cut into a grid along its first two axes; zero on its faces."""

    conditions = ("u", "c")

    def __init__(self, coordinates: int = 2, subdomains: int = 2):
        rows = 2 ** (int(math.log2(subdomains)) // 2)
        cuts = [np.linspace(0, 1, count + 1)[1:-1] for count in (subdomains // rows, rows)]
        self.domain = mt.Box(**dict.fromkeys(NAMES[:coordinates], (0, 1)))
        self.decomposition = mt.split(self.domain, **dict(zip(NAMES, cuts)))

    def residual(self, u: Any, p: Any) -> Any:
        return sum(u.d(name, name) for name in self.coordinates) - 1.0

    def flux(self, u: Any, p: Any) -> dict[str, Any]:
        return {name: u.d(name) for name in self.coordinates}

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet(*(f"{name}={end}" for name in self.coordinates for end in (0, 1)), 0.0)]


def problem(points: int = 1000, width: int = 20, subdomains: int = 2, coordinates: int = 2) -> Any:
    """A Solution after one Adam step; `points` are collocation points of a subdomain, others in proportion."""
    few = max(points // 10, 2 * coordinates)
    return mt.solve(
        Cube(coordinates, subdomains),
        "u,c",
        [mt.Phase(mt.Adam(1e-3), 1)],
        hidden=(width, width),
        points=mt.Points(points, few, few),
    )
