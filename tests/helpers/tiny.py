"""A family and a schedule for which a play takes a fraction of a second, and stubs of plays that take none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import metalic as mt
from metalic.study.play import Outcome, Task
from metalic.study.rows import PhaseRow

HERE = Path(__file__).parent
METALIC = [sys.executable, "-c", "from metalic.cli import main; main()"]

SCHEDULE = mt.Schedule("tiny", (mt.Phase(mt.Adam(1e-2), 5), mt.Phase(mt.Adam(2e-2), 5)))


class Tiny(mt.Family):
    """u_t = -a u on a square cut in two; exact solution exp(-a t)."""

    name = "tiny"
    parameters = {"a": (0.5, 2.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])
    conditions = ("u", "uavg", "x")
    points = mt.Points(16, 8, 4)
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


SETTINGS: dict[str, Any] = {"schedule": SCHEDULE, "solver": {"hidden": (4,)}, "seed": 3}
RANDOM = mt.Sequential(policy=mt.Random())


def pretend(task: Task) -> Outcome:
    """A play without a PDE: rewards that follow from the arms, the context and the seed."""
    rows, loss = [], None
    for number in range(len(task.schedule.phases)):
        decision = task.chooser.choose(number, loss)
        noise = np.random.default_rng([task.seed, number]).standard_normal()
        error = float(10 ** -(sum(decision.conditions.bits) + task.parameters["a"] + 0.1 * noise))
        loss = error**2
        reward = -np.log10(error).item()
        rows.append(PhaseRow.of(decision, reward=reward, error=error, loss=loss, seconds=0.1, iterations=5))
    return Outcome("done", tuple(rows), {"python": "3"}, "here")
