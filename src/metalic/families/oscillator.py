"""An oscillator: one coordinate, and more oscillations the larger the wave number is.

    u'' + k^2 u = 0, x in [0, 1], u(0) = 0, u'(0) = k; k in [5, 60]
    u = sin(k x)

How many parts the interval is cut into is a choice, `parts`; the networks are the same for any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import Box, Decomposition, Points, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet, Neumann


class Oscillator(Family):
    name = "oscillator"
    title = "u'' + k^2 u = 0"
    parameters = {"k": (5.0, 60.0)}
    domain = Box(x=(0, 1))
    decomposition = split(domain, x=[0.5])
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx")
    default_conditions = ("u", "c")
    points = Points(collocation=200, boundary=1, interface=1)
    solver_options = {"hidden": (10, 10)}
    grid = (1001,)

    def decompose(self, parts: int = 2) -> Decomposition:
        """`parts`: the number of equal parts, 2 or more."""
        return split(self.domain, x=np.linspace(0, 1, parts + 1)[1:-1])

    def residual(self, u: Any, p: Any, k: Any) -> Any:
        return u.xx / k**2 + u.value

    def flux(self, u: Any, p: Any, k: Any) -> dict[str, Any]:
        return {"x": u.x / k}

    def boundary(self) -> list[BoundaryCondition]:
        return [Dirichlet("x=0", 0.0), Neumann("x=0", lambda p, k: -k)]

    def reference(self, k: float) -> ReferenceFunction:
        return lambda points: np.sin(k * points[:, 0])
