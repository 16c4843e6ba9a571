"""The reaction equation: a logistic growth at every x, with no coupling in space.

    u_t = rho u (1 - u), x in [0, 2 pi], t in [0, 1]; cut at t = 0.5; rho in [1, 15]
    u(x, 0) = h(x) = exp(-(x - pi)^2 / (2 (pi/4)^2)),  u = h e^(rho t) / (h e^(rho t) + 1 - h)

Data at t = 0 and exact values on both lateral sides; `final_data=True` gives them at t = 1 too.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..geometry import Box, Decomposition, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


def _solution(xp: Any, x: Any, t: Any, rho: Any) -> Any:
    h = xp.exp(-((x - np.pi) ** 2) / (2 * (np.pi / 4) ** 2))
    return h / (h + (1 - h) * xp.exp(-rho * t))


class Reaction(Family):
    name = "reaction"
    title = "u_t = rho u (1 - u)"
    parameters = {"rho": (1.0, 15.0)}
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

    def residual(self, u: Any, p: Any, rho: Any) -> Any:
        return u.t - rho * u.value * (1 - u.value)

    def flux(self, u: Any, p: Any, rho: Any) -> dict[str, Any]:
        return {"t": u.value}

    def boundary(self) -> list[BoundaryCondition]:
        faces = ["t=0", "x=min", "x=max"] + ["t=1"] * self.final_data
        return [Dirichlet(*faces, lambda p, rho: _solution(jnp, p.x, p.t, rho))]

    def reference(self, rho: float) -> ReferenceFunction:
        return lambda points: _solution(np, points[:, 0], points[:, 1], rho)
