"""The Korteweg-de Vries equation: two waves that run, meet and part on a ring.

    u_t + nu u u_x + u_xxx = 0, x in [0, 20] periodic, t in [0, 20]; cut at t = 10; nu in [1, 10]

The initial data are the two solitary waves of the equation with nu = 6 with speeds 0.75 and 0.4, centred at 0.33 and
0.65 of the period, made periodic. They do not depend on nu (amplitudes proportional to 1/nu would make all members
of the family one and the same problem up to scale), so that only for nu = 6 they are solitons exactly.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..geometry import Box, Decomposition, split
from . import references
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet, Periodic


class KdV(Family):
    name = "kdv"
    title = "u_t + nu u u_x + u_xxx = 0"
    parameters = {"nu": (1.0, 10.0)}
    domain = Box(x=(0, 20), t=(0, 20))
    decomposition = split(domain, t=[10])
    conditions = ("u", "uavg", "r", "rc", "gr", "t", "x", "xx", "tt")  # the flux through t = 10 is u: c is u
    default_conditions = ("u",)
    grid = (201, 101)

    def decompose(self, cut: float = 10.0, parts: int = 2) -> Decomposition:
        """`cut`: where the first part ends; the rest is divided equally into the others."""
        return split(self.domain, t=np.linspace(cut, 20, parts)[:-1])

    def residual(self, u: Any, p: Any, nu: Any) -> Any:
        return u.t + nu * u.value * u.x + u.xxx

    def flux(self, u: Any, p: Any, nu: Any) -> dict[str, Any]:
        return {"x": nu * u.value**2 / 2 + u.xx, "t": u.value}

    def boundary(self) -> list[BoundaryCondition]:
        return [
            Dirichlet("t=0", lambda p: references.kdv_initial(p.x, xp=jnp)),
            Periodic("x", order=3),
        ]

    def reference(self, nu: float) -> ReferenceFunction:
        return references.kdv(nu)
