"""How a process computes: on one core if it belongs to us, with compiled programs kept between runs.

The command line and the workers of a study `prepare` their process before JAX starts. One core is deliberate: these
networks do not gain from a second thread, plays run in parallel instead, and on one core the same seed gives the same
bits. Compilation does gain: a command starts JAX with threads that may compile on all cores.

Importing the library changes nothing in your process. While a solve runs, its programs are kept on disk, unless you
have configured JAX yourself: `jax_compilation_cache_dir` says where, `JAX_ENABLE_COMPILATION_CACHE=0` turns it off.
JAX finds a program by its text, its options and the version of the compiler; the directory's name has the version and
the processor, so that no machine runs the code of another one.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MOST_BYTES = 2**30  # of programs kept; those not used for longest go first
LEAST_SECONDS = 0.5  # of compilation, for a program to be kept
HELPERS = ("llvm-worker",)  # threads of the compiler
_spare: set[int] = set()  # all cores that this process may use, if it was pinned to the one where it began


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
        _spare.update(allowed if core is None else ())
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        place = cache_directory()
        if place is not None:
            trim(place)
            os.environ["JAX_COMPILATION_CACHE_DIR"] = str(place)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(LEAST_SECONDS))


def start_jax() -> None:
    """Start JAX so that it computes with one thread but compiles on all cores, in a process that is pinned to one.

    JAX sizes its pools by the cores that it sees when it starts, the one for computing by NPROC if that is set.
    """
    if len(_spare) < 2 or "NPROC" in os.environ:
        return
    mine = os.sched_getaffinity(0)
    os.environ["NPROC"] = "1"
    os.sched_setaffinity(0, _spare)
    try:
        import jax

        jax.devices()
    finally:
        os.sched_setaffinity(0, mine)
        del os.environ["NPROC"]


def has_spare_core() -> bool:
    """Whether something can run during the training without slowing it down."""
    if not hasattr(os, "sched_getaffinity"):
        return (os.cpu_count() or 1) > 1
    return len(_spare or os.sched_getaffinity(0)) > 1


def step_aside() -> None:
    """Move the calling thread, and those of the compiler, away from the core that a pinned process trains on."""
    if len(_spare) < 2:
        return
    away = _spare - os.sched_getaffinity(0)
    if not away:  # the process is not pinned any more
        return
    os.sched_setaffinity(0, {min(away)})  # one core: with two, the compiler would write another program
    for task in Path("/proc/self/task").glob("*"):
        with suppress(OSError):  # it has ended
            if (task / "comm").read_text().startswith(HELPERS):
                os.sched_setaffinity(int(task.name), _spare)


# --- Programs on disk ------------------------------------------------------------------------------------------------

_keeping = threading.RLock()


@contextmanager
def programs_kept() -> Iterator[None]:
    """Keep the programs that are compiled in this block, unless JAX has its own orders; they are as before after it."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    config: Any = jax.config
    place = cache_directory() if config.jax_compilation_cache_dir is None else None
    if place is None or not config.jax_enable_compilation_cache or not _keeping.acquire(blocking=False):
        yield
        return
    seconds = config.jax_persistent_cache_min_compile_time_secs
    trim(place)
    try:
        compilation_cache.reset_cache()  # JAX asks only once whether there is a cache
        config.update("jax_compilation_cache_dir", str(place))
        config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
        yield
    finally:
        config.update("jax_compilation_cache_dir", None)
        config.update("jax_persistent_cache_min_compile_time_secs", seconds)
        compilation_cache.reset_cache()
        _keeping.release()


def cache_directory() -> Path | None:
    """Where compiled programs are kept (METALIC_CACHE overrides); None if it cannot be written."""
    given = os.environ.get("METALIC_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "metalic"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return base / "programs" / f"jaxlib-{version('jaxlib')}-{_processor()}" if os.access(base, os.W_OK) else None


def trim(place: Path, most: int = MOST_BYTES) -> None:
    """Delete the files that have not been used for longest, of all versions, until all together are small enough."""
    found = []
    for path in place.parent.rglob("*"):
        with suppress(OSError):  # another process deletes, too
            if path.is_file():
                used = path.stat()
                found.append((max(used.st_atime, used.st_mtime), used.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most:
            return
        with suppress(OSError):
            path.unlink()
        total -= size


def _processor() -> str:
    """A name for the kind of processor: a program may use instructions that another kind lacks."""
    text = platform.machine() + platform.processor()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        text += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _current_core(allowed: list[int]) -> int:
    """The core this process runs on, so that two processes started together seldom share one."""
    try:
        core = ctypes.CDLL(None).sched_getcpu()
    except (OSError, AttributeError):
        return allowed[0]
    return core if core in allowed else allowed[0]
