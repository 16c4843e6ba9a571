"""Convection and diffusion in one coordinate: a boundary layer at x = 1.

    u' - u'' / pe = 1, x in [0, 1], u(0) = u(1) = 0; the Peclet number pe in [10, 500]
    u = x - (e^(pe (x - 1)) - e^(-pe)) / (1 - e^(-pe))

The layer is about 5 / pe wide, and where to cut is a choice: `cut` is the width of the subdomain next to x = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import Box, Decomposition, Points, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


class Layer(Family):
    name = "layer"
    title = "u' - u'' / pe = 1"
    parameters = {"pe": (10.0, 500.0)}
    domain = Box(x=(0, 1))
    decomposition = split(domain, x=[0.5])
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx")
    default_conditions = ("u", "c")
    points = Points(collocation=200, boundary=2, interface=1)
    solver_options = {"hidden": (10, 10)}
    grid = (1001,)

    def decompose(self, cut: float = 0.5) -> Decomposition:
        """`cut`: the width of the subdomain at x = 1, 0.01 to 0.9."""
        return split(self.domain, x=[1 - cut])

    def residual(self, u: Any, p: Any, pe: Any) -> Any:
        return u.x - u.xx / pe - 1.0

    def flux(self, u: Any, p: Any, pe: Any) -> dict[str, Any]:
        return {"x": u.value - u.x / pe}

    def boundary(self) -> list[BoundaryCondition]:
        return [Dirichlet("x=0", "x=1", 0.0)]

    def reference(self, pe: float) -> ReferenceFunction:
        end = np.exp(-pe)
        return lambda points: points[:, 0] - (np.exp((points[:, 0] - 1) * pe) - end) / (1 - end)
