"""`metalic.march`: a time-dependent family slab after slab, each begun where the one before ended."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from . import solving
from .errors import ScheduleError
from .families.base import Family
from .families.registry import find_family
from .families.tabulated import Reference
from .pinn.chosen import chosen
from .pinn.judgement import judged
from .pinn.network import Network
from .pinn.options import SolverOptions
from .pinn.schedule import Phase, Schedule, find_schedule
from .pinn.slabs import Carried, Slab, check_initial_value_problem, joined, slab_times
from .pinn.solution import Solution
from .pinn.solver import Report, error_of, train
from .pinn.start import Start
from .progress import shown
from .validation import integer

STEPS = 4
LOST = 100.0  # times the largest loss of the slabs before: ten times their error
OPTIONS = tuple(one.name for one in fields(SolverOptions))


def march(
    family: str | Family | type[Family],
    conditions: Any = None,
    schedule: str | Schedule | Sequence[Phase] = "fast",
    *,
    steps: int = STEPS,
    seed: int = 0,
    cold: bool = False,
    extrapolate: bool = False,
    progress: Callable[[Report], Any] | bool | None = None,
    reference: Reference | str | os.PathLike[str] | None = None,
    check: bool | None = None,
    parameters: Mapping[str, Any] | None = None,
    **by_name: Any,
) -> Solution:
    """Solve a time-dependent family slab after slab.

    The time interval is cut into `steps` slabs of equal length. Each is divided as the family is and solved on its own:
    its initial data are the end of the slab before. Its networks start from those of the slab before, moved along in
    time or continued beyond their end, whichever is better; if its loss then ends far above those of the slabs before,
    it is also solved from random networks, and the better one is kept.

    Args:
        family: A family with a coordinate `t`, its class, its name, or 'file.py:Name'.
        conditions: The sets of conditions inside each slab, as for `solve`.
        schedule: The schedule of each slab; phases that only find a start (Adam) run in slabs that start cold.
        steps: The number of slabs.
        seed: Decides the points and the random weights.
        cold: Start every slab from random networks.
        extrapolate: Allow parameters outside their boxes.
        progress: Called with a `Report` as by `solve`, which counts the phases of all slabs. True shows a progress bar,
            None does so in notebooks, False never.
        reference: What to measure the error against instead of the family's own reference.
        check: Whether the whole solution is checked, as by `Solution.check`; None means yes.
        parameters: The parameters of the member; they can also be given by name.
        **by_name: Parameters by name, and the options of `solve` from `hidden` to `activation`.

    Returns:
        One solution over the whole time, on the subdomains of all slabs: '2@3' is subdomain 2 in slab 3. Its phases are
        those of all slabs. If a slab diverges, the march ends there and the solution is NaN from there on.

    Raises:
        MetalicError: The family has no time, or conditions at its last time; or an argument makes no sense.

    Example:
        >>> import metalic as mt
        >>> class Decay(mt.Family):
        ...     parameters = {"a": (0.5, 2.0)}
        ...     domain = mt.Box(t=(0, 4))
        ...     decomposition = mt.split(domain, t=[2])
        ...     conditions, points, solver_options = ("u",), mt.Points(16, 1, 1), {"hidden": (4,)}
        ...
        ...     def residual(self, u, p, a):
        ...         return u.t + a * u
        ...
        ...     def boundary(self):
        ...         return [mt.Dirichlet("t=0", 1.0)]
        >>> solution = mt.march(Decay, steps=2, a=1.0, check=False)
        >>> solution(t=[1.0, 3.0]).round(2)  # exp(-t)
        array([0.37, 0.05])
    """
    count = integer(steps, least=1)
    if count is None:
        raise ScheduleError(f"a march has 1 or more steps, not {steps!r}")
    options = SolverOptions(**{name: by_name.pop(name) for name in OPTIONS if name in by_name})
    found, plan = find_family(family), find_schedule(schedule)
    check_initial_value_problem(found)
    _refuse_foreign_options(by_name, found)
    values = found.check_parameters({**(parameters or {}), **by_name}, extrapolate)
    chooser = solving.find_chooser(conditions, found, plan)
    given = reference if reference is None or isinstance(reference, Reference) else Reference.from_file(reference)
    played, options = chosen(found, options, plan, chooser.begin(values))
    known = None if given is None else given.on(joined(played, count))
    common: dict[str, Any] = {"seed": seed, "extrapolate": extrapolate, "within": solving.within(chooser, played)}
    solve = partial(train, chooser=chooser, schedule=plan, options=options, **common)
    with shown(progress) as show:
        solution = _March(played, plan, options, values, count, cold, solve, show).run()
    solution = solution.with_error(error_of(solution, extrapolate, known))
    if not (solving.CHECK if check is None else check):
        return solution
    solution = judged(solution)
    solving.warn_unless_good(solution, stacklevel=3)
    return solution


def _refuse_foreign_options(given: Mapping[str, Any], family: Family) -> None:
    """Options of `solve` that a march does not have."""
    for name in given:
        if name == "start":
            raise ScheduleError("a march starts every slab from the one before; cold=True starts all of them cold")
        if name in inspect.signature(solving.solve).parameters and name not in family.parameters:
            raise ScheduleError(f"a march has no option '{name}': it is for a single solve")


@dataclass
class _March:
    """One march: the slabs in their order."""

    family: Family
    schedule: Schedule
    options: SolverOptions
    parameters: dict[str, float]
    steps: int
    cold: bool
    solve: Callable[..., Solution]
    progress: Callable[[Report], Any] | None

    def run(self) -> Solution:
        times = slab_times(self.family, self.steps)
        done: list[Solution] = []
        chosen = self.options.resolve(self.family, self.schedule)
        shape = (len(self.family.coordinates), len(self.family.components), chosen.hidden, chosen.activation)
        for low, high in itertools.pairwise(times):
            done.append(self._slab(Slab(self.family, float(low), float(high), Network(*shape)), done))
            if done[-1].diverged:
                break
        return self._joined(done)

    def _slab(self, slab: Slab, done: Sequence[Solution]) -> Solution:
        before = done[-1] if done else None
        solve = partial(
            self.solve,
            slab,
            parameters={**self.parameters, **Carried.of(before, slab)},
            progress=self._watch(len(done)),
        )
        if before is None or self.cold:
            return solve()
        warm = solve(start=_starts(before, slab))
        if not warm.diverged and warm.loss <= LOST * max(one.loss for one in done):
            return warm
        other = solve()
        better, worse = (warm, other) if not warm.diverged and not other.loss < warm.loss else (other, warm)
        return replace(better, phases=(*worse.phases, *better.phases))

    def _watch(self, number: int) -> Callable[[Report], Any] | None:
        """Reports that count the phases of all slabs."""
        progress, phases = self.progress, len(self.schedule.phases)
        if progress is None:
            return None
        shift, count = number * phases, self.steps * phases
        return lambda report: progress(replace(report, phase=report.phase + shift, phases=count))

    def _joined(self, done: Sequence[Solution]) -> Solution:
        """The slabs as one solution; NaN in one that diverged and in those that were not reached."""
        family, last = joined(self.family, self.steps), done[-1]
        lost = replace(last, theta=np.full_like(last.theta, np.nan))
        missing = [replace(lost, phases=())] * (self.steps - len(done))
        slabs = [*done[:-1], lost if last.diverged else last, *missing]
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(slab, name) for slab in slabs]) for name in ("theta", "centre", "slope")
        }
        return replace(
            last,
            family=family,
            parameters=self.parameters,
            phases=tuple(phase for slab in slabs for phase in slab.phases),
            collocation=tuple(points for slab in slabs for points in slab.collocation),
            problem=None,
            start=None,
            slabs=self.steps,
            **arrays,
        )


def _starts(before: Solution, slab: Slab) -> list[Start]:
    """The networks of the slab before: continued beyond their end, and moved along in time."""
    shift = np.zeros(len(slab.coordinates))
    shift[slab.coordinates.index("t")] = slab.domain.sides["t"][0] - before.family.domain.sides["t"][0]
    begun = replace(Start.of(before, "the slab before"), family=slab)
    return [begun, replace(begun, centre=before.centre + shift)]
