"""Many members of a family by continuation: each is started from the nearest that are solved already.

The library is the state: what is in it is not solved again, and the next member is always the one nearest to those in
it. So a pass that was killed anywhere continues as if nothing had happened.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..chooser import FixedChooser
from ..conditions import Catalogue, default_conditions
from ..errors import LibraryError, MetalicError
from ..families.base import Family, parameters_text
from ..pinn.schedule import Schedule, find_schedule
from ..pinn.solution import Solution
from ..pinn.solver import train
from ..progress import Stage
from ..sets import Decision
from .interpolation import at_unit, halfway
from .library import Library
from .members import Member
from .warm import CHUNK, Warm, schedule_of

HALVINGS = 3  # of a step before a member is started cold
BETTER = 1 / 3  # of the loss of a continued member: a cold one that is better than this takes its place


@dataclass(frozen=True)
class Step:
    """What a progress callback gets after each member: the member, or why there is none."""

    member: Member | None
    parameters: Mapping[str, float]
    finished_count: int
    goal: int
    message: str = ""

    @property
    def stage(self) -> Stage:
        """For a progress bar."""
        note = "failed" if self.member is None else parameters_text(self.parameters)
        return Stage("members", self.finished_count, self.goal, note)


@dataclass
class Pass:
    """One pass by continuation.

    Args:
        library: Where members are kept, and come from.
        conditions: The set of every member, or a function from its parameters to its set; by default that of the
            nearest member, of the first one the family's.
        schedule: For members that start cold.
        seed: Decides the points, and the weights of cold starts.
        least: Gauss-Newton iterations that every member gets.
        redraw: Train members on fresh points every now and then, cold ones too after their schedule.
        precision: Of the weights in the file.
        history: Whether the members' histories of loss and error are kept.
        fresh: Whether a member is also solved cold where losses have grown tenfold along a branch; the better is kept,
            and a cold one begins a branch. Networks that are continued far may lose their accuracy.
        begin: Where the first member lies nearest to; by default the easy end of the family, or the first that is asked
            for.
        extrapolate: Allow parameters outside their boxes.
        progress: Called after each member.
    """

    library: Library
    conditions: Any = None
    schedule: str | Schedule = "fast"
    seed: int = 0
    least: int = 2 * CHUNK
    redraw: bool = False
    precision: str | None = None
    history: bool = True
    fresh: bool = False
    begin: Mapping[str, float] | None = None
    extrapolate: bool = False
    progress: Callable[[Step], Any] | None = None
    failures: dict[int, str] = field(default_factory=dict)

    def run(self, wanted: Sequence[Mapping[str, float]]) -> None:
        """Solve what is not in the library; a member that fails is reported and does not end the pass."""
        todo = {n: dict(values) for n, values in enumerate(wanted) if self.library.find(values) is None}
        while todo:
            number = self._next(todo)
            values = todo.pop(number)
            message = self._tried(values, len(wanted) - len(todo), len(wanted))
            if message:
                self.failures[number] = message

    def _tried(self, values: Mapping[str, float], finished: int, goal: int) -> str:
        """Solve one member and report it; why it failed, if it did."""
        member, message = None, ""
        try:
            member = self.member(values)
        except MetalicError as error:
            message = str(error)
        if self.progress is not None:
            self.progress(Step(member, values, finished, goal, message))
        return message

    def refine(self, path: Sequence[Mapping[str, float]], times: int) -> None:
        """Halve the steps of a path, at most `times` times, where a start from in between is not as good as its ends.

        A pass that was killed takes the same members when it is run again: whether a step is halved depends on its
        ends only.
        """
        for low, high in itertools.pairwise(path) if times else ():
            middle = halfway(self.library.family.parameters, low, high)
            if self.library.find(middle) is None:
                if self._warm(middle).close(middle):
                    continue
                self._tried(middle, len(self.library) + 1, len(self.library) + 1)
            self.refine((low, middle, high), times - 1)

    def _warm(self, values: Mapping[str, float]) -> Warm:
        return Warm(self.library, self.seed, self.least, self._set(values), self.extrapolate, redraw=self.redraw)

    def _next(self, todo: Mapping[int, Mapping[str, float]]) -> int:
        """The one nearest to a solved member; if there is none, to where the pass begins."""
        solved = np.array([self.library.place(member.parameters) for member in self.library.usable])
        if not len(solved):
            begin = self.library.family.easy if self.begin is None else self.begin
            solved = np.array([self.library.place({**todo[min(todo)], **begin})])
        places = {n: self.library.place(values) for n, values in todo.items()}
        return min(todo, key=lambda n: (round(float(np.linalg.norm(solved - places[n], axis=1).min()), 9), n))

    def member(self, values: Mapping[str, float], halvings: int = HALVINGS) -> Member:
        """Solve one member from its neighbours, through members halfway if need be, else cold."""
        near = self.library.nearest(values)
        solution = self._warm(values).solve(values) if near else None
        if solution is not None and self.fresh and self._drifts(solution, near[0]):
            other = self.cold(values)
            if other.loss < BETTER * solution.loss:
                return self._keep(other, None)
        if solution is not None:
            return self._keep(solution, near[0].networks.branch)
        middle = halfway(self.library.family.parameters, near[0].parameters, values) if near and halvings else None
        if middle is not None and self.library.find(middle) is None:
            with suppress(MetalicError):  # then there is the cold start
                self.member(middle, halvings - 1)
                return self.member(values, halvings - 1)
        return self._keep(self.cold(values), None)

    def _drifts(self, solution: Solution, member: Member) -> bool:
        """Whether the loss crosses ten times that of the first member of the branch (or a hundred, ...) on the way."""
        branch = member.networks.branch
        roots = [one.level for one in self.library if one.networks.branch == branch and one.networks.start is None]
        if not roots:
            return False
        before, now = (int(np.log10(max(loss / min(roots), 1.0))) for loss in (member.level, solution.loss))
        return now > before

    def _set(self, values: Mapping[str, float]) -> Any:
        return self.conditions(values) if callable(self.conditions) else self.conditions

    def _keep(self, solution: Solution, branch: int | None) -> Member:
        new = max((one.networks.branch or 0 for one in self.library), default=0) + 1
        kept: dict[str, Any] = {"precision": self.precision, "history": self.history}
        return self.library.add(solution, branch=new if branch is None else branch, **kept)

    def cold(self, values: Mapping[str, float]) -> Solution:
        """A member without a start; trained further on fresh points, if others will start from it."""
        family = self.library.family
        near = self.library.nearest(values)
        usual = list(near[0].conditions) if near else default_conditions(family)
        given = self._set(values)
        chosen = Catalogue(family).parse(usual if given is None else given)
        solve = partial(
            train,
            family,
            FixedChooser((Decision(chosen),)),
            parameters=dict(values),
            options=self.library.options,
            seed=self.seed,
            extrapolate=self.extrapolate,
        )
        solution = solve(schedule=find_schedule(self.schedule))
        if not self.redraw or solution.diverged:
            return solution
        longer = solve(schedule=schedule_of(self.least, self.library.adaptive, redraw=True), start=solution)
        both = solution.phases + longer.phases
        return solution if longer.diverged else replace(longer, start=None, phases=both)


def spread(family: Family, count: int) -> list[dict[str, float]]:
    """Parameters that cover the box of a family: equal steps for one parameter (in logarithms if the box is wide), a
    Halton sequence for several."""
    names, boxes = list(family.parameters), list(family.parameters.values())
    if not names:
        raise LibraryError(f"family '{family.name}' has no parameters: it has a single member")
    if len(names) == 1:
        unit = np.linspace(0, 1, count)[:, None]
    else:
        from scipy.stats import qmc  # takes a second

        unit = qmc.Halton(len(names), scramble=False).random(count)
    return [dict(zip(names, map(at_unit, row, boxes))) for row in unit]
