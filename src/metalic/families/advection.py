"""Linear advection of a sine wave.

    u_t + beta u_x = 0, x in [0, 2 pi], t in [0, 1], u = sin(x - beta t); cut at t = 0.5; beta in [1, 30]

Data at t = 0 and on both lateral sides. `final_data=True` also gives the exact values at t = 1, an easier problem
that some published experiments solve.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..geometry import Box, Decomposition, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


class Advection(Family):
    name = "advection"
    title = "u_t + beta u_x = 0"
    parameters = {"beta": (1.0, 30.0)}
    domain = Box(x=(0, 2 * np.pi), t=(0, 1))
    decomposition = split(domain, t=[0.5])
    conditions = ("u", "uavg", "r", "rc", "gr", "t", "x", "xx", "tt")  # the flux through t = 0.5 is u: c is u
    default_conditions = ("u",)
    grid = (201, 101)

    def __init__(self, final_data: bool = False):
        self.final_data = final_data

    def decompose(self, cut: float = 0.5, parts: int = 2) -> Decomposition:
        """`cut`: where the first part ends; the rest is divided equally into the others."""
        return split(self.domain, t=np.linspace(cut, 1, parts)[:-1])

    def residual(self, u: Any, p: Any, beta: Any) -> Any:
        return u.t + beta * u.x

    def flux(self, u: Any, p: Any, beta: Any) -> dict[str, Any]:
        return {"x": beta * u.value, "t": u.value}

    def boundary(self) -> list[BoundaryCondition]:
        faces = ["t=0", "x=min", "x=max"] + ["t=1"] * self.final_data
        return [Dirichlet(*faces, lambda p, beta: jnp.sin(p.x - beta * p.t))]

    def reference(self, beta: float) -> ReferenceFunction:
        return lambda points: np.sin(points[:, 0] - beta * points[:, 1])
