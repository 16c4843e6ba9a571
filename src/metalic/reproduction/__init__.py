"""Reproduce the paper's tables and figures, one command each.

    online        accumulated error against plays: Single and Seq, UCB and TS, against random sets
    offline       Table 1: unseen PDEs, every method
    pointwise     error maps at s = 46.1, beta = 24.02, rho = 4.1, nu = 0.0036
    analysis      sets, conditions and errors against the parameter, over the unseen PDEs
    sampling      the preliminary study: sampling and weights, PINN and XPINN
    combinations  the preliminary study: eight sets at unit weights
    regret        cumulative regret and the theorem's bound
    claims        each claim of the paper: confirmed, not confirmed, or not decided

Every item writes a figure (PDF and PNG), its numbers (csv) and a table next to the paper's (Markdown). Ledgers that
exist are read. What is missing is run and kept in the output directory, so that the same command continues where it was
stopped. With `run=False` it is left out, so that a campaign can be inspected before it has ended. Scale `small` runs
everything in seconds, with tiny networks; it only shows that the machinery works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..registry import Registry
from .campaign import SCALES, Campaign, Item, Made

ITEMS: Registry[Item] = Registry("item", Item, __name__, StudyError, instances=True)


def reproduce(
    item: str,
    out: str | os.PathLike[str],
    *,
    scale: str = "full",
    ledgers: str | os.PathLike[str] | None = None,
    families: Sequence[str] | None = None,
    schedule: Any = None,
    workers: int | str | Any = 1,
    run: bool = True,
    protocol: str | None = None,
    progress: Callable[[str], Any] | None = None,
) -> Made:
    """Make one item and write it to a directory.

    Args:
        item: A key of `ITEMS`, or the place of your own (`file.py:NAME`).
        out: The directory; created if it does not exist.
        scale: 'full' as in the paper, or 'small'.
        ledgers: A directory of ledgers and offline tests to read.
        families: The families; all of the scale by default.
        schedule: A schedule other than the scale's.
        workers: As in `Study.play`.
        run: Whether to run what is missing.
        protocol: The settings of published experiments ('authors').
        progress: `progress(text)` is a context manager that gives the progress callback of one run.

    Returns:
        The table and the files written.

    Raises:
        StudyError: An argument is not allowed, or there is nothing to make the item from.

    Example:
        >>> import tempfile
        >>> made = reproduce("regret", tempfile.mkdtemp(), scale="small")
        >>> made.table.columns
        ('policy', 'regret after 60 plays', 'per play', 'growth exponent')
    """
    wanted = ITEMS.find(item)
    if scale not in SCALES:
        raise StudyError(f"no scale '{scale}': allowed are {', '.join(SCALES)}")
    campaign = Campaign(Path(out), SCALES[scale], ledgers, families, schedule, workers, run, progress, protocol)
    return wanted.make(campaign)
