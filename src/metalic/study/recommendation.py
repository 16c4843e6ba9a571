"""What a study advises for one PDE: a set per phase, what to expect of it, and how much each condition matters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..bandit import Choice, Learned
from ..conditions import Catalogue
from ..notebook import show

NORMAL_95 = 1.959964  # a normal variable lies within so many deviations with probability 0.95


@dataclass(frozen=True)
class Suggestion:
    """A set with what the phase's reward model expects of its target."""

    conditions: tuple[str, ...]
    index: int
    mean: float
    std: float


@dataclass(frozen=True)
class Effect:
    """What switching a condition on adds to the target (decades), averaged over the other conditions."""

    mean: float
    std: float


@dataclass(frozen=True)
class Advice:
    """For one phase: the best set and its runners-up, and each condition's effect."""

    suggestions: tuple[Suggestion, ...]
    effects: Mapping[str, Effect]

    @property
    def best(self) -> Suggestion:
        return self.suggestions[0]


@dataclass(frozen=True)
class Recommendation:
    """Advice for every decision of a play; pass it as `conditions=` to `solve`, which then also decides later phases
    by the loss that is really reached.

    `expected` is the outcome of the last phase (`meaning`: 'relative error' for instance) with a 95 % interval for
    one more play; None where the reward has no such meaning.
    """

    family: str
    parameters: Mapping[str, float]
    phases: tuple[Advice, ...]
    plays: int
    meaning: str | None
    expected: float | None
    interval: tuple[float, float] | None
    _learned: Learned = field(repr=False, compare=False)
    _catalogue: Catalogue = field(repr=False, compare=False)

    def __call__(self, phase: int, loss: float | None) -> tuple[str, ...]:
        """The set of a phase, given the loss before it."""
        decision = min(phase, len(self.phases) - 1)
        if decision == 0 or loss is None:
            return self.phases[decision].best.conditions
        losses = [None] * decision + [loss]
        ranked = self._learned.recommend(tuple(self.parameters.values()), losses=losses, top=1)
        return self._catalogue.parse(ranked[decision][0].index)

    @property
    def conditions(self) -> tuple[tuple[str, ...], ...]:
        """The set of each decision, later ones by the loss that is expected."""
        return tuple(advice.best.conditions for advice in self.phases)

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
                    "suggestions": [asdict(one) for one in advice.suggestions],
                    "effects": {name: asdict(effect) for name, effect in advice.effects.items()},
                }
                for advice in self.phases
            ],
        }

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())
        sets = "; ".join(",".join(one) or "none" for one in self.conditions)
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
    learned: Learned, catalogue: Catalogue, parameters: Mapping[str, float], meaning: str | None, top: int
) -> Recommendation:
    """Everything that follows from the finished plays for one PDE."""
    context = tuple(parameters.values())
    ranked = learned.recommend(context, top=top)
    phases = []
    for phase, choices in enumerate(ranked):
        suggestions = tuple(_suggestion(catalogue, choice) for choice in choices)
        phases.append(Advice(suggestions, condition_effects(learned, catalogue, context, phase)))
    expected, interval = _outlook(learned, ranked[-1][0]) if meaning else (None, None)
    return Recommendation(
        catalogue.family_name,
        parameters,
        tuple(phases),
        len(learned.history),
        meaning,
        expected,
        interval,
        learned,
        catalogue,
    )


def condition_effects(
    learned: Learned, catalogue: Catalogue, context: tuple[float, ...], phase: int
) -> dict[str, Effect]:
    effects = learned.effects(context, phase=phase)
    return {
        name: Effect(float(mean), float(std))
        for name, mean, std in zip(catalogue.names, effects.mean, effects.std, strict=True)
    }


def _suggestion(catalogue: Catalogue, choice: Choice) -> Suggestion:
    return Suggestion(catalogue.parse(choice.index), choice.index, choice.mean, choice.std)


def _outlook(learned: Learned, best: Choice) -> tuple[float, tuple[float, float]]:
    """10^-reward of the last phase, with the play-to-play noise in its interval."""
    model = learned.model(learned.bandit.decisions - 1)
    noise = model.hyperparameters["sigma0"][0] * float(np.std(model.reward))
    half = NORMAL_95 * math.hypot(best.std, noise)
    return 10**-best.mean, (10 ** -(best.mean + half), 10 ** -(best.mean - half))
