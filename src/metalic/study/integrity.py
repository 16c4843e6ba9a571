"""The integrity of a ledger: checksums of plays and settings, and plausibility of each row.

SQLite detects damage to the structure of a file, but not to the values in its rows. Files of schema version 1 have no
checksums; only implausible values are detected there.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from .rows import STATUSES, PhaseRow, PlayRow


def checksum(values: Iterable[Any]) -> str:
    """The checksum of values as SQLite returns them."""
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def check_rows(rows: Sequence[PlayRow], gaps: bool = False) -> None:
    """Check all rows of a ledger.

    Args:
        rows: The rows.
        gaps: Whether numbers may have gaps.

    Raises:
        ValueError: No study can have written these rows.
    """
    numbers = [row.number for row in rows]
    if not gaps and numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise ValueError("the numbers of the plays have a gap")
    for row in rows:
        if found := problem(row, len(rows)):
            raise ValueError(f"play {row.number}: {found}")


def problem(row: PlayRow, rows: int) -> str:
    """What is wrong with a row of a ledger that has this many `rows`; '' if nothing is."""
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
            return "a phase with a value that is not a number"
    return ""


def _plain(phase: PhaseRow) -> bool:
    values = (phase.mean, phase.std, phase.error, phase.loss, phase.seconds, phase.iterations)
    return all(value is None or isinstance(value, int | float) for value in values)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
