"""A reward that needs no reference: one fixed functional of the networks on points that training has not seen.

Whatever set of conditions was trained,

    Phi = mean r^2 + 50 mean b^2 + 10 mean (|[u]|^2 + |[phi . n]|^2 + |[grad_t u]|^2)

r is the PDE's residual, b a boundary condition's, [.] the jump across an interface, phi . n the flux through it and
grad_t the tangential first derivatives; a family without a flux has all first derivatives in their place. The
training loss itself would not do: it is small for sets that ask little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...conditions import Side
from ...families.base import Family
from ...families.fields import components_of
from ...pinn.laws import Law, Lookup, Place, System
from ...pinn.options import SolverOptions
from ...pinn.problem import Problem, channel_values, fixed_rows, law_rows
from ...pinn.sampler import Draw, Sampler
from ...pinn.schedule import Schedule
from ...pinn.solution import PhaseRecord
from .base import Reward, Score, decades

RESIDUAL_CAP = 1e4  # sqrt(Phi) of a run that diverged, and of one that is worse
BOUNDARY, INTERFACE = 50.0, 10.0
VALIDATION = 10**6  # the number of the draw of validation points; training draws have small ones


@final
@dataclass(frozen=True)
class Residual(Reward):
    """-log10 sqrt(Phi).

    Args:
        family_points: Measure on the family's numbers of points, as version 0.1 did, not on those of the schedule.
    """

    family_points: bool = False

    name: ClassVar[str] = "residual"
    meaning: ClassVar[str | None] = "residual on fresh points"
    needs_reference: ClassVar[bool] = False

    def of(self, record: PhaseRecord, seconds: float) -> float:
        return -decades(record.score, RESIDUAL_CAP)

    def score(self, family: Family, schedule: Schedule, options: SolverOptions, seed: int) -> Score:
        usual = options.resolve(family, schedule)
        points = options.points or (family.points if self.family_points else usual.points)
        drawn = Sampler(family, points, usual.sampling).draw(seed, VALIDATION)

        def measure(problem: Problem, theta: Float[Array, "K P"]) -> float:
            return math.sqrt(float(functional(_on_points(problem, drawn, theta.dtype), theta)))

        return measure


def _on_points(problem: Problem, drawn: Draw, dtype: Any) -> Problem:
    """The problem with validation points in the place of its training points."""
    return eqx.tree_at(
        lambda p: (p.collocation, p.boundary, p.interface, p.lambda_boundary),
        problem,
        (*drawn.blocks(dtype), jnp.asarray(BOUNDARY, dtype)),
        is_leaf=lambda leaf: leaf is None,
    )


@eqx.filter_jit
def functional(problem: Problem, theta: Float[Array, "K P"]) -> Float[Array, ""]:
    """Phi on the problem's points, of which lambda_boundary must be the functional's."""
    total = sum(jnp.sum(rows**2) for rows in fixed_rows(problem, theta)) / len(theta)
    block = problem.interface
    if block is None:
        return jnp.asarray(total)
    law = mismatch(problem.system)
    va = channel_values(problem, theta, block.x, block.a, law.channels)
    vb = channel_values(problem, theta, block.y, block.b, law.channels)
    jumps = jnp.sum(law_rows(problem, block, law, law.channels, va, vb) ** 2, axis=1)
    return total + INTERFACE * jnp.sum(jumps * block.weight) / len(block.a)


@lru_cache(maxsize=32)
def mismatch(system: System) -> Law:
    """How two sides of an interface disagree at one point, seen from side a."""
    family, d = system.family, len(system.family.coordinates)

    def side(look: Lookup, at: Place) -> Side:
        return Side(family, look, at.x, at.coefficients, at.parameters)

    def evaluate(look_a: Lookup, look_b: Lookup, at: Place, across: Place) -> Any:
        a, b = side(look_a, at), side(look_b, across)
        pairs = list(zip(components_of(a.u), components_of(b.u), strict=True))
        jump = jnp.stack([f.value - g.value for f, g in pairs])
        slopes = jnp.stack([jnp.stack([f.d(z) - g.d(z) for z in family.coordinates]) for f, g in pairs])
        if family.flux is None:
            return jump, slopes
        tangential = slopes - jnp.outer(slopes @ at.normal, at.normal)
        return jump, tangential, (a.flux() - b.flux()) @ at.normal

    middle = {name: jnp.asarray(0.5 * (low + high)) for name, (low, high) in family.parameters.items()}
    return Law("mismatch", evaluate, Place(jnp.full(d, 0.5), jnp.ones(len(family.coefficients)), jnp.ones(d), middle))
