"""Convection and diffusion in one coordinate: a boundary layer at x = 1.

    u' - eps u'' = 1, x in [0, 1], u(0) = u(1) = 0; eps in [0.002, 0.1]
    u = x - (e^((x - 1) / eps) - e^(-1 / eps)) / (1 - e^(-1 / eps))

The layer is about 5 eps wide, and where to cut is a choice: `cut` is the width of the subdomain next to x = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import Box, Decomposition, Points, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


class Layer(Family):
    name = "layer"
    title = "u' - eps u'' = 1"
    parameters = {"eps": (0.002, 0.1)}
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

    def residual(self, u: Any, p: Any, eps: Any) -> Any:
        return u.x - eps * u.xx - 1.0

    def flux(self, u: Any, p: Any, eps: Any) -> dict[str, Any]:
        return {"x": u.value - eps * u.x}

    def boundary(self) -> list[BoundaryCondition]:
        return [Dirichlet("x=0", "x=1", 0.0)]

    def reference(self, eps: float) -> ReferenceFunction:
        end = np.exp(-1 / eps)
        return lambda points: points[:, 0] - (np.exp((points[:, 0] - 1) / eps) - end) / (1 - end)
