"""The estimate of the relative error by a check of the solution, which needs no reference.

The check asks for the equation, the data and the complete set of interface conditions, whatever set was trained. A set
that leaves the problem undetermined has a small loss and a large estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import jax
import numpy as np
from jaxtyping import Array, Float

from ...families.base import Family
from ...pinn.optimizers import Status
from ...pinn.options import SolverOptions
from ...pinn.problem import Problem
from ...pinn.schedule import Schedule
from ...pinn.solution import ERROR_CAP, PhaseRecord, Solution
from .base import Reward, Score, decades


@final
@dataclass(frozen=True)
class Estimate(Reward):
    """-log10 of the estimated relative error."""

    name: ClassVar[str] = "estimate"
    meaning: ClassVar[str | None] = "estimated relative error"
    needs_reference: ClassVar[bool] = False
    estimates: ClassVar[bool] = True

    def of(self, record: PhaseRecord, seconds: float) -> float:
        return -decades(record.score, ERROR_CAP)

    def score(self, family: Family, schedule: Schedule, options: SolverOptions, seed: int) -> Score:
        def measure(problem: Problem, theta: Float[Array, "K P"]) -> float:
            return as_solution(problem, theta, schedule, seed).check().estimate

        return measure


def as_solution(problem: Problem, theta: Float[Array, "K P"], schedule: Schedule, seed: int) -> Solution:
    """The networks of a phase that ends, as a solution that can be checked."""
    status = Status.RUNNING if bool(jax.numpy.isfinite(theta).all()) else Status.DIVERGED
    system, names = problem.system, problem.system.catalogue.names
    bits = np.asarray(problem.active).astype(int)
    record = PhaseRecord(
        optimizer="",
        conditions=tuple(name for name, bit in zip(names, bits) if bit),
        index=int(bits @ (1 << np.arange(len(bits)))),
        iterations=0,
        seconds=0.0,
        compile_seconds=0.0,
        loss=float("nan"),
        error=None,
        status=status,
        history=(),
    )
    return Solution(
        family=system.family,
        parameters={name: float(value) for name, value in problem.parameters.items()},
        theta=np.asarray(theta),
        hidden=system.network.hidden,
        centre=np.asarray(problem.centre),
        slope=np.asarray(problem.slope),
        phases=(record,),
        schedule=schedule.name,
        seed=seed,
        collocation=(),
        problem=problem.unbalanced,
    )
