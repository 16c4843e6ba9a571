"""Validate numbers given by users: numbers of Python and NumPy are accepted and returned as plain ones."""

from __future__ import annotations

import math
import operator
from typing import Any


def integer(value: Any, least: int = 0) -> int | None:
    """Return a whole number of at least `least`, or None if the value is not one. Booleans are not numbers.

    Example:
        >>> integer(3), integer(3.0), integer(True), integer(-1)
        (3, None, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        found = operator.index(value)
    except TypeError:
        return None
    return found if found >= least else None


def real(value: Any, least: float = -math.inf) -> float | None:
    """Return a finite number of at least `least`, or None if the value is not one. Text and arrays are not numbers.

    Example:
        >>> real(3), real("3"), real(float("nan"))
        (3.0, None, None)
    """
    if isinstance(value, bool | str | bytes) or getattr(value, "shape", ()) != ():
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= least else None
