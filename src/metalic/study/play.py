"""One play, as a task that can be run anywhere and the outcome that comes back.

A task carries what is needed to play without the ledger: the PDE, and the chooser of its sets, which has taken the
first decision. The fitted models of a bandit are not sent: `Learned` pickles its plays alone and refits where it lands,
to the same numbers.
"""

from __future__ import annotations

import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

from ..chooser import Chooser
from ..families.base import Family
from ..pinn import Check, Solution, train
from ..pinn.check import check
from ..pinn.options import SolverOptions
from ..pinn.schedule import Schedule
from ..pinn.solution import ERROR_CAP
from ..sets import Level
from .networks import Networks
from .rewards import Reward
from .rows import DIVERGED, DONE, PhaseRow


@dataclass(frozen=True)
class Task:
    """A play to be played; its chooser has begun. `networks`: whether the outcome contains the networks; `check`:
    whether it contains an estimate of the error and a verdict; `choices`: the levels that family and options have."""

    number: int
    family: Family
    parameters: Mapping[str, float]
    seed: int
    schedule: Schedule
    options: SolverOptions
    reward: Reward
    chooser: Chooser
    networks: bool = False
    check: bool = False
    choices: Mapping[str, Level] = field(default_factory=dict)

    def run(self) -> Outcome:
        """Play it here and now."""
        solution = self.solve()
        checked = check(solution) if self.check else None
        return Outcome(
            status=DIVERGED if solution.diverged or solution.error == ERROR_CAP else DONE,
            phases=self._rows(solution),
            versions=versions(),
            host=socket.gethostname(),
            networks=Networks.of(solution) if self.networks else None,
            estimate=self._estimate(solution, checked),
            verdict=None if checked is None else checked.verdict,
        )

    def _estimate(self, solution: Solution, checked: Check | None) -> float | None:
        """From the check, or from the reward if that is the estimate."""
        if checked is not None:
            return checked.estimate
        return solution.phases[-1].score if self.reward.estimates else None

    def solve(self) -> Solution:
        """The solution itself."""
        return train(
            self.family,
            self.chooser,
            self.schedule,
            self.family.check_parameters(self.parameters),
            self.options,
            seed=self.seed,
            at_phase_end=self.reward.score(self.family, self.schedule, self.options, self.seed),
        )

    def _rows(self, solution: Solution) -> tuple[PhaseRow, ...]:
        rows, seconds = [], 0.0
        for record in solution.phases:
            assert record.decision is not None  # it was not read from a file
            seconds += record.seconds
            row = PhaseRow.of(
                record.decision,
                reward=self.reward.of(record, seconds),
                error=record.error,
                loss=record.loss,
                seconds=record.seconds,
                iterations=record.iterations,
                stop_reason=record.stop_reason,
                optimizer=record.optimizer,
            )
            rows.append(row)
        return tuple(rows)

    def first_row(self) -> PhaseRow:
        """The first decision as a row, before anything has run."""
        return PhaseRow.of(self.chooser.choose(0, None))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a play: done or diverged, with a row per phase that ran; its networks if they are kept, and an
    estimate of its error with a verdict if it was checked."""

    status: str
    phases: tuple[PhaseRow, ...]
    versions: Mapping[str, str]
    host: str
    networks: Networks | None = None
    estimate: float | None = None
    verdict: str | None = None


def run(task: Task) -> Outcome:
    """A task as a function, for workers."""
    return task.run()


@cache
def versions() -> dict[str, str]:
    """What a play was played with."""
    packages = ("metalic", "jax", "jaxlib", "numpy", "scipy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
