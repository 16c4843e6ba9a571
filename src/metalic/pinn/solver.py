"""Solve one PDE: sample, train phase by phase, measure. Everything is a function of the arguments and the seed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .. import runtime
from ..chooser import Chooser
from ..errors import FamilyError, ParameterError, ScheduleError
from ..families.base import Family
from ..sets import Decision
from ..validation import integer
from .limits import Limits
from .optimizers import Ahead, Optimizer, Status, advance
from .optimizers import start as start_state
from .options import SolverOptions
from .problem import Block, Problem
from .sampler import Sampler
from .schedule import Schedule
from .setup import SolveSetup, system_for
from .solution import Solution, relative_error
from .start import Start
from .training import PhaseTrainer, Report

__all__ = ["Report", "error_of", "reference_values", "train"]


def train(
    family: Family,
    chooser: Chooser,
    schedule: Schedule,
    parameters: dict[str, float],
    options: SolverOptions,
    *,
    seed: int = 0,
    extrapolate: bool = False,
    progress: Callable[[Report], Any] | None = None,
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None,
    seconds: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    start: Start | Solution | np.ndarray | Sequence[Start] | None = None,
    within: Sequence[str] | None = None,
) -> Solution:
    """Solve a member of a family phase by phase, with the sets that a chooser picks.

    Args:
        family: What is solved.
        chooser: Picks the set of every phase that has none of its own; its play has begun.
        schedule: The phases.
        parameters: All parameters of the family, checked.
        options: Networks, points, precision and weights; what they leave open, the family and the schedule decide.
        seed: Decides the points and the weights at the start.
        extrapolate: Whether the parameters may lie outside their boxes, where there may be no reference.
        progress: Called when a phase begins and after every chunk of iterations; if it returns True, the phase ends.
        at_phase_end: Called with the problem and the networks at the end of each phase; what it returns is kept as
            the `score` of the phase.
        seconds: A limit on the training time of this call, checked between chunks of iterations.
        checkpoint: A file to write the solve in progress to, and to continue from if it exists.
        start: Networks, or weights of the right shape, to start from instead of random ones; phases that only find a
            start are left out then. Of several, the one whose loss is smallest after one iteration is taken.
        within: The conditions that the compiled programs contain: those that the chooser may pick. None means the
            whole catalogue, so that all sets share their programs. The result does not depend on it.

    Raises:
        MetalicError: The seed, an option or a set makes no sense; nothing has been trained then.
    """
    if integer(seed) is None:
        raise ScheduleError(f"a seed is an integer of at least 0, not {seed!r}")
    chosen = options.resolve(family, schedule)
    with jax.enable_x64(chosen.precision == "float64"), runtime.programs_kept():
        setup = SolveSetup(
            system=system_for(family, chosen, schedule, within),
            sampler=Sampler(family, chosen.points, chosen.sampling),
            options=chosen,
            parameters=parameters,
            seed=int(seed),
            balance=schedule.balance,
            at_phase_end=at_phase_end,
            start=start,
        )
        limits = Limits.of(seconds, checkpoint, setup.identity(schedule, chooser))
        return _train(setup, schedule, chooser, progress, extrapolate, limits)


def reference_values(
    family: Family, parameters: Mapping[str, float], extrapolate: bool = False
) -> Float[np.ndarray, "..."] | None:
    """The family's reference on its grid, or None; beyond the box a reference may not exist, which is not an error."""
    if family.reference is None:
        return None
    try:
        values = np.asarray(family.reference(**parameters)(family.error_points()), dtype=float)
    except ParameterError:
        if extrapolate:
            return None
        raise
    except (TypeError, ValueError) as error:
        raise FamilyError(f"family '{family.name}': the reference cannot be evaluated: {error}") from error
    wanted = (len(family.error_points()), len(family.components))
    if values.size != np.prod(wanted):
        raise FamilyError(
            f"family '{family.name}': the reference gives an array of shape {values.shape} for {wanted[0]} points and "
            f"{wanted[1]} component(s)"
        )
    if not np.isfinite(values).all():
        raise FamilyError(f"family '{family.name}': the reference is not finite everywhere on the grid of the error")
    return values.reshape(wanted)


def error_of(
    solution: Solution, extrapolate: bool = False, given: Float[np.ndarray, "n m"] | None = None
) -> float | None:
    """The relative error of a solution against given values on its grid, or the family's reference; None without."""
    reference = reference_values(solution.family, solution.parameters, extrapolate) if given is None else given
    return None if reference is None else relative_error(solution.values(solution.family.error_points()), reference)


def _train(
    setup: SolveSetup,
    schedule: Schedule,
    chooser: Chooser,
    progress: Callable[[Report], None] | None,
    extrapolate: bool,
    limits: Limits,
) -> Solution:
    family, catalogue = setup.system.family, setup.system.catalogue
    own = [None if one.conditions is None else Decision(catalogue.parse(one.conditions)) for one in schedule.phases]
    setup.reference = reference_values(family, setup.parameters, extrapolate)
    setup.grid = family.error_points()
    problem, begun, first = setup.problem(), None, 0
    if setup.starts:
        first = schedule.first_with_start
        decision = own[first] or chooser.choose(first, None)
        trial = _Trial(setup, problem.with_conditions(decision.conditions), schedule.phases[first].optimizer)
        begun = setup.starts[0] if len(setup.starts) == 1 else min(setup.starts, key=trial.loss)
    theta = setup.random_weights() if begun is None else setup.on_device(begun.theta)
    kept, ahead = limits.read(), Ahead()
    records = kept.records(catalogue) if kept else []
    for number, phase in list(enumerate(schedule.phases))[first + len(records) :]:
        decision = own[number] or chooser.choose(number, records[-1].loss if records else None)
        decision = kept.decision(catalogue) if kept else decision
        trainer = PhaseTrainer(setup, phase, number, len(schedule.phases), decision, progress, limits, records, ahead)
        problem = problem.with_conditions(decision.conditions)
        trainer.following = schedule.phases[number + 1].optimizer if number + 1 < len(schedule.phases) else None
        problem, theta, record = trainer.run(problem, theta, kept)
        records, kept = [*records, record], None
        if record.status in (Status.DIVERGED, Status.TIME):
            break
    ahead.wait()
    limits.finish(records[-1].status)
    return Solution(
        family=family,
        parameters=setup.parameters,
        theta=np.asarray(theta),
        hidden=setup.system.network.hidden,
        activation=setup.system.network.activation,
        centre=np.asarray(problem.centre),
        slope=np.asarray(problem.slope),
        phases=tuple(records),
        schedule=schedule.name,
        seed=setup.seed,
        collocation=_plain_points(problem.collocation),
        problem=problem.unbalanced,
        start=None if begun is None else begun.to_dict(),
    )


@dataclass
class _Trial:
    """Compares starts by one iteration each, with the program that will train."""

    setup: SolveSetup
    problem: Problem
    optimizer: Optimizer

    def loss(self, one: Start) -> float:
        state = start_state(self.optimizer, self.problem, self.setup.on_device(one.theta))
        loss = float(advance(self.optimizer, self.problem, state, jnp.asarray(1))[0].loss)
        return loss if np.isfinite(loss) else np.inf


def _plain_points(block: Block) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x).T[np.asarray(w) > 0] for x, w in zip(block.x, block.weight))
