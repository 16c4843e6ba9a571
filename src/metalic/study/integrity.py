"""Whether what stands in a ledger is what was written: checksums of plays and settings, and the sense of each row.

SQLite notices damage to the structure of a file, not to what the rows say. Files of schema version 1 have no
checksums: there, what makes no sense is noticed and what does is believed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from .rows import STATUSES, PhaseRow, PlayRow


def checksum(values: Iterable[Any]) -> str:
    """Of values as SQLite gives them back."""
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def check_rows(rows: Sequence[PlayRow], gaps: bool = False) -> None:
    """Raise a ValueError for the first row that no study has written; `gaps`: numbers need not be consecutive."""
    numbers = [row.number for row in rows]
    if not gaps and numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise ValueError("the numbers of the plays have a gap")
    for row in rows:
        if found := problem(row, len(rows)):
            raise ValueError(f"play {row.number}: {found}")


def problem(row: PlayRow, rows: int) -> str:
    """What makes no sense in a row of a ledger with so many; '' if all does."""
    if row.status not in STATUSES or not isinstance(row.seed, int) or row.seed < 0:
        return "no status or seed"
    if not isinstance(row.parameters, dict) or not all(_number(value) for value in row.parameters.values()):
        return "parameters that are not numbers"
    if len(row.seen) + len(row.pending) > rows or any(n >= row.number for n in (*row.seen[-1:], *row.pending[-1:])):
        return "it has seen plays that came later"
    if not row.phases:
        return "it has no phases"
    if not (row.estimate is None or _number(row.estimate)) or not isinstance(row.choices, dict | None):
        return "an estimate that is not a number, or choices without names"
    for phase in row.phases:
        if not all(isinstance(name, str) for name in phase.conditions):
            return "conditions that are not names"
        if (
            any(bit not in (0, 1) for bit in phase.arm)
            or sum(bit << i for i, bit in enumerate(phase.arm)) != phase.index
        ):
            return "an arm that is not its index"
        if row.taught and not _number(phase.reward):
            return "a finished phase without a reward"
        if not _plain(phase):
            return "a phase with something else in the place of a number"
    return ""


def _plain(phase: PhaseRow) -> bool:
    values = (phase.mean, phase.std, phase.error, phase.loss, phase.seconds, phase.iterations)
    return all(value is None or isinstance(value, int | float) for value in values)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
