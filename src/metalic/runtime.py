"""Set up a process before JAX starts: one core, and compiled programs kept between runs.

Only the command line and the workers of a study call this; importing the library changes nothing in your process.
One core is deliberate: these networks do not gain from a second thread, plays run in parallel instead, and on one core
the same seed gives the same bits.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def prepare(core: int | None = None, pin: bool = True) -> None:
    """Pin this process to one core and keep compiled programs on disk.

    Args:
        core: The core, counted among those allowed; by default the one that the process runs on.
        pin: Whether to pin the process.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if pin and hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {_current_core(allowed) if core is None else allowed[core % len(allowed)]})
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        place = cache_directory()
        if place is not None:
            os.environ["JAX_COMPILATION_CACHE_DIR"] = str(place)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


def cache_directory() -> Path | None:
    """Where compiled programs are kept (METALIC_CACHE overrides); None if it cannot be written."""
    given = os.environ.get("METALIC_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "metalic"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return base / "programs" if os.access(base, os.W_OK) else None


def _current_core(allowed: list[int]) -> int:
    """The core this process runs on, so that two processes started together seldom share one."""
    try:
        core = ctypes.CDLL(None).sched_getcpu()
    except (OSError, AttributeError):
        return allowed[0]
    return core if core in allowed else allowed[0]
