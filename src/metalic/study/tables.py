"""A ledger as a flat table, a row per play, and its export to csv, json and parquet."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from ..atomic import a_path, write_whole
from ..errors import FileError
from .rows import PhaseRow, PlayRow

FORMATS = (".csv", ".json", ".parquet")
BEFORE = ("number", "status", "borrowed")
AFTER = ("estimate", "verdict", "attempts", "message", "host", "started", "finished")


def flat(plays: Sequence[PlayRow]) -> list[dict[str, Any]]:
    """A dict per play, all with the same keys: parameters by name, then `error_1`, `error_2`... for the phases."""
    phases = max((len(play.phases) for play in plays), default=0)
    more = ["pair"] if any(play.pair is not None for play in plays) else []
    choices = list(dict.fromkeys(name for play in plays for name in play.choices or {}))
    return [_flat(play, phases, more, choices) for play in plays]


def _flat(play: PlayRow, phases: int, more: Sequence[str], choices: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(play, name) for name in BEFORE}
    row |= {**play.parameters, "seed": play.seed, "reward": play.reward, "error": play.error}
    row |= {name: getattr(play, name) for name in more} | {name: (play.choices or {}).get(name) for name in choices}
    for number in range(phases):
        phase = play.phases[number] if number < len(play.phases) else None
        for name in PhaseRow.__dataclass_fields__:
            value = getattr(phase, name) if phase is not None else None
            if name in ("conditions", "arm") and value is not None:
                value = ",".join(map(str, value))  # not 011, which readers of csv take for the number 11
            row[f"{name}_{number + 1}"] = value
    return row | {name: getattr(play, name) for name in AFTER} | {"seen": len(play.seen), "pending": len(play.pending)}


def to_pandas(plays: Sequence[PlayRow]) -> Any:
    """A pandas DataFrame with the play's number as index."""
    return _pandas("to_pandas").DataFrame(flat(plays)).set_index("number")


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise FileError(f"{what} needs pandas and pyarrow: pip install 'metalic[tables]'") from error
    return pandas


def export(plays: Sequence[PlayRow], path: str | os.PathLike[str]) -> Path:
    """Write a table to a .csv, .json or .parquet file. A file is replaced as a whole or left as it is.

    Args:
        plays: The rows.
        path: The file; its ending decides the format.

    Returns:
        The path.

    Raises:
        FileError: The ending is none of the three, the file cannot be written, or pandas is missing.
    """
    path = a_path(path)
    rows = flat(plays)
    if path.suffix == ".csv":
        return write_whole(path, lambda file: _csv(rows, file))
    if path.suffix == ".json":
        return write_whole(path, lambda file: file.write(json.dumps([_finite(row) for row in rows], indent=1).encode()))
    if path.suffix == ".parquet":
        table = _pandas("parquet").DataFrame(rows)
        return write_whole(path, lambda file: table.to_parquet(file, index=False))
    raise FileError(f"'{path}': a table is exported to {', '.join(FORMATS)}")


def csv_text(plays: Sequence[PlayRow]) -> bytes:
    """The table as the content of a .csv file."""
    file = io.BytesIO()
    _csv(flat(plays), file)
    return file.getvalue()


def _csv(rows: Sequence[dict[str, Any]], file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.DictWriter(text, list(rows[0]) if rows else list(BEFORE))
    writer.writeheader()
    writer.writerows(rows)
    text.detach()  # flushes, and leaves the file open


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
