"""Set-up of a Dask worker process before JAX starts in it: `dask worker ... --preload metalic.study.dask_preload`.

The worker is pinned to one core (workers of a local cluster to one each) and keeps compiled programs on disk. Ctrl-C
in a terminal reaches every process of the group. Workers ignore it; the driver handles it and lets plays in flight
finish.
"""

from __future__ import annotations

import multiprocessing
import signal
from typing import Any

from .. import runtime


def dask_setup(worker: Any) -> None:
    """Called by Dask in the worker's process, in its main thread, before the first task."""
    runtime.prepare(core=worker.name if isinstance(worker.name, int) else None)
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
