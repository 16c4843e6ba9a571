"""What a play is worth: larger is better, in decades.

    error       -log10 of the relative L2 error against the family's reference (the paper's reward)
    residual    -log10 sqrt(Phi), which needs no reference: Phi is one fixed functional of the networks on points that
                training has not seen, whatever set of conditions was trained,
                Phi = mean r^2 + 50 mean b^2 + 10 mean (|[u]|^2 + |[phi . n]|^2 + |[grad_t u]|^2)
    error+time  -log10 error - seconds / exchange: `exchange` seconds of training are worth a factor of ten in error

r is the PDE's residual, b a boundary condition's, [.] the jump across an interface, phi . n the flux through it and
grad_t the tangential first derivatives; a family without a flux has all first derivatives in their place. The
training loss itself would not do: it is small for sets that ask little. Each phase has a reward, that of the networks
at its end; seconds count from the beginning of the play.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..conditions import Side
from ..errors import StudyError
from ..families.base import Family
from ..families.fields import components_of
from ..pinn.laws import Law, Lookup, Place, System
from ..pinn.options import SolverOptions
from ..pinn.problem import Problem, channel_values, fixed_rows, law_rows
from ..pinn.sampler import Draw, Sampler
from ..pinn.schedule import Schedule
from ..pinn.solution import ERROR_CAP, PhaseRecord
from ..validation import real

ERROR, RESIDUAL, ERROR_TIME = "error", "residual", "error+time"
EXCHANGE = 60.0  # seconds
RESIDUAL_CAP = 1e4  # sqrt(Phi) of a run that diverged, and of one that is worse
BOUNDARY, INTERFACE = 50.0, 10.0
VALIDATION = 10**6  # the number of the draw of validation points; training draws have small ones

Score = Callable[[Problem, Float[Array, "K P"]], float]


@dataclass(frozen=True)
class Reward:
    """A reward by name; `exchange` is used by error+time only.

    `family_points`: residual is measured on the family's numbers of points, as in version 0.1, not the schedule's.
    """

    name: str = ERROR
    exchange: float = EXCHANGE
    family_points: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in (ERROR, RESIDUAL, ERROR_TIME):
            raise StudyError(f"no reward '{self.name}': allowed are error, residual, error+time or error+time:SECONDS")
        if not (real(self.exchange) or 0) > 0:
            raise StudyError(f"error+time trades a positive number of seconds for a decade, not {self.exchange!r}")

    @classmethod
    def find(cls, given: str | Reward | None, family: Family) -> Reward:
        """A reward from its text, checked against the family; None: error if there is a reference, else residual."""
        if given is None:
            return cls(ERROR if family.reference is not None else RESIDUAL)
        if not isinstance(given, str | Reward):
            raise StudyError(f"a reward is a name such as 'error', not {given!r}")
        reward = given if isinstance(given, Reward) else cls._read(given)
        if reward.name != RESIDUAL and family.reference is None:
            raise StudyError(
                f"reward '{reward.name}' needs a reference; family '{family.name}' has none: take 'residual'"
            )
        return reward

    @classmethod
    def _read(cls, text: str) -> Reward:
        name, colon, seconds = text.partition(":")
        if not colon:
            return cls(name)
        if name != ERROR_TIME:
            raise StudyError(f"reward '{name}' takes no number; only error+time:SECONDS does")
        try:
            return cls(name, float(seconds))
        except ValueError:
            raise StudyError(f"error+time:SECONDS takes a number of seconds, not '{seconds}'") from None

    def __str__(self) -> str:
        return f"{self.name}:{self.exchange:g}" if self.name == ERROR_TIME else self.name

    @property
    def meaning(self) -> str | None:
        """What 10^-reward is, None if it is nothing that has a name."""
        return {ERROR: "relative error", RESIDUAL: "residual on fresh points"}.get(self.name)

    def of(self, record: PhaseRecord, seconds: float) -> float:
        """The reward of a phase that ended `seconds` after the play began; a finite number, always."""
        if self.name == RESIDUAL:
            return -_decades(record.score, RESIDUAL_CAP)
        value = -_decades(record.error, ERROR_CAP)
        return value - seconds / self.exchange if self.name == ERROR_TIME else value

    def score(self, family: Family, schedule: Schedule, options: SolverOptions, seed: int) -> Score | None:
        """What a solve must measure at the end of each phase for this reward."""
        if self.name != RESIDUAL:
            return None
        usual = options.resolve(family, schedule)
        points = options.points or (family.points if self.family_points else usual.points)
        drawn = Sampler(family, points, usual.sampling).draw(seed, VALIDATION)

        def measure(problem: Problem, theta: Float[Array, "K P"]) -> float:
            return math.sqrt(float(functional(_on_points(problem, drawn, theta.dtype), theta)))

        return measure


def _decades(value: float | None, cap: float) -> float:
    if value is None or not math.isfinite(value):
        return math.log10(cap)
    return math.log10(min(max(value, 1e-300), cap))


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
