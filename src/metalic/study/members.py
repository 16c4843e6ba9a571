"""A solved member of a family, as a library keeps it: one row of a ledger with its networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..conditions import Catalogue
from ..families.base import Family
from ..pinn.check import WRONG
from ..pinn.optimizers import Status
from ..pinn.solution import PhaseRecord, Solution
from .networks import Networks
from .play import versions
from .rows import DIVERGED, DONE, PhaseRow, PlayRow

ACCURATE = 1e-7  # an error below which members need not be compared
WORST = 1e-2  # error or estimate of a member that is still used


@dataclass(frozen=True)
class Member:
    """A solved member."""

    row: PlayRow
    networks: Networks

    @property
    def parameters(self) -> dict[str, float]:
        return self.row.parameters

    @property
    def error(self) -> float | None:
        return self.row.error

    @property
    def loss(self) -> float:
        loss = self.row.phases[-1].loss
        return float("inf") if loss is None else loss

    @property
    def conditions(self) -> tuple[str, ...]:
        """The set of its last phase."""
        return self.row.phases[-1].conditions

    @property
    def measure(self) -> float | None:
        """The error, or its estimate where there is no reference."""
        return self.row.estimate if self.row.error is None else self.row.error

    @property
    def level(self) -> float:
        """The loss that tells a good solve from a bad one: its own, or that of an error of 1e-7, if its own is smaller.
        (A loss falls like the square of the error.) A member may be more accurate than others need to be."""
        return self.loss if not self.measure else self.loss * max(1.0, ACCURATE / self.measure) ** 2

    @property
    def usable(self) -> bool:
        """Whether a solve may start from it."""
        good = self.row.status == DONE and self.row.verdict != WRONG and bool(np.isfinite(self.networks.theta).all())
        return good and (self.measure is None or self.measure <= WORST)

    def solution(self, family: Family) -> Solution:
        """The solution as it was kept: its networks, without points and history."""
        one = self.networks
        return Solution(
            family=family,
            parameters=self.parameters,
            theta=np.asarray(one.theta, dtype=float),
            hidden=one.hidden,
            activation=one.activation,
            centre=one.centre,
            slope=one.slope,
            phases=(replace(untrained(self), error=self.error, loss=self.loss),),
            schedule="none",
            seed=self.row.seed,
            collocation=tuple(np.zeros((0, len(family.coordinates))) for _ in one.theta),
        )


def untrained(member: Member) -> PhaseRecord:
    last = member.row.phases[-1]
    parts: dict[str, Any] = {"iterations": 0, "seconds": 0.0, "compile_seconds": 0.0, "loss": float("nan")}
    return PhaseRecord("none", last.conditions, last.index, **parts, error=None, status=Status.BUDGET, history=())


def row_of(solution: Solution, number: int) -> PlayRow:
    """A solution as a play of a ledger."""
    names = Catalogue(solution.family).names
    phases = tuple(
        PhaseRow(
            conditions=phase.conditions,
            index=phase.index,
            arm=tuple(int(name in phase.conditions) for name in names),
            reward=0.0 if phase.error is None else -float(np.log10(max(phase.error, 1e-300))),
            error=phase.error,
            loss=phase.loss,
            seconds=phase.seconds,
            iterations=phase.iterations,
            stop_reason=phase.stop_reason,
            optimizer=phase.optimizer,
        )
        for phase in solution.phases
    )
    return PlayRow(
        number=number,
        status=DIVERGED if solution.diverged else DONE,
        parameters={name: float(value) for name, value in solution.parameters.items()},
        seed=solution.seed,
        phases=phases,
        versions=versions(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        estimate=None if solution.checked is None else solution.checked.estimate,
        verdict=None if solution.checked is None else solution.checked.verdict,
    )
