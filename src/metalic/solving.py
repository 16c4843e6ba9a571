"""`metalic.solve`: reads what a user writes, finds who picks the sets, and hands both to the solver of `pinn`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import jax
import numpy as np

from .atomic import a_path
from .chooser import Chooser, FixedChooser
from .conditions import Catalogue, complete_set, default_conditions, open_faces
from .errors import FileError, LibraryError, MetalicWarning, ScheduleError, StartError
from .families.base import Family
from .families.registry import BUILT_IN, find_family
from .families.tabulated import Reference
from .geometry.sampling import Points
from .pinn.chosen import chosen
from .pinn.judgement import compared, judged
from .pinn.options import SolverOptions
from .pinn.problem import Problem
from .pinn.schedule import Phase, Schedule, find_schedule
from .pinn.solution import Solution
from .pinn.solver import Report, error_of, train
from .pinn.start import Start
from .progress import shown
from .sets import Decision, split_phases
from .study.files import exists
from .study.knowledge import shipped, shipped_library
from .study.library import Library
from .study.study import Study
from .study.warm import Warm
from .validation import real

CHECK = True
"""Whether `solve` checks its solutions unless it is asked."""
SECOND = 10**6  # what is added to the seed for a second solve


def solve(
    family: str | Family | type[Family],
    conditions: Any = None,
    schedule: str | Schedule | Sequence[Phase] | None = None,
    *,
    seed: int = 0,
    hidden: Sequence[int] | None = None,
    points: Points | None = None,
    precision: str | None = None,
    sampling: str | None = None,
    scaling: str | None = None,
    lambda_boundary: float | None = None,
    lambda_interface: float | Mapping[str, float] | None = None,
    activation: str | None = None,
    extrapolate: bool = False,
    progress: Callable[[Report], Any] | bool | None = None,
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None,
    reference: Reference | str | os.PathLike[str] | None = None,
    check: bool | None = None,
    verify: bool = False,
    tolerance: float | None = None,
    seconds: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    start: Solution | Start | np.ndarray | Library | Study | str | os.PathLike[str] | None = None,
    cold: bool = False,
    choices: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **by_name: Any,
) -> Solution:
    """Solve a member of a family with sets of interface conditions.

    Args:
        family: A family, its class, its name, or 'file.py:Name'.
        conditions: One set for all phases: a text 'u,c', a flat list of names, an index, a 0/1 vector, 'all' or
            'none'. One set per phase: a text 'u,c;u', or a list of sets that are lists themselves. A `Recommendation`,
            or another `Chooser`, picks the set of each phase; so does a function of the phase's number and the loss
            before it. None takes the default of the family. A set in a `Phase` goes before all of these.
        schedule: The name of a schedule, a `Schedule` or a list of phases; 'fast' if the start is cold.
        seed: Decides the points and the weights at the start.
        hidden: The widths of the hidden layers. This and the next seven options are decided by the family if they are
            None, else by the schedule, else by the package: (20, 20), 'float64' and weights of 20 and 5.
        points: The numbers of points.
        precision: 'float64' or 'float32'.
        sampling: How points are drawn: 'random', 'grid', 'latin', 'sobol' or 'poisson'.
        scaling: How inputs are scaled: 'subdomain', 'domain' or 'none'.
        lambda_boundary: The weight of the boundary terms.
        lambda_interface: The weight of the interface terms: one number, or weights by condition such as {"uavg": 10};
            a condition that is not named keeps the default.
        activation: The function between the layers of a network: 'tanh' (the default) or 'sine'.
        extrapolate: Allow parameters outside their boxes.
        progress: Called with a `Report` when a phase begins and after every chunk of iterations; if it returns True,
            the phase ends. True shows a progress bar, None does so in notebooks, False never.
        at_phase_end: Called with the problem and the networks at the end of each phase; what it returns is kept as
            the `score` of the phase.
        reference: What to measure the error against instead of the family's own reference: a `Reference`, or its file.
        check: Whether the solution is checked, as by `Solution.check`; what was found is its `checked`, and a
            `MetalicWarning` unless the verdict is 'good'. None means yes.
        verify: Also solve with another seed, and compare.
        tolerance: Continue after the schedule, on fresh points and with the complete set of conditions, until the
            estimate of the relative error is below this, for at most 1000 more iterations.
        seconds: A limit on the training time, without compilation. It is checked between chunks of iterations (10 of
            Gauss-Newton); a phase that it ends has the stop reason 'time limit reached', and later phases are not run.
            Training for a tolerance counts too.
        checkpoint: A file for the solve in progress, written about once a minute and removed at the end. If it exists,
            the solve continues from it and takes the steps that an uninterrupted one would. A solve that its time
            limit has ended keeps the file, so that the same call continues it.
        start: A solution, a library, a study, the file of one of them, or an array of weights to start from instead
            of random networks, for the same parameters or others. By default the library that the package ships for
            the family, if there is one and neither conditions nor a schedule nor any of the eight options is given;
            where there is none, the conditions and choices that the package's study of the family recommends.
            Phases that only find a start (Adam) are left out, unless they are marked `always` or there is no other
            phase. Networks of another shape or decomposition are made to fit: exactly if the new ones are wider, else
            by least squares.
        cold: Start from random networks, with the default set and decomposition, whatever libraries and studies there
            are.
        choices: Where to cut and into how many parts, by the arguments of the family's `decompose`, such as
            {"strip": 0.2}; a recommendation contains its own.
        parameters: The parameters of the member; they can also be given by name, as `s=5`.
        **by_name: Parameters by name.

    Returns:
        The solution, with its history.

    Raises:
        MetalicError: An argument makes no sense. A notation that could be one set or several, such as ['u,c'], is
            refused with a ConditionError.

    Example:
        >>> solution = solve("poisson", "u,c", schedule="quick", s=5)
        >>> solution.error < 0.5
        True
    """
    found, plan = find_family(family), find_schedule("fast" if schedule is None else schedule)
    _warn_of_missing_data(found)
    values = found.check_parameters({**(parameters or {}), **by_name}, extrapolate)
    chooser = find_chooser(conditions, found, plan)
    if tolerance is not None and not (real(tolerance) or 0) > 0:
        raise ScheduleError(f"a tolerance is a positive number such as 1e-4, not {tolerance!r}")
    options = SolverOptions(hidden, points, precision, sampling, scaling, lambda_boundary, lambda_interface, activation)
    given = reference if reference is None or isinstance(reference, Reference) else Reference.from_file(reference)
    measure = partial(error_of, extrapolate=extrapolate, given=None if given is None else given.on(found))
    limits: dict[str, Any] = {"seconds": seconds, "checkpoint": checkpoint}
    given_none = conditions is choices is schedule is at_phase_end is seconds is checkpoint is None
    plain = given_none and options == SolverOptions()
    begun = find_start(start, found, cold, shipped=plain)
    with shown(progress) as show:
        common: dict[str, Any] = {"extrapolate": extrapolate, "progress": show}
        warm = Warm(begun, seed=seed, **common).solve(values) if plain and isinstance(begun, Library) else None
        if isinstance(begun, Library):
            begun = None if plain else begun.starts(values) or None
        elif plain and begun is None and not cold and not extrapolate:
            chooser = learned_chooser(found, values) or chooser
        played, options = chosen(found, options, plan, {**chooser.begin(values), **(choices or {})})
        run = partial(train, played, chooser, plan, values, options, within=within(chooser, played), **common)
        solution = warm or run(seed=seed, at_phase_end=at_phase_end, start=begun, **limits)
    if given is not None and not solution.diverged:
        solution = solution.with_error(measure(solution))
    if not (CHECK if check is None else check) and not verify and tolerance is None:
        return solution
    solution = judged(solution, tolerance, seconds, measure)
    if verify:
        chooser.begin(values)
        solution = compared(solution, run(seed=seed + SECOND))
    warn_unless_good(solution, stacklevel=3)
    return solution


def warn_unless_good(solution: Solution, stacklevel: int) -> None:
    """Say what a check has found, unless the solution is good."""
    if solution.checked is not None and not solution.checked.good:
        warnings.warn(f"{solution.family.name}: {solution.checked.text}", MetalicWarning, stacklevel=stacklevel)


def _warn_of_missing_data(family: Family) -> None:
    """A coordinate along which the equation has derivatives needs data on one of its faces at least."""
    faces = open_faces(family)
    if faces:
        warnings.warn(
            f"family '{family.name}' has no boundary condition on {', '.join(faces)}: its solution is not determined "
            "there; give one in boundary()",
            MetalicWarning,
            stacklevel=3,
        )


def find_start(given: Any, family: Family, cold: bool = False, shipped: bool = False) -> Any:
    """What a solve starts from: a library, or what the solver of `pinn` takes; `shipped` allows that of the package."""
    if cold and given is not None:
        raise StartError("a solve has a start or begins cold: give start or cold=True, not both")
    if given is None:
        path = shipped_library(family) if shipped and not cold else None
        return None if path is None else Library(path, family)
    if isinstance(given, str | os.PathLike):
        path = a_path(given)
        if path.suffix != ".db":
            return Start.of(load_solution(path, family), source=str(given))
        if not exists(path):
            raise LibraryError(f"there is no library '{path}'; `metalic prepare` makes one")
        given = Library(path, family)
    if isinstance(given, Study):
        given = Library(given.path, family)
    if isinstance(given, Library) and not given.usable:
        raise LibraryError(
            f"'{given.path}' has no member that a solve could start from: it has {len(given)} member(s) with networks, "
            "none of them good"
        )
    return given


def learned_chooser(family: Family, values: Mapping[str, float]) -> Chooser | None:
    """What the package's study of a built-in family recommends here, if that study could choose how to divide it."""
    kind, path = BUILT_IN.get(family.name), shipped().get(family.name)
    if path is None or kind is None or family != kind():
        return None
    with Study(path, family, read_only=True) as study:
        return FixedChooser((study.recommend(values).phases[0].best,)) if study.settings.choices else None


def load_solution(path: str | os.PathLike[str], family: Family) -> Solution:
    """A file's solution of a family. One of a built-in family may have been solved on its usual decomposition."""
    try:
        return Solution.load(path, family)
    except FileError:
        if family.name not in BUILT_IN or family == find_family(family.name):
            raise
    return Solution.load(path)


def find_chooser(conditions: Any, family: Family, schedule: Schedule) -> Chooser:
    """Who picks the sets, from any notation of `solve`; sets that are fixed are checked now."""
    chooser = getattr(conditions, "chooser", conditions)  # a recommendation has one
    if isinstance(chooser, Chooser):
        return chooser
    catalogue, count = Catalogue(family), len(schedule.phases)
    if callable(conditions):
        return _FunctionChooser(conditions, catalogue)
    sets = split_phases(conditions)
    if sets is not None and len(sets) != count:
        raise ScheduleError(f"{len(sets)} sets of conditions for the {count} phases of '{schedule.name}'")
    if sets is None:
        sets = [default_conditions(family) if conditions is None else conditions]
    return FixedChooser(tuple(Decision(catalogue.parse(one)) for one in sets))


def within(chooser: Chooser, family: Family) -> tuple[str, ...] | None:
    """The conditions that programs need: the sets of a fixed chooser, and the complete one, which the check trains."""
    if not isinstance(chooser, FixedChooser):
        return None
    try:
        complete = {condition.name for condition in complete_set(family)} & set(Catalogue(family).names)
    except Exception:  # whatever is wrong with a law is reported, with its name, when programs are made of all of them
        return None
    return tuple(complete.union(*(decision.conditions.names for decision in chooser.decisions)))


@final
@dataclass(frozen=True)
class _FunctionChooser(Chooser):
    """A function that a user wrote."""

    function: Callable[[int, float | None], Any]
    catalogue: Catalogue

    def choose(self, phase: int, loss: float | None) -> Decision:
        return Decision(self.catalogue.parse(self.function(phase, loss)))
