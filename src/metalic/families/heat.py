"""The heat equation with four free amplitudes.

    u_t = u_xx, x in [-1, 1], t in [0, 1]; cut at t = 0.5; (a, b, c, d) in [-2, 2]^4
    u = a e^(-pi^2 t) cos(pi x) + b e^(-4 pi^2 t) cos(2 pi x) + c e^(4t - 4) cosh(2x) + d e^(t - 1) sinh(x)

Data at t = 0 and on both lateral sides; `final_data=True` gives them at t = 1 too.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..geometry import Box, Decomposition, split
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


def _solution(xp: Any, x: Any, t: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return (
        a * xp.exp(-(np.pi**2) * t) * xp.cos(np.pi * x)
        + b * xp.exp(-4 * np.pi**2 * t) * xp.cos(2 * np.pi * x)
        + c * xp.exp(4 * t - 4) * xp.cosh(2 * x)
        + d * xp.exp(t - 1) * xp.sinh(x)
    )


class Heat(Family):
    name = "heat"
    title = "u_t = u_xx"
    parameters = dict.fromkeys("abcd", (-2.0, 2.0))
    domain = Box(x=(-1, 1), t=(0, 1))
    decomposition = split(domain, t=[0.5])
    conditions = ("u", "uavg", "r", "rc", "gr", "t", "x", "xx", "tt")  # the flux through t = 0.5 is u: c is u
    default_conditions = ("u",)
    grid = (101, 101)

    def __init__(self, final_data: bool = False):
        self.final_data = final_data

    def decompose(self, cut: float = 0.5, parts: int = 2) -> Decomposition:
        """`cut`: where the first part ends; the rest is divided equally into the others."""
        return split(self.domain, t=np.linspace(cut, 1, parts)[:-1])

    def residual(self, u: Any, p: Any, **amplitudes: Any) -> Any:
        return u.t - u.xx

    def flux(self, u: Any, p: Any, **amplitudes: Any) -> dict[str, Any]:
        return {"x": -u.x, "t": u.value}

    def boundary(self) -> list[BoundaryCondition]:
        faces = ["t=0", "x=-1", "x=1"] + ["t=1"] * self.final_data
        return [Dirichlet(*faces, lambda p, **amplitudes: _solution(jnp, p.x, p.t, **amplitudes))]

    def reference(self, **amplitudes: float) -> ReferenceFunction:
        return lambda points: _solution(np, points[:, 0], points[:, 1], **amplitudes)
