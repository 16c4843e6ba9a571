"""Where plays, and members of a sweep, are run: in this process, on a Dask cluster here, or on one that exists already.

All three answer to `Pool`: tasks go in, outcomes or exceptions come out in the order in which they are ready. Workers
only play; the driver, which is this process, decides and writes.
"""

from __future__ import annotations

import logging
import pickle
import sys
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import StudyError
from ..runtime import THREADS
from ..validation import integer
from .play import run

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 5.0  # seconds to reach a scheduler


class Job(Protocol):
    """What a pool runs: a play, or a member of a sweep."""

    @property
    def number(self) -> int: ...

    def run(self) -> Any: ...


class Pool(ABC):
    """Runs tasks. `submit` returns at once, `next` waits for any task to end; an exception is a result too."""

    @abstractmethod
    def capacity(self) -> int:
        """How many tasks are worth having in flight."""

    @abstractmethod
    def submit(self, task: Job) -> None: ...

    @abstractmethod
    def next(self) -> tuple[Any, Any]: ...

    @property
    def dashboard(self) -> str:
        """Where the workers can be watched in a browser, or how that would be possible; nothing for this process."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Give back what was opened; once more does nothing."""


class InProcess(Pool):
    """One play at a time, here."""

    def __init__(self) -> None:
        self._tasks: deque[Any] = deque()

    def capacity(self) -> int:
        return 1

    def submit(self, task: Job) -> None:
        self._tasks.append(task)

    def next(self) -> tuple[Any, Any]:
        task = self._tasks.popleft()
        try:
            return task, run(task)
        except Exception as error:
            return task, error

    def close(self) -> None:
        self._tasks.clear()


class Cluster(Pool):
    """A Dask cluster. A worker that is lost costs the play it had."""

    def __init__(self, client: Client, owned: tuple[Any, ...] = ()):
        self.client, self._owned = client, owned
        self._tasks: dict[Any, Any] = {}

    def capacity(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def submit(self, task: Job) -> None:
        from .packing import packed

        self._tasks[self.client.submit(_unpack_and_run, packed((run, task)), pure=False)] = task

    def next(self) -> tuple[Any, Any]:
        from distributed import wait

        done = wait(list(self._tasks), return_when="FIRST_COMPLETED").done
        future = min(done, key=lambda one: self._tasks[one].number)
        task = self._tasks.pop(future)
        try:
            return task, future.result()
        except Exception as error:
            return task, error

    @property
    def dashboard(self) -> str:
        with suppress(KeyError):  # a scheduler without one
            if (link := self.client.dashboard_link) and not (self._owned and _watched_at() is None):
                return f"Dask's dashboard: {link}"
        return "no Dask dashboard: it needs Bokeh, pip install 'metalic[cluster]'"

    def close(self) -> None:
        if self._tasks:
            self.client.cancel(list(self._tasks))
        owned, self._owned = self._owned, ()
        self._tasks.clear()
        for thing in owned:
            thing.close()


def _unpack_and_run(packed: bytes) -> Any:
    """On a worker. What cannot be unpacked fails like a play that raises."""
    player, task = pickle.loads(packed)
    return player(task)


def open_pool(workers: Any) -> Pool:
    """A pool from `workers=`: a number, the address of a scheduler, a Dask client, or a pool that is open."""
    if isinstance(workers, Pool):
        return workers
    count = integer(workers, least=-sys.maxsize)
    if count is not None:
        if count < 1:
            raise StudyError(f"at least 1 worker is needed, not {count}")
        return InProcess() if count == 1 else _local(count)
    if isinstance(workers, str):
        return _remote(workers)
    if not hasattr(workers, "submit") or not hasattr(workers, "scheduler_info"):
        raise StudyError(f"workers is a number, an address such as 'tcp://host:8786' or a Dask client, not {workers!r}")
    return Cluster(workers)


def _local(count: int) -> Cluster:
    """This many single-threaded processes here, each on its own core before JAX starts in it (see dask_preload.py)."""
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "distributed.scheduler.allowed-failures": 0,  # a lost worker's play is retried by us
        # Dask's own has malloc give every array back at once; fetching memory again took a quarter of a play.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(THREADS, "1"),
    }
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=_watched_at(),
            silence_logs=logging.CRITICAL,
            preload=["metalic.study.dask_preload"],
        )
        client = Client(cluster)
    return Cluster(client, (client, cluster))


def _watched_at() -> str | None:
    """Dask's dashboard is on a port of its choice, for this machine only, if Bokeh is installed."""
    return "127.0.0.1:0" if find_spec("bokeh") else None


def _remote(address: str) -> Cluster:
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise StudyError(
            f"no Dask scheduler answers at '{address}' ({error}); start one with `dask scheduler`, or check the address"
        ) from error
    return Cluster(client, (client,))
