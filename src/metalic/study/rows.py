"""The rows of a ledger: a play, and each of its phases. Plain values, no JAX."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, overload

from ..choices import levels_text
from ..sets import NONE, ConditionSet, Decision

if TYPE_CHECKING:
    from .play import Outcome

LONGEST_MESSAGE = 2000  # characters of an exception that are kept
RUNNING, DONE, DIVERGED, FAILED = "running", "done", "diverged", "failed"
STATUSES = (RUNNING, DONE, DIVERGED, FAILED)


@dataclass(frozen=True)
class PhaseRow:
    """A phase of a play: the decision, and its outcome once it has run.

    `mean` and `std` are the reward model's prediction of the phase's target, None if the policy uses no model.
    `reward`, `error` and `loss` are the values at the end of the phase.
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

    @classmethod
    def of(cls, decision: Decision, **outcome: Any) -> PhaseRow:
        """The row of a decision and its outcome."""
        chosen = decision.conditions
        return cls(chosen.names, chosen.index, chosen.bits, decision.mean, decision.std, **outcome)

    def decision(self, known: tuple[str, ...]) -> Decision:
        """The decision of the row; `known` are all conditions of the family."""
        return Decision(ConditionSet(known, self.arm), self.mean, self.std)


@dataclass(frozen=True)
class PlayRow:
    """A play. Numbers start at 1; borrowed plays have numbers up to 0.

    `seen` are the finished plays that the decision was based on, `pending` those in flight at that time. `started` and
    `finished` are times. `estimate` and `verdict` come from a check of the solution, `pair` is a number that two plays
    on the same PDE and seed share, and `choices` are decisions other than sets, by name; None where there are none.
    """

    number: int
    status: str
    parameters: dict[str, float]
    seed: int
    phases: tuple[PhaseRow, ...]
    seen: Sequence[int] = ()
    pending: Sequence[int] = ()
    borrowed: bool = False
    attempts: int = 0
    message: str | None = None
    versions: dict[str, str] | None = None
    host: str | None = None
    started: str | None = None
    finished: str | None = None
    estimate: float | None = None
    verdict: str | None = None
    pair: int | None = None
    choices: dict[str, Any] | None = None

    @property
    def taught(self) -> bool:
        """Whether a reward model learns from it: from diverged plays it does, from failed ones it does not."""
        return self.status in (DONE, DIVERGED)

    @property
    def error(self) -> float | None:
        return self.phases[-1].error if self.phases else None

    @property
    def reward(self) -> float | None:
        return self.phases[-1].reward if self.phases else None

    @property
    def sets(self) -> str:
        """The sets by name, in the notation of `solve`: 'u,c' or 'u,c;u'."""
        names = [",".join(phase.conditions) or NONE for phase in self.phases]
        return names[0] if len(set(names)) == 1 else ";".join(names)

    def first_decision(self, known: tuple[str, ...]) -> Decision:
        """The decision that was taken before the play began; `known` are all conditions of the family."""
        return replace(self.phases[0].decision(known), choices=dict(self.choices or {}))

    @property
    def arm(self) -> str:
        """The sets, and the levels of choices: 'u,c strip=0.1'."""
        return " ".join(filter(None, (self.sets, levels_text(self.choices or {}))))

    def finish(self, result: Outcome | Exception, attempts: int) -> PlayRow:
        """The row with the outcome of the play, or with the exception by which it failed for good."""
        row = replace(self, attempts=attempts, finished=now())
        if isinstance(result, Exception):
            message = f"{type(result).__name__}: {result}"[:LONGEST_MESSAGE]
            return replace(row, status=FAILED, message=message.encode("utf-8", "replace").decode())
        versions, phases = dict(result.versions), tuple(result.phases)
        row = replace(row, status=result.status, phases=phases, versions=versions, host=result.host)
        return replace(row, estimate=result.estimate, verdict=result.verdict)

    def same_outcome(self, other: PlayRow) -> bool:
        """Whether two rows agree in everything except times."""
        return _timeless(self) == _timeless(other)


def now() -> str:
    """The time, as it is written in a ledger."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _timeless(row: PlayRow) -> dict[str, Any]:
    values = dict(vars(row), started=None, finished=None)
    return values | {"phases": [dict(vars(phase), seconds=None) for phase in row.phases]}


class Numbers(Sequence[int]):
    """Numbers of plays in increasing order, stored as ranges: 10 000 consecutive plays are one pair of numbers."""

    def __init__(self, ranges: Iterable[Iterable[int]]):
        self.ranges: tuple[range, ...] = tuple(range(first, last + 1) for first, last in ranges)
        if any(a.stop >= b.start for a, b in zip(self.ranges, self.ranges[1:])) or not all(self.ranges):
            raise ValueError(f"ranges of plays that overlap or are empty: {self.to_list()}")
        self._starts = [0]
        for one in self.ranges:
            self._starts.append(self._starts[-1] + len(one))

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Numbers:
        """Store [1, 2, 3, 7] as 1-3 and 7-7."""
        if isinstance(numbers, cls):
            return numbers
        found: list[list[int]] = []
        for number in sorted(numbers):
            if found and number == found[-1][1] + 1:
                found[-1][1] = number
            else:
                found.append([number, number])
        return cls(found)

    def to_list(self) -> list[list[int]]:
        """[[first, last], ...], ready for JSON."""
        return [[one.start, one.stop - 1] for one in self.ranges]

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[int]:
        for one in self.ranges:
            yield from one

    def __contains__(self, number: object) -> bool:
        return any(number in one for one in self.ranges)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...

    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        part = bisect_right(self._starts, place) - 1
        return self.ranges[part][place - self._starts[part]]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbers):
            return self.ranges == other.ranges
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Numbers({self.to_list()})"
