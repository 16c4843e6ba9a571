"""What the experiments read from ledgers."""

from pathlib import Path

from metalic import Study
from metalic.study import PlayRow


def finished_rows(path: Path) -> tuple[str, list[PlayRow]]:
    """The family of a ledger and its finished plays, in order."""
    with Study(path, read_only=True) as study:
        return study.family.name, [row for row in study.plays if row.taught]
