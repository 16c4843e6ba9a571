"""The recommendation of a study for one PDE: a set per phase, its expected outcome, the effect of each condition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..bandit import GreedyChooser, Learned
from ..notebook import show
from ..sets import Decision

NORMAL_95 = 1.959964  # a normal variable is within this many deviations of its mean with probability 0.95


@dataclass(frozen=True)
class Effect:
    """What switching a condition on adds to the target (decades), averaged over the other conditions."""

    mean: float
    std: float


@dataclass(frozen=True)
class Advice:
    """For one phase: the best set and its runners-up, and each condition's effect."""

    suggestions: tuple[Decision, ...]
    effects: Mapping[str, Effect]

    @property
    def best(self) -> Decision:
        return self.suggestions[0]


@dataclass(frozen=True)
class Recommendation:
    """Advice for every decision of a play.

    Pass it as `conditions=` to `solve`, with the same parameters; the sets of later phases then depend on the loss that
    the solve reaches.

    Attributes:
        family: The family's name.
        parameters: The parameters of the PDE.
        phases: The advice for each decision.
        plays: The number of plays that it is based on.
        meaning: What is expected, for instance 'relative error'; None if the reward has no such meaning.
        expected: The expected outcome of the last phase, if it has a meaning.
        interval: A 95 % interval for the outcome of one more play.

    Example:
        >>> from metalic import Study
        >>> with Study("poisson", read_only=True) as study:  # the ledger shipped with the package
        ...     best = study.recommend(s=17)
        >>> len(best.conditions), best.plays >= 200, best.expected < 1e-2
        (2, True, True)
    """

    family: str
    parameters: Mapping[str, float]
    phases: tuple[Advice, ...]
    plays: int
    meaning: str | None
    expected: float | None
    interval: tuple[float, float] | None
    _learned: Learned = field(repr=False, compare=False)

    @property
    def chooser(self) -> GreedyChooser:
        """A chooser that picks the sets of a solve from what was learned."""
        return GreedyChooser(self._learned)

    @property
    def conditions(self) -> tuple[tuple[str, ...], ...]:
        """The set of each decision; later ones for the expected loss."""
        return tuple(advice.best.conditions.names for advice in self.phases)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "family": self.family,
            "parameters": dict(self.parameters),
            "plays": self.plays,
            "conditions": [list(one) for one in self.conditions],
            "meaning": self.meaning,
            "expected": self.expected,
            "interval": None if self.interval is None else list(self.interval),
            "phases": [
                {
                    "suggestions": [one.to_dict() for one in advice.suggestions],
                    "effects": {name: asdict(effect) for name, effect in advice.effects.items()},
                }
                for advice in self.phases
            ],
        }

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())
        sets = "; ".join(str(advice.best.conditions) for advice in self.phases)
        outlook = "" if self.expected is None else f": {self.meaning} {self.expected:.2g} expected"
        return f"<Recommendation for {self.family}({parameters}) from {self.plays} plays: {{{sets}}}{outlook}>"

    def _repr_html_(self) -> str:
        columns = ("condition", *(f"effect in phase {number + 1}" for number in range(len(self.phases))))
        rows = [
            (name, *(f"{advice.effects[name].mean:+.2f} ± {advice.effects[name].std:.2f}" for advice in self.phases))
            for name in self.phases[0].effects
        ]
        note = "Effects: decades of reward that switching a condition on adds, averaged over the others."
        return show(repr(self)[1:-1], columns, rows, note)


def advise(
    learned: Learned, family: str, parameters: Mapping[str, float], meaning: str | None, top: int
) -> Recommendation:
    """Derive the recommendation for one PDE from the finished plays."""
    context = tuple(parameters.values())
    ranked = learned.recommend(context, top=top)
    phases = tuple(Advice(best, condition_effects(learned, context, phase)) for phase, best in enumerate(ranked))
    expected, interval = _outlook(learned, ranked[-1][0]) if meaning else (None, None)
    return Recommendation(family, parameters, phases, len(learned.history), meaning, expected, interval, learned)


def condition_effects(learned: Learned, context: tuple[float, ...], phase: int) -> dict[str, Effect]:
    """The effect of every condition in a phase, by name."""
    effects = learned.effects(context, phase=phase)
    return {
        name: Effect(float(mean), float(std))
        for name, mean, std in zip(learned.bandit.conditions, effects.mean, effects.std, strict=True)
    }


def _outlook(learned: Learned, best: Decision) -> tuple[float, tuple[float, float]]:
    """10^-reward of the last phase, with the play-to-play noise in its interval."""
    assert best.mean is not None, "a ranking has means"
    assert best.std is not None
    model = learned.model(learned.bandit.decisions - 1)
    noise = model.hyperparameters["sigma0"][0] * float(np.std(model.reward))
    half = NORMAL_95 * math.hypot(best.std, noise)
    return 10**-best.mean, (10 ** -(best.mean + half), 10 ** -(best.mean - half))
