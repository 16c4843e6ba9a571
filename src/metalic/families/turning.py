"""A turning point: convection changes its direction at x = 0, where a layer joins two smooth parts.

    eps u'' + x u' = -eps pi^2 cos(pi x) - pi x sin(pi x), x in [-1, 1], u(-1) = -2, u(1) = 0; eps in [0.0005, 0.1]
    u = cos(pi x) + erf(x / sqrt(2 eps)) / erf(1 / sqrt(2 eps))

Two subdomains: the strip |x| <= 0.2 around the layer, and the two outer parts together. The layer is about
2 sqrt(2 eps) wide on either side, and the half-width of the strip is a choice: `strip`.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import erf

from ..geometry import Box, Decomposition, Points
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet

DOMAIN = Box(x=(-1, 1))


def strips(half_width: float) -> Decomposition:
    """The strip around the layer, and the two outer parts together."""
    outer = [DOMAIN.replaced(x=(-1, -half_width)), DOMAIN.replaced(x=(half_width, 1))]
    return Decomposition(DOMAIN, {"inner": DOMAIN.replaced(x=(-half_width, half_width)), "outer": outer})


class Turning(Family):
    name = "turning"
    title = "eps u'' + x u' = f"
    parameters = {"eps": (0.0005, 0.1)}
    domain = DOMAIN
    decomposition = strips(0.2)
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx")
    default_conditions = ("u", "c")
    points = Points(collocation=200, boundary=2, interface=2)
    solver_options = {"hidden": (10, 10)}
    grid = (1001,)

    def decompose(self, strip: float = 0.2) -> Decomposition:
        """`strip`: half the width of the inner strip, 0.01 to 0.9."""
        return strips(strip)

    def residual(self, u: Any, p: Any, eps: Any) -> Any:
        wave = jnp.pi * p.x
        return eps * u.xx + p.x * u.x + eps * jnp.pi**2 * jnp.cos(wave) + wave * jnp.sin(wave)

    def flux(self, u: Any, p: Any, eps: Any) -> dict[str, Any]:
        return {"x": eps * u.x}

    def boundary(self) -> list[BoundaryCondition]:
        return [Dirichlet("x=-1", -2.0), Dirichlet("x=1", 0.0)]

    def reference(self, eps: float) -> ReferenceFunction:
        width = np.sqrt(2 * eps)
        return lambda points: np.cos(np.pi * points[:, 0]) + erf(points[:, 0] / width) / erf(1 / width)
