"""A family that may be cut in several places, and invented plays of it whose truth is known.

In a world that differs, where a < 1.25 the cut 0.3 is worth 0.6 decades more than the usual 0.5, elsewhere 0.7 is worth
0.5 and `x` another 0.4; `uavg` costs 0.3 everywhere. In a world that is level nothing matters. Two plays with one seed
share most of their noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tiny import Tiny

import metalic as mt
from metalic.study import PhaseRow, Study
from metalic.study.play import Outcome, Task

SCHEDULE = mt.Schedule("tiny-pairs", (mt.Phase(mt.Adam(1e-2), 5),))
CUTS = {"cut": [0.3, 0.5, 0.7]}
SHARED, OWN = 0.3, 0.15


class Cuttable(Tiny):
    """The family of tiny.py, cut where one likes; the champion is {u} with the cut 0.5."""

    name = "cuttable"
    default_conditions = ("u",)

    def decompose(self, cut: float = 0.5, parts: int = 2) -> mt.Decomposition:
        return mt.split(self.domain, t=np.linspace(cut, 1, parts)[:-1])


def gain(a: float, bits: tuple[int, ...], cut: float) -> float:
    """What an arm is worth more than the champion."""
    u, uavg, x = bits
    by_cut = {0.3: 0.6, 0.7: -0.3} if a < 1.25 else {0.3: -0.3, 0.7: 0.5}
    return by_cut.get(cut, 0.0) + (0.4 * x if a >= 1.25 else 0.0) - 0.3 * uavg - 1.0 * (1 - u)


def invented(task: Task, differs: bool = True) -> Outcome:
    """A play without a PDE."""
    decision = task.chooser.choose(0, None)
    bits, cut = decision.conditions.bits, float(task.choices.get("cut", 0.5))
    shared = SHARED * np.random.default_rng([task.seed, 0]).standard_normal()
    own = OWN * np.random.default_rng([task.seed, 1, *bits, int(10 * cut)]).standard_normal()
    worth = 3.0 - task.parameters["a"] + shared + own + (gain(task.parameters["a"], bits, cut) if differs else 0.0)
    row = PhaseRow.of(decision, reward=float(worth), error=float(10**-worth), loss=0.1, seconds=0.1, iterations=5)
    return Outcome("done", (row,), {"python": "3"}, "here")


def level(task: Task) -> Outcome:
    """A play in the world where nothing matters."""
    return invented(task, differs=False)


def play(path: Path, plays: int, player: Any = invented, seed: int = 0, **settings: Any) -> Study:
    """A study with this many invented plays, open."""
    given: dict[str, Any] = {"choices": CUTS, "solver": {"hidden": (3,)}} | settings
    study = Study(path, Cuttable, given.pop("bandit", mt.Paired()), SCHEDULE, seed=seed, **given)
    for _ in range(plays):
        task = study.ask()
        study.tell(task, player(task))
    return study
