"""Poisson's equation with a source that sharpens with its parameter.

u_xx + u_yy = f(x, y; s) on [0, 1]^2, u = 0 on the boundary; cut at y = 0.5; s in [0, 50]
f = g(x) g(y), g(x) = [erf((x - 1/4) s) - erf((x - 3/4) s)] / (2 erf(s/4)), whose limit for s -> 0 is 1.
`boundary_data="source"` gives u = f on the boundary instead of 0, as the experiments of the paper's authors do.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

from ..errors import FamilyError
from ..geometry import Box, Decomposition, split
from . import references
from .base import Family, ReferenceFunction
from .boundary import BoundaryCondition, Dirichlet


def _bump(x: Any, s: Any) -> Any:
    """g(x), also at s = 0, where the quotient is 0/0: there s is replaced by a number whose g is 1 to rounding."""
    s = jnp.where(s < 1e-6, 1e-6, s)
    return (erf((x - 0.25) * s) - erf((x - 0.75) * s)) / (2 * erf(s / 4))


def _on_boundary(given: str) -> bool:
    """Whether the source is given on the boundary."""
    if given not in ("zero", "source"):
        raise FamilyError(f"Poisson's boundary_data is 'zero' or 'source', not {given!r}")
    return given == "source"


class Poisson(Family):
    name = "poisson"
    title = "u_xx + u_yy = f(x, y; s)"
    parameters = {"s": (0.0, 50.0)}
    domain = Box(x=(0, 1), y=(0, 1))
    decomposition = split(domain, y=[0.5])
    conditions = ("u", "uavg", "r", "rc", "gr", "c", "x", "xx", "yy")  # the flux across y = 0.5 is u_y: c is y
    default_conditions = ("u", "c")
    grid = (101, 101)
    boundary_data = "zero"

    def __init__(self, boundary_data: str = "zero"):
        if _on_boundary(boundary_data):  # ledgers older than this option do not have it
            self.boundary_data = boundary_data

    def decompose(self, cut: float = 0.5, parts: int = 2) -> Decomposition:
        """`cut`: where the first part ends; the rest is divided equally into the others."""
        return split(self.domain, y=np.linspace(cut, 1, parts)[:-1])

    def residual(self, u: Any, p: Any, s: Any) -> Any:
        return u.laplacian("x", "y") - _bump(p.x, s) * _bump(p.y, s)

    def flux(self, u: Any, p: Any, s: Any) -> dict[str, Any]:
        return {"x": u.x, "y": u.y}

    def boundary(self) -> list[BoundaryCondition]:
        given: Any = (lambda p, s: _bump(p.x, s) * _bump(p.y, s)) if _on_boundary(self.boundary_data) else 0.0
        return [Dirichlet("x=0", "x=1", "y=0", "y=1", given)]

    def reference(self, s: float) -> ReferenceFunction:
        return (references.poisson_source_on_boundary if _on_boundary(self.boundary_data) else references.poisson)(s)


class PoissonUnit(Family):
    """u_xx + u_yy = 1: the problem of the paper's preliminary study."""

    name = "poisson-unit"
    title = "u_xx + u_yy = 1"
    domain = Poisson.domain
    decomposition = Poisson.decomposition
    conditions = Poisson.conditions
    default_conditions = ("uavg", "c", "yy")
    grid = (101, 101)
    boundary_data = "zero"

    def __init__(self, boundary_data: str = "zero"):
        if _on_boundary(boundary_data):
            self.boundary_data = boundary_data

    def decompose(self, cut: float = 0.5, parts: int = 2) -> Decomposition:
        """`cut`: where the first part ends; the rest is divided equally into the others."""
        return split(self.domain, y=np.linspace(cut, 1, parts)[:-1])

    def residual(self, u: Any, p: Any) -> Any:
        return u.laplacian("x", "y") - 1.0

    def flux(self, u: Any, p: Any) -> dict[str, Any]:
        return {"x": u.x, "y": u.y}

    def boundary(self) -> list[BoundaryCondition]:
        return [Dirichlet("x=0", "x=1", "y=0", "y=1", float(_on_boundary(self.boundary_data)))]

    def reference(self) -> ReferenceFunction:
        return (references.poisson_source_on_boundary if _on_boundary(self.boundary_data) else references.poisson)(0.0)
