"""The paper's tables and figures again, one command each.

    online        accumulated error against plays: Single and Seq, UCB and TS, against random sets
    offline       Table 1: unseen PDEs, every method
    pointwise     error maps at s = 46.1, beta = 24.02, rho = 4.1, nu = 0.0036
    analysis      sets, conditions and errors against the parameter, over the unseen PDEs
    sampling      the preliminary study: sampling and weights, PINN and XPINN
    combinations  the preliminary study: eight sets at unit weights
    regret        cumulative regret and the theorem's bound

Every item leaves a figure (PDF and PNG), its numbers (csv) and a table beside the paper's (Markdown). Ledgers that
exist are read; what is missing is run and kept in the output directory, so that the same command goes on where it was
stopped, or, if asked for, left out: a campaign can be looked at before it has ended. `small` runs everything in
seconds, with tiny networks: it shows that the machinery works, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from .campaign import SCALES, Made, Workshop
from .offline import analysis, offline, pointwise
from .online import online
from .preliminary import combinations, sampling
from .regret import regret

ITEMS: dict[str, Callable[[Workshop], Made]] = {
    "online": online,
    "offline": offline,
    "pointwise": pointwise,
    "analysis": analysis,
    "sampling": sampling,
    "combinations": combinations,
    "regret": regret,
}


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
    """Make one item in the directory `out`. `ledgers`: a directory of ledgers and offline tests to read; `families`:
    only these; `schedule`: another than the scale's; `run=False`: only from what there is; `protocol`: the settings of
    published experiments ('authors'); `progress(text)` gives a `progress` for each run."""
    if item not in ITEMS:
        raise StudyError(f"nothing to reproduce is called '{item}': choose one of {', '.join(ITEMS)}")
    if scale not in SCALES:
        raise StudyError(f"no scale '{scale}': allowed are {', '.join(SCALES)}")
    shop = Workshop(Path(out), SCALES[scale], ledgers, families, schedule, workers, run, progress, protocol)
    return ITEMS[item](shop)
