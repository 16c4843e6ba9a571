"""A family that is solved in no time, and a study of it whose plays are invented, so that what is to be learned is
known: in phase 2, `x` is worth a decade and a half below a = 1.25 and costs as much above it; `u` is worth one decade
everywhere; nothing else matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tiny import Tiny

import metalic as mt
from metalic.study import PhaseRow, Study
from metalic.study.play import Outcome, Task

SCHEDULE = mt.Schedule("tiny-decay", (mt.Phase(mt.Adam(1e-2), 5), mt.Phase(mt.Adam(1e-2), 5)))
SOLVER: dict[str, Any] = {"hidden": (3,)}


class Decay(Tiny):
    """The family of tiny.py under a name of its own."""

    name = "decay"


class Hostile(Decay):
    """A name that would break a page that believed it."""

    name = "<script>alert(1)</script>&\"'"


def reward(a: float, arm: tuple[int, ...]) -> float:
    """What a set is worth in phase 2."""
    u, _, x = arm
    return 1.0 + u + 1.5 * x * (1 if a < 1.25 else -1)


def invented(task: Task) -> Outcome:
    """A play whose second phase is worth what `reward` says, with a little noise."""
    rows, loss = [], None
    for phase in range(2):
        decision = task.chooser.choose(phase, loss)
        noise = 0.05 * np.random.default_rng([task.seed, phase]).standard_normal()
        worth = 0.5 + noise if phase == 0 else reward(task.parameters["a"], decision.conditions.bits) + noise
        loss = 0.1
        rows.append(PhaseRow.of(decision, reward=worth, error=10**-worth, loss=loss, seconds=0.1, iterations=5))
    return Outcome("done", tuple(rows), {"python": "3"}, "<b>here</b>")


def play(
    path: Path, plays: int, family: Any = Decay, bandit: Any = None, seed: int = 3, schedule: Any = SCHEDULE
) -> Path:
    """A study with this many invented plays."""
    bandit = mt.Sequential(policy=mt.Random()) if bandit is None else bandit
    with Study(path, family, bandit, schedule, seed=seed, solver=SOLVER) as study:
        for _ in range(plays):
            task = study.ask()
            study.tell(task, invented(task))
    return path
