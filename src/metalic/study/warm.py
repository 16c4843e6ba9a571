"""Solve a member of a family from a library: no Adam, and as few Gauss-Newton iterations as it takes.

A start that belongs to the member brings the loss down to that of its neighbours in 10 to 50 iterations. After every
chunk of iterations it is seen whether it does: training ends when the loss is as small as the neighbours' or has
stopped falling, and ends early if it stays far above. Then a member halfway is solved first; if that does not
help, the caller starts cold and has lost a few iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..chooser import FixedChooser
from ..conditions import Catalogue
from ..pinn.optimizers import GaussNewton, Status
from ..pinn.schedule import SCHEDULES, Phase, Schedule
from ..pinn.solution import Solution
from ..pinn.solver import Report, train
from ..pinn.start import Start
from ..sets import Decision
from .interpolation import halfway
from .library import Library
from .members import Member

ITERATIONS = 100  # at most
REACHED = 1.5  # times the loss of the neighbours: as good as they are
FALLING = 0.8  # a chunk that leaves more than this of the loss is one of the last
GIVEN_UP = 1e4  # times the loss of the neighbours, after a few chunks
GOOD = 100.0  # times the loss of the neighbours: ten times their error
CHUNK = GaussNewton.chunk
MOVED = 2 * CHUNK  # iterations between two moves of adaptive points
REDRAWN = 5 * CHUNK  # iterations between two draws of fresh points, for members that others start from
CLOSE = 10.0  # times the loss of the neighbours after one chunk: members are close enough to start in between

ShowReport = Callable[[Report], Any]


def schedule_of(iterations: int = ITERATIONS, adaptive: bool = False, redraw: bool = False) -> Schedule:
    """Gauss-Newton alone, on the points of the default schedule, on fresh points every now and then, or on points that
    gather where the residual is."""
    moves: dict[str, Any] = {"resample": REDRAWN} if redraw else {}
    if adaptive:
        moves = {"resample": MOVED, "adaptive": True}
    return replace(SCHEDULES["fast"], name="warm", phases=(Phase(GaussNewton(), iterations, **moves),))


@dataclass
class Watch:
    """A progress callback that ends training when the loss is where it should be, or will not get there.

    Args:
        expected: The loss of the neighbours.
        least: Iterations that are always done.
        show: Another callback that is served first.
    """

    expected: float
    least: int = CHUNK
    show: ShowReport | None = None
    losses: list[float] = field(default_factory=list)

    def __call__(self, report: Report) -> Status:
        asked = Status.STOPPED if self.show is not None and self.show(report) else Status.RUNNING
        if report.loss is None:
            return asked
        self.losses.append(report.loss)
        return asked or self._status(report.iteration)

    def _status(self, iteration: int) -> Status:
        now = self.losses[-1]
        if iteration >= 2 * CHUNK and not now <= GIVEN_UP * self.expected:
            return Status.STOPPED
        slow = len(self.losses) > 2 and now > FALLING * self.losses[-2]
        enough = now <= REACHED * self.expected or (slow and now <= GOOD * self.expected)
        return Status.ENOUGH if enough and iteration >= self.least else Status.RUNNING


@dataclass(frozen=True)
class Warm:
    """How members are solved from a library.

    Args:
        library: Where the starts come from.
        seed: Decides the points.
        least: Gauss-Newton iterations that are always done.
        conditions: A set of conditions instead of that of the nearest member.
        extrapolate: Allow parameters outside their boxes.
        progress: Called as by `solve`.
        redraw: Draw fresh points every now and then: slower, and several times more accurate in the end.
    """

    library: Library
    seed: int = 0
    least: int = CHUNK
    conditions: Any = None
    extrapolate: bool = False
    progress: ShowReport | None = None
    redraw: bool = False

    def solve(self, values: Mapping[str, float]) -> Solution | None:
        """The member at these parameters; None if no start leads there, so that a cold one must be made."""
        near = self.library.nearest(values)
        if not near:
            return None
        solution = self._attempt(values, self.library.starts(values), near)
        if not self._good(solution, near):
            middle = self._attempt(self._halfway(near[0], values), self._from(near[0]), near)
            if self._good(middle, near):
                begun = replace(Start.of(middle, str(self.library.path)), kind="continued")
                solution = self._attempt(values, [begun], near)
        return solution if self._good(solution, near) else None

    def close(self, values: Mapping[str, float]) -> bool:
        """Whether a start at these parameters is about as good as its neighbours after one chunk of iterations."""
        near = self.library.nearest(values)
        if not near:
            return False
        solution = self._attempt(values, self.library.starts(values)[:1], near, CHUNK)
        return not solution.diverged and solution.loss <= CLOSE * _expected(near)

    def _attempt(
        self, values: Mapping[str, float], starts: list[Start], near: list[Member], iterations: int | None = None
    ) -> Solution:
        iterations = max(ITERATIONS, self.least) if iterations is None else iterations
        family, member = self.library.family, near[0]
        chosen = Catalogue(family).parse(list(member.conditions) if self.conditions is None else self.conditions)
        return train(
            family,
            FixedChooser((Decision(chosen),)),
            schedule_of(iterations, self.library.adaptive, self.redraw),
            dict(values),
            replace(self.library.options, hidden=member.networks.hidden, activation=member.networks.activation),
            seed=self.seed,
            extrapolate=self.extrapolate,
            progress=Watch(_expected(near), self.least, self.progress),
            start=starts,
            within=chosen.names,
        )

    def _from(self, member: Member) -> list[Start]:
        return self.library.starts(member.parameters)[:1]

    def _good(self, solution: Solution, near: list[Member]) -> bool:
        return not solution.diverged and solution.loss <= GOOD * _expected(near)

    def _halfway(self, member: Member, values: Mapping[str, float]) -> dict[str, float]:
        return halfway(self.library.family.parameters, member.parameters, values)


def _expected(near: list[Member]) -> float:
    """The loss that a neighbour of these members should reach."""
    return max(max(one.level for one in near[:2]), float(np.finfo(float).tiny))
