"""Members of a sweep in waves, so that several workers can solve them.

A wave is a set of members that start from members of earlier waves alone, or from members of the library that the sweep
does not ask for. Which wave a member is in depends only on what is asked for:

- the *net*: members at least `SPACING` of the box apart. They are solved by continuation: each wave has those that are
  nearest to the waves before it;
- all others are the last wave. Each lies between members of the net.

Members are written in their order within a wave, whoever is ready first. So neither the number of workers nor a kill
changes a member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import MetalicError
from .continuation import Pass, Step
from .driver import RETRIES
from .library import Library
from .members import Member
from .workers import Pool, open_pool

SPACING = 1 / 16  # of the unit box
DIGITS = 9  # to which distances are compared


class Draft(Library):
    """A library in memory that begins with some members of another one."""

    def __init__(self, library: Library, members: Iterable[Member]):
        vars(self).update(vars(library))
        self._writer, self.members = None, list(members)

    def _write(self, member: Member) -> Member:
        self.members = [*self.members, member]
        return member


@dataclass(frozen=True)
class MemberTask:
    """One member of a sweep, with what it may start from: the library of `run_in`."""

    number: int
    run_in: Pass
    values: Mapping[str, float]

    def run(self) -> Member:
        """Solve it here; members halfway that were needed are not kept."""
        draft = replace(self.run_in, library=Draft(self.run_in.library, self.run_in.library.members))
        return draft.member(self.values)


def waves(
    places: Float[np.ndarray, "n c"], begin: Float[np.ndarray, "b c"], spacing: float = SPACING
) -> Iterator[list[int]]:
    """The members of each wave by number, from their places in the unit box.

    Args:
        places: Where the members lie.
        begin: Where members are solved already, or where the first one should lie.
        spacing: How far apart members of the net are at least.
    """
    net = _net(places, spacing)
    left = np.array(net, dtype=int)
    away = _distances(places[left], begin).min(axis=1)
    while len(left):
        near = np.round(away, DIGITS) == np.round(away.min(), DIGITS)
        wave, left, away = left[near], left[~near], away[~near]
        yield [int(number) for number in wave]
        if len(left):
            away = np.minimum(away, _distances(places[left], places[wave]).min(axis=1))
    others = sorted(set(range(len(places))) - set(net))
    if others:
        yield others


def _net(places: Float[np.ndarray, "n c"], spacing: float) -> list[int]:
    """Members that are far enough from all before them."""
    found: list[int] = []
    for number, place in enumerate(places):
        if not found or _distances(place[None], places[found]).min() >= spacing - 10.0**-DIGITS:
            found.append(number)
    return found


def _distances(a: Float[np.ndarray, "n c"], b: Float[np.ndarray, "m c"]) -> Float[np.ndarray, "n m"]:
    found: Float[np.ndarray, "n m"] = np.linalg.norm(a[:, None] - b[None], axis=2)
    return found


class Waves:
    """One sweep.

    Args:
        run_in: How members are solved, and the library that they are written to.
        workers: A number of processes, the address of a Dask scheduler, or a Dask client.
    """

    def __init__(self, run_in: Pass, workers: Any = 1):
        self.run_in, self.library, self.workers = run_in, run_in.library, workers
        self.failures: dict[int, str] = {}

    def run(self, wanted: Sequence[Mapping[str, float]]) -> None:
        """Solve what is not in the library; a member that fails is reported and does not end the sweep."""
        todo = [number for number, values in enumerate(wanted) if self.library.find(values) is None]
        if not todo:
            return
        asked = {_key(values) for values in wanted}
        seen = [member for member in self.library if _key(member.parameters) not in asked]
        finished, pool = len(wanted) - len(todo), open_pool(self.workers)
        try:
            for wave in waves(*self._places(wanted, seen)):
                tasks = [self._task(number, wanted[number], seen) for number in wave if number in set(todo)]
                for task, result in in_order(pool, tasks):
                    finished += 1
                    self._tell(task, result, finished, len(wanted))
                members = [self.library.find(wanted[number]) for number in wave]
                seen = [*seen, *(member for member in members if member is not None)]
        finally:
            pool.close()

    def _places(
        self, wanted: Sequence[Mapping[str, float]], seen: Sequence[Member]
    ) -> tuple[Float[np.ndarray, "n c"], Float[np.ndarray, "b c"]]:
        """Where the members lie, and where to begin: at what is solved, at the easy end, or with the first."""
        library = self.library
        begin = [member.parameters for member in Draft(library, seen).usable]
        begin = begin or [{**wanted[0], **library.family.easy}]
        return np.array([library.place(one) for one in wanted]), np.array([library.place(one) for one in begin])

    def _task(self, number: int, values: Mapping[str, float], seen: Sequence[Member]) -> MemberTask:
        return MemberTask(number, replace(self.run_in, library=Draft(self.library, seen), progress=None), values)

    def _tell(self, task: MemberTask, result: Member | Exception, finished: int, goal: int) -> None:
        message, member = "", None
        if isinstance(result, Member):
            known = {one.networks.branch for one in task.run_in.library}
            member = self.library.adopt(result, own_branch=result.networks.branch not in known)
        else:
            message = str(result) if isinstance(result, MetalicError) else f"{type(result).__name__}: {result}"
            self.failures[task.number] = message
        if self.run_in.progress is not None:
            self.run_in.progress(Step(member, task.values, finished, goal, message))


def in_order(pool: Pool, tasks: Sequence[MemberTask]) -> Iterator[tuple[MemberTask, Member | Exception]]:
    """Run tasks, as many at a time as the pool takes; results in the order of the tasks. A task whose worker is lost is
    run again."""
    waiting, flying, attempts = list(tasks), 0, Counter[int]()
    done: dict[int, Member | Exception] = {}
    for task in tasks:
        while task.number not in done:
            while waiting and flying < pool.capacity():
                pool.submit(waiting.pop(0))
                flying += 1
            other, result = pool.next()
            attempts[other.number] += 1
            flying -= 1
            lost = isinstance(result, Exception) and not isinstance(result, MetalicError)
            if lost and attempts[other.number] <= RETRIES:
                waiting.insert(0, other)
            else:
                done[other.number] = result
        yield task, done.pop(task.number)


def _key(parameters: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(parameters.items()))
