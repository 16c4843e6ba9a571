"""Repeat plays and decisions from the rows of a ledger, and compare them with what was written.

A decision follows from the rows that it has seen and from the play's key, a play from its row. On the machine that
made the ledger, with the same versions and on one core, both are reproduced bit for bit. Elsewhere rounding differs,
and the distance is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..chooser import FixedChooser
from ..errors import StudyError
from ..sets import Decision, Level
from .play import Task
from .rows import PhaseRow, PlayRow
from .study import Study


@dataclass(frozen=True)
class Redecision:
    """One repeated decision.

    `shift` is the largest change of the reward model's prediction for the set that was played (mean or deviation, in
    decades). It is 0 if the policy uses no model and infinite if another set was chosen.
    """

    play: int
    phase: int
    written: tuple[str, ...]
    found: tuple[str, ...]
    shift: float
    written_choices: Mapping[str, Level] = field(default_factory=dict)
    found_choices: Mapping[str, Level] = field(default_factory=dict)

    @property
    def reproduced(self) -> bool:
        """Whether the same arm was chosen."""
        return self.written == self.found and self.written_choices == self.found_choices

    @property
    def identical(self) -> bool:
        return self.shift == 0.0

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "play": self.play,
            "phase": self.phase,
            "written": list(self.written),
            "found": list(self.found),
            **({"choices": [self.written_choices, self.found_choices]} if self.written_choices else {}),
            "reproduced": self.reproduced,
            "identical": self.identical,
            "shift": self.shift if math.isfinite(self.shift) else None,
        }


@dataclass(frozen=True)
class Replay:
    """A repeated play. `identical`: everything except times is the same, bit for bit."""

    play: int
    written: tuple[PhaseRow, ...]
    found: tuple[PhaseRow, ...]
    decisions: tuple[Redecision, ...]
    identical: bool
    elsewhere: dict[str, tuple[str | None, str | None]]
    """Versions and host, if they differ: (then, now)."""

    @property
    def distance(self) -> float:
        """The largest relative difference of an error or a loss; infinite if phases, sets or stop reasons differ."""
        if [_course(phase) for phase in self.written] != [_course(phase) for phase in self.found]:
            return math.inf
        pairs = [
            pair
            for a, b in zip(self.written, self.found, strict=True)
            for pair in ((a.error, b.error), (a.loss, b.loss))
        ]
        return max((_relative(a, b) for a, b in pairs), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "play": self.play,
            "identical": self.identical,
            "distance": self.distance if math.isfinite(self.distance) else None,
            "phases": [
                {
                    "conditions": list(a.conditions),
                    "error": [a.error, b.error],
                    "loss": [_finite(a.loss), _finite(b.loss)],
                }
                for a, b in zip(self.written, self.found, strict=False)
            ],
            "decisions": [decision.to_dict() for decision in self.decisions],
            "elsewhere": {name: list(pair) for name, pair in self.elsewhere.items()},
        }


def replay(study: Study, number: int) -> Replay:
    """Repeat a finished play with the decisions that were written, and repeat its decisions.

    Args:
        study: The study.
        number: The number of the play.

    Returns:
        The comparison with the ledger.

    Raises:
        StudyError: There is no such play, or it is not finished.
    """
    row = _find(study.plays, number)
    if not row.taught:
        raise StudyError(f"play {number} is {row.status}: there is no outcome to compare with")
    rows, names = [*study.borrowed, *study.plays], study.settings.catalogue.names
    task = study.task(row, rows, row.first_decision(names))
    written = tuple(phase.decision(names) for phase in row.phases)
    outcome = replace(task, chooser=FixedChooser(written)).run()
    decisions = tuple(_redecide(study, study.task(row, rows), row))
    timed = study.settings.reward.timed
    same = [_timeless(phase, timed) for phase in row.phases] == [_timeless(phase, timed) for phase in outcome.phases]
    then, now = {**(row.versions or {}), "host": row.host}, {**outcome.versions, "host": outcome.host}
    differing = {name: (then.get(name), now.get(name)) for name in now if then.get(name) != now.get(name)}
    return Replay(number, row.phases, outcome.phases, decisions, same and row.status == outcome.status, differing)


def redecide(study: Study, numbers: Iterable[int] | None = None) -> Iterator[Redecision]:
    """Repeat the decisions of a study without training.

    Args:
        study: The study.
        numbers: The numbers of the plays; all by default.

    Yields:
        The comparison of every decision with the ledger.
    """
    plays = study.plays
    rows = [*study.borrowed, *plays]
    wanted = plays if numbers is None else [_find(plays, number) for number in numbers]
    for row in wanted:
        if row.phases:
            yield from _redecide(study, study.task(row, rows), row)


def _redecide(study: Study, task: Task, row: PlayRow) -> Iterator[Redecision]:
    loss = None
    for phase, written in enumerate(row.phases[: study.settings.bandit.decisions]):
        found = task.chooser.choose(phase, loss)
        then, now = dict(row.choices or {}), dict(task.choices)
        shift = _shift(written, found) if then == now else math.inf
        yield Redecision(row.number, phase, written.conditions, found.conditions.names, shift, then, now)
        loss = math.nan if written.loss is None else written.loss


def _shift(written: PhaseRow, found: Decision) -> float:
    if written.index != found.conditions.index or (written.mean is None) != (found.mean is None):
        return math.inf
    if None in (written.mean, written.std, found.mean, found.std):
        return 0.0
    return max(abs(written.mean - found.mean), abs(written.std - found.std))  # type: ignore[operator]


def _find(plays: Sequence[PlayRow], number: int) -> PlayRow:
    found = next((row for row in plays if row.number == number), None)
    if found is None:
        numbers = f"1 to {plays[-1].number}" if plays else "none yet"
        raise StudyError(f"there is no play {number} in this ledger; its plays: {numbers}")
    return found


def _course(phase: PhaseRow) -> tuple[Any, ...]:
    return phase.conditions, phase.stop_reason, phase.error is None


def _timeless(phase: PhaseRow, timed: bool) -> PhaseRow:
    loss = None if phase.loss is None or math.isnan(phase.loss) else phase.loss  # the ledger has no NaN
    return replace(phase, seconds=None, loss=loss, reward=None if timed else phase.reward)


def _relative(a: float | None, b: float | None) -> float:
    if a == b or _finite(a) is _finite(b) is None:
        return 0.0
    if _finite(a) is None or _finite(b) is None:
        return math.inf
    return abs(a - b) / max(abs(a), abs(b))  # type: ignore[operator, arg-type]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
