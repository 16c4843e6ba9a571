"""The rows of a ledger: a play, and each of its phases. Plain values, no JAX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

RUNNING, DONE, DIVERGED, FAILED = "running", "done", "diverged", "failed"
STATUSES = (RUNNING, DONE, DIVERGED, FAILED)


@dataclass(frozen=True)
class PhaseRow:
    """A phase of a play: the decision, and (once it has run) what came of it.

    `mean` and `std` are what the reward model expected of the phase's target, None if the policy did not look;
    `reward`, `error` and `loss` are those at the end of the phase.
    """

    conditions: tuple[str, ...]
    index: int
    arm: tuple[int, ...]
    mean: float | None = None
    std: float | None = None
    reward: float | None = None
    error: float | None = None
    loss: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    stop_reason: str | None = None
    optimizer: str | None = None


@dataclass(frozen=True)
class PlayRow:
    """A play. Numbers run from 1; borrowed plays have numbers up to 0. `seen` are the finished plays that the
    decision was taken from, `pending` those that were in flight."""

    number: int
    status: str
    parameters: dict[str, float]
    seed: int
    phases: tuple[PhaseRow, ...]
    seen: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()
    borrowed: bool = False
    attempts: int = 0
    message: str | None = None
    versions: dict[str, str] | None = None
    host: str | None = None
    started: str | None = None
    finished: str | None = None

    @property
    def taught(self) -> bool:
        """Whether a reward model learns from it: a diverged play is an outcome, a failed one says nothing."""
        return self.status in (DONE, DIVERGED)

    @property
    def error(self) -> float | None:
        return self.phases[-1].error if self.phases else None

    @property
    def reward(self) -> float | None:
        return self.phases[-1].reward if self.phases else None

    @property
    def sets(self) -> str:
        """The sets by name, as a solve takes them: 'u,c' or 'u,c;u'."""
        names = [",".join(phase.conditions) or "none" for phase in self.phases]
        return names[0] if len(set(names)) == 1 else ";".join(names)

    def same_outcome(self, other: PlayRow) -> bool:
        """Whether two rows agree in everything but times."""
        return _timeless(self) == _timeless(other)


def _timeless(row: PlayRow) -> dict[str, Any]:
    values = dict(vars(row), started=None, finished=None)
    return values | {"phases": [dict(vars(phase), seconds=None) for phase in row.phases]}


def to_ranges(numbers: Iterable[int]) -> list[list[int]]:
    """[1, 2, 3, 7] -> [[1, 3], [7, 7]]: what a decision saw, in little space."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def from_ranges(ranges: Iterable[Iterable[int]]) -> tuple[int, ...]:
    return tuple(number for first, last in ranges for number in range(first, last + 1))
