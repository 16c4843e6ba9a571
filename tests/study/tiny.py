"""A family and settings for which a play takes a fraction of a second, shared by the tests of studies."""

from __future__ import annotations

from typing import Any

import numpy as np

import metalic as mt

Box = mt.Box(x=(0, 1), t=(0, 1))


class Tiny(mt.Family):
    """u_t = -a u, one number in x; exact solution exp(-a t)."""

    name = "tiny"
    parameters = {"a": (0.5, 2.0)}  # noqa: RUF012
    domain = Box
    decomposition = mt.split(domain, t=[0.5])
    conditions = ("u", "uavg", "x")
    grid = (5, 11)

    def residual(self, u: Any, p: Any, a: Any) -> Any:
        return u.t + a * u.value

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet("t=0", 1.0)]

    def reference(self, a: float) -> Any:
        return lambda points: np.exp(-a * points[:, 1])


class Blind(Tiny):
    """The same without a reference."""

    name = "blind"
    reference = None


SCHEDULE = mt.Schedule("tiny", (mt.Phase(mt.Adam(1e-2), 5), mt.Phase(mt.Adam(2e-2), 5)))
SOLVER = {"hidden": (4,), "points": mt.Points(16, 8, 4)}
SETTINGS: dict[str, Any] = {"schedule": SCHEDULE, "solver": SOLVER, "seed": 3}
