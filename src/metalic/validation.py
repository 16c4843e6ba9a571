"""What users give where a number belongs: Python's and NumPy's numbers alike, as plain ones; nothing else."""

from __future__ import annotations

import math
import operator
from typing import Any


def integer(value: Any, least: int = 0) -> int | None:
    """A whole number of at least `least`, or None if it is not one; True and False are not numbers."""
    if isinstance(value, bool):
        return None
    try:
        found = operator.index(value)
    except TypeError:
        return None
    return found if found >= least else None


def real(value: Any, least: float = -math.inf) -> float | None:
    """A finite number of at least `least`, or None if it is not one. Text is not a number, nor is an array."""
    if isinstance(value, bool | str | bytes) or getattr(value, "shape", ()) != ():
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= least else None
