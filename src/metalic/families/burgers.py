"""Viscous Burgers' equation: a sine wave that steepens into a shock at x = 0.

    u_t + u u_x = nu u_xx, x in [-1, 1], t in [0, 1], u(x, 0) = -sin(pi x), u(+-1, t) = 0; nu in [0.001, 0.05]

Two subdomains: the strip |x| <= 0.1 around the shock, and the two outer strips together. Data at t = 0 and on both
lateral sides; `final_data=True` gives the solution at t = 1 too.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..geometry import Box, Decomposition, Points
from . import references
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet

DOMAIN = Box(x=(-1, 1), t=(0, 1))


def strips(half_width: float) -> Decomposition:
    """The strip around the shock, and the two outer ones together."""
    return Decomposition(
        DOMAIN,
        {
            "inner": DOMAIN.replaced(x=(-half_width, half_width)),
            "outer": [DOMAIN.replaced(x=(-1, -half_width)), DOMAIN.replaced(x=(half_width, 1))],
        },
    )


class Burgers(Family):
    name = "burgers"
    title = "u_t + u u_x = nu u_xx"
    parameters = {"nu": (0.001, 0.05)}
    domain = DOMAIN
    decomposition = strips(0.1)
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "tt")  # t is left out to keep nine
    default_conditions = ("u", "c", "x")
    easy = {"nu": 0.05}
    points = Points(interface=802)
    grid = (256, 101)
    final_data = False

    def __init__(self, final_data: bool = False):
        if final_data:  # ledgers older than this option do not have it
            self.final_data = True

    def decompose(self, strip: float = 0.1) -> Decomposition:
        """`strip`: half the width of the inner strip, 0.05 to 0.4."""
        return strips(strip)

    def residual(self, u: Any, p: Any, nu: Any) -> Any:
        return u.t + u.value * u.x - nu * u.xx

    def flux(self, u: Any, p: Any, nu: Any) -> dict[str, Any]:
        return {"x": u.value**2 / 2 - nu * u.x, "t": u.value}

    def boundary(self) -> list[BoundaryCondition]:
        given: list[BoundaryCondition] = [Dirichlet("t=0", "x=-1", "x=1", lambda p: -jnp.sin(jnp.pi * p.x))]
        if self.final_data:
            given.append(Dirichlet("t=1", lambda p, nu: references.cole_hopf(p.x, p.t, nu, jnp)))
        return given

    def reference(self, nu: float) -> ReferenceFunction:
        return references.burgers(nu)
