"""One play, as a task that can be run anywhere and the outcome that comes back.

A task carries what is needed to play without the ledger: the PDE, the first decision, and the finished plays from
which the later phases' decisions follow. The fitted models are not sent: `Learned` pickles its plays alone and refits
where it lands, to the same numbers.
"""

from __future__ import annotations

import platform
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from ..bandit import Decision, Learned
from ..bandit import Play as Played
from ..conditions import Catalogue
from ..families.base import Family
from ..pinn import Solution, solve
from ..pinn.problem import Sampler
from ..pinn.schedule import Schedule
from ..pinn.solution import ERROR_CAP
from .reward import Reward
from .rows import DIVERGED, DONE, PhaseRow


@dataclass(frozen=True)
class Task:
    """A play to be played. `turn` is its number for the policy, `key` decides all that is random in decisions."""

    number: int
    family: Family
    parameters: Mapping[str, float]
    seed: int
    schedule: Schedule
    solver: Mapping[str, Any]
    reward: Reward
    first: Decision
    learned: Learned
    pending: tuple[Played, ...]
    turn: int
    key: tuple[int, ...]

    def decide(self, phase: int, loss: float | None) -> Decision:
        """The decision for a phase; with one decision a play, the first holds throughout."""
        if phase == 0 or self.learned.bandit.decisions == 1:
            return self.first
        context = tuple(self.parameters.values())
        return self.learned.decide(context, play=self.turn, key=self.key, phase=phase, loss=loss, pending=self.pending)

    def run(self) -> Outcome:
        """Play it here and now."""
        solution, decisions = self.solve()
        return Outcome(
            status=DIVERGED if solution.diverged or solution.error == ERROR_CAP else DONE,
            phases=self._rows(solution, decisions),
            versions=versions(),
            host=socket.gethostname(),
        )

    def solve(self) -> tuple[Solution, list[Decision]]:
        """The solution itself, and the decisions taken on the way."""
        decisions: list[Decision] = []

        def choose(phase: int, loss: float | None) -> Sequence[int]:
            decisions.append(self.decide(phase, loss))
            return decisions[-1].arm

        solution = solve(
            self.family,
            choose,
            self.schedule,
            seed=self.seed,
            parameters=self.parameters,
            at_phase_end=self.reward.score(self.family, self._sampler(), self.seed),
            **self.solver,
        )
        return solution, decisions

    def _sampler(self) -> Sampler:
        points = self.solver.get("points") or self.family.points
        return Sampler(self.family, points, self.solver.get("sampling") or self.schedule.sampling)

    def _rows(self, solution: Solution, decisions: Sequence[Decision]) -> tuple[PhaseRow, ...]:
        rows, seconds = [], 0.0
        for record, decision in zip(solution.phases, decisions, strict=True):
            seconds += record.seconds
            rows.append(
                PhaseRow(
                    conditions=record.conditions,
                    index=record.index,
                    arm=decision.arm,
                    mean=decision.mean,
                    std=decision.std,
                    reward=self.reward.of(record, seconds),
                    error=record.error,
                    loss=record.loss,
                    seconds=record.seconds,
                    iterations=record.iterations,
                    stop_reason=record.stop_reason,
                    optimizer=record.optimizer,
                )
            )
        return tuple(rows)

    def first_row(self) -> PhaseRow:
        """The first decision as a row, before anything has run."""
        names = Catalogue(self.family).parse(self.first.index)
        return PhaseRow(names, self.first.index, self.first.arm, self.first.mean, self.first.std)


@dataclass(frozen=True)
class Outcome:
    """What came of a play: done or diverged, with a row per phase that ran."""

    status: str
    phases: tuple[PhaseRow, ...]
    versions: Mapping[str, str]
    host: str


def run(task: Task) -> Outcome:
    """A task as a function, for workers."""
    return task.run()


@cache
def versions() -> dict[str, str]:
    """What a play was played with."""
    packages = ("metalic", "jax", "jaxlib", "numpy", "scipy")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
