"""What is fixed for a whole solve: the system, the points, the precision, the parameters and the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..chooser import Chooser, FixedChooser
from ..conditions import Catalogue
from ..families.base import Family
from .laws import System, system_of
from .network import Network
from .options import ResolvedOptions
from .problem import Problem, residual_strength
from .sampler import Sampler, scale
from .schedule import Schedule
from .solution import Solution
from .start import Start, Target, fitted

SAMPLE = 8  # random networks by which residuals are balanced


@dataclass
class SolveSetup:
    """What is fixed for a whole solve."""

    system: System
    sampler: Sampler
    options: ResolvedOptions
    parameters: dict[str, float]
    seed: int
    balance: bool
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None
    start: Start | Solution | np.ndarray | Sequence[Start] | None = None
    reference: Float[np.ndarray, "..."] | None = None
    grid: Float[np.ndarray, "n d"] = field(default_factory=lambda: np.zeros((0, 0)))

    def problem(self) -> Problem:
        family = self.system.family
        blocks = self.sampler.draw(self.seed).blocks(self.options.precision)
        centre, slope = scale(family, self.options.scaling)
        arrays: dict[str, Any] = {
            "centre": centre,
            "slope": slope,
            "coefficients": family.coefficient_table(),
            "parameters": {name: np.asarray(value) for name, value in self.parameters.items()},
            "active": np.zeros(len(self.system.catalogue), bool),
            "lambda_boundary": np.asarray(self.options.lambda_boundary),
            "lambda_interface": np.array([*self.options.lambda_interface.values()]),
        }
        problem = Problem(*blocks, **self.on_device(arrays), system=self.system)
        return self._balanced(problem) if self.balance and family.coefficients else problem

    def _balanced(self, problem: Problem) -> Problem:
        """With residuals that depend equally on the networks in all subdomains, as much as where they depend least.

        All subdomains see the same sample of random networks, so that they differ in coefficients and sizes only.
        """
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 3]))
        sample = np.stack([self.system.network.init(rng) for _ in range(SAMPLE)])
        thetas = self.on_device(np.repeat(sample[:, None], len(problem.slope), axis=1))
        strength = jax.jit(residual_strength)(problem, thetas)
        return replace(problem, balance=jnp.min(strength, axis=0) / strength)

    def on_device(self, tree: Any) -> Any:
        """Arrays in the precision of the run."""

        def convert(leaf: Any) -> jax.Array:
            leaf = np.asarray(leaf)
            return jax.device_put(leaf if leaf.dtype == bool else leaf.astype(self.options.precision))

        return jax.tree.map(convert, tree)

    def identity(self, schedule: Schedule, chooser: Chooser) -> dict[str, Any]:
        """What decides the result, for a checkpoint."""
        family = self.system.family
        return {
            "family": [family.name, repr(vars(family)), repr(family.decomposition)],
            "parameters": self.parameters,
            "conditions": repr(chooser) if isinstance(chooser, FixedChooser) else type(chooser).__name__,
            "schedule": repr(schedule),
            "seed": self.seed,
            "options": repr(self.options),
            "start": [float(np.sum(one.theta)) for one in self.starts],
        }

    @cached_property
    def starts(self) -> list[Start]:
        """The networks to start from, in the shape of those that are trained; none if the start is cold."""
        if self.start is None:
            return []
        family, network = self.system.family, self.system.network
        target = Target(family, network, *scale(family, self.options.scaling), self.seed)
        several = isinstance(self.start, list | tuple) and all(isinstance(one, Start) for one in self.start)
        return [fitted(one, target) for one in (self.start if several else [self.start])]  # type: ignore[union-attr]

    def random_weights(self) -> jax.Array:
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 0]))
        count = len(self.system.family.decomposition)
        return self.on_device(np.stack([self.system.network.init(rng) for _ in range(count)]))


def system_for(family: Family, options: ResolvedOptions, schedule: Schedule, within: Sequence[str] | None) -> System:
    """The system of a solve; its programs contain the sets that phases have of their own, too."""
    network = Network(len(family.coordinates), len(family.components), options.hidden, options.activation)
    if within is None:
        return system_of(family, network)
    catalogue = Catalogue(family)
    own = [catalogue.parse(one.conditions).names for one in schedule.phases if one.conditions is not None]
    return system_of(family, network, tuple(sorted({*within, *chain(*own)})))
