"""More Gauss-Newton iterations on fresh points with the complete set, whatever set was trained.

Where point counts and system are those of the solve, its compiled program is used again.
"""

from __future__ import annotations

import time
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from .. import runtime
from ..conditions import Catalogue, complete_set
from ..families.base import Family
from ..geometry.sampling import Points
from ..sets import ConditionSet
from .defect import FRESH, problem_of
from .laws import system_of
from .optimizers import GaussNewton, Status, advance, start
from .options import DEFAULTS
from .problem import Problem
from .sampler import Sampler
from .schedule import SCHEDULES
from .solution import PhaseRecord, Solution

ITERATIONS = 30


def refined(solution: Solution, draw: int = 0, iterations: int = ITERATIONS) -> Solution:
    """The solution after more iterations, with one more phase; `draw` is the number of the fresh points."""
    with jax.enable_x64(True), runtime.programs_kept():
        begun = time.perf_counter()
        problem, optimizer = fresh_problem(solution, draw), GaussNewton()
        state = start(optimizer, problem, jnp.asarray(solution.theta, float))
        state, count = advance(optimizer, problem, state, jnp.asarray(iterations))
        loss = float(state.loss)
    seconds = time.perf_counter() - begun
    chosen = ConditionSet.parse(problem.system.catalogue.names, np.asarray(problem.active).astype(int).tolist())
    record = PhaseRecord(
        optimizer=optimizer.name,
        conditions=chosen.names,
        index=chosen.index,
        iterations=int(count),
        seconds=seconds,
        compile_seconds=0.0,
        loss=loss,
        error=None,
        status=Status(int(state.status)),
        history=((int(count), seconds, loss, None),),
    )
    return replace(solution, theta=np.asarray(state.theta), phases=(*solution.phases, record))


def fresh_problem(solution: Solution, draw: int = 0) -> Problem:
    """The solution's problem on points that no training has seen, with the complete set of conditions."""
    family, names = _with_complete_set(solution.family)
    system = system_of(family, solution.network, _within(solution, names))
    points = SCHEDULES["fast"].points(family) if solution.problem is None else _points(solution.problem)
    drawn = Sampler(family, points, "sobol").draw(solution.seed, FRESH + draw)
    owners, weights = list(range(len(family.decomposition))), (DEFAULTS.lambda_boundary, DEFAULTS.lambda_interface)
    problem = jax.device_put(problem_of(solution, system, drawn, owners, weights))
    return problem.with_conditions(names)


def _within(solution: Solution, names: tuple[str, ...]) -> tuple[str, ...]:
    """The conditions in the programs: those of the solve, so that its compiled program is used again."""
    own = () if solution.problem is None else solution.problem.system.within
    return tuple(own) if set(names) <= set(own) else names


def _with_complete_set(family: Family) -> tuple[Family, tuple[str, ...]]:
    """The family, with other conditions if its own do not hold the complete set; and the names of that."""
    complete = complete_set(family)
    names = tuple(condition.name for condition in complete)
    if set(names) <= set(Catalogue(family).names):
        return family, names
    return family.changed(conditions=(), own_conditions=complete), names


def _points(problem: Problem) -> Points:
    """How many points a problem was drawn with."""
    totals = [round(1 / float(np.max(block.weight))) for block in problem.boundary]
    interface = 1 if problem.interface is None else problem.interface.x.shape[-1]
    return Points(problem.collocation.x.shape[-1], max(totals, default=1), interface)
