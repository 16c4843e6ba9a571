"""Heat flow through a plate of two materials whose conductivities differ by a factor q.

    div(k grad u) = 0 on [0, 1]^2; k = 1 for x < 1/2, k = q for x > 1/2; q in [1, 100]
    u = (cosh(pi z) + sinh(pi z) / k) sin(pi y), z = x - 1/2, also on the boundary

At x = 1/2 both sides have the flux pi sin(pi y), so u_x jumps by the factor q: continuity of the gradient (`x`) is
right at q = 1 alone, and continuity of the flux (`c`) everywhere. The equation is divided by k on either side.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..geometry import Box, Decomposition, Points
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet

DOMAIN = Box(x=(0, 1), y=(0, 1))


def _solution(xp: Any, x: Any, y: Any, k: Any) -> Any:
    z = np.pi * (x - 0.5)
    return (xp.cosh(z) + xp.sinh(z) / k) * xp.sin(np.pi * y)


def _cut(x: float) -> Decomposition:
    return Decomposition(DOMAIN, {"left": DOMAIN.replaced(x=(0, x)), "right": DOMAIN.replaced(x=(x, 1))})


class Materials(Family):
    name = "materials"
    title = "div(k grad u) = 0"
    parameters = {"q": (1.0, 100.0)}
    domain = DOMAIN
    decomposition = _cut(0.5)
    coefficients = {"second": {"left": 0.0, "right": 1.0}}
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx")
    default_conditions = ("u", "c")
    points = Points(collocation=400, boundary=200, interface=60)
    solver_options = {"hidden": (10, 10, 10)}
    grid = (101, 101)

    def residual(self, u: Any, p: Any, q: Any) -> Any:
        return u.laplacian("x", "y")

    def flux(self, u: Any, p: Any, q: Any) -> dict[str, Any]:
        k = 1.0 + (q - 1.0) * p.second
        return {"x": k * u.x, "y": k * u.y}

    def boundary(self) -> list[BoundaryCondition]:
        def given(p: Any, q: Any) -> Any:
            return _solution(jnp, p.x, p.y, 1.0 + (q - 1.0) * p.second)

        return [Dirichlet("x=0", "x=1", "y=0", "y=1", given)]

    def reference(self, q: float) -> ReferenceFunction:
        def exact(points: np.ndarray) -> np.ndarray:
            return _solution(np, points[:, 0], points[:, 1], np.where(points[:, 0] < 0.5, 1.0, q))

        return exact
