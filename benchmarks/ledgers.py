"""What the benchmarks read from ledgers."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from metalic import Study
from metalic.study import PlayRow


def finished(path: Path) -> tuple[str, list[PlayRow]]:
    """The family of a ledger and its finished plays, in order."""
    with Study(path, read_only=True) as study:
        return study.family.name, [row for row in study.plays if row.taught]


def errors(rows: Iterable[PlayRow]) -> np.ndarray:
    """The error of each play, at its end."""
    return np.array([row.error for row in rows], dtype=float)


def kernel(path: Path) -> str:
    """The kernel that a study has decided with."""
    with Study(path, read_only=True) as study:
        return study.settings.bandit.kernel
