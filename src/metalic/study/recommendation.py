"""The recommendation of a study for one PDE: a set per phase, its expected outcome, the effect of each condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from scipy.stats import norm

from ..bandit import Compared, GreedyChooser, Knowledge
from ..choices import arm_text, levels_text
from ..families.base import parameters_text
from ..notebook import show
from ..sets import Decision, Level

NORMAL_95 = 1.959964  # a normal variable is within this many deviations of its mean with probability 0.95
EARLY = 30  # plays below which what is learned is preliminary


def caution(plays: int) -> str:
    """What to say about few plays, or nothing."""
    return f"only {plays} plays so far: too early to rely on, below some {EARLY}" if plays < EARLY else ""


@dataclass(frozen=True)
class Effect:
    """What switching a condition on adds to the target (decades), averaged over the other conditions; or what a level
    adds, compared with the other levels of its choice."""

    mean: float
    std: float


@dataclass(frozen=True)
class Advice:
    """For one phase: the best set and its runners-up, each condition's effect, and how surely the best set beats the
    next: a probability, as if what is not known of the two were independent; None in a study with a champion."""

    suggestions: tuple[Decision, ...]
    effects: Mapping[str, Effect]
    probability: float | None = None

    @property
    def best(self) -> Decision:
        return self.suggestions[0]


@dataclass(frozen=True)
class Comparison:
    """The recommended arm against the champion of the study.

    Attributes:
        champion: The champion.
        won: Whether a challenger is recommended.
        challenger: The challenger that is recommended, or else the one that comes nearest to it; None if there is none.
        probability: That the challenger beats the champion.
        ratio: The expected outcome of the challenger, divided by that of the champion.
        interval: A 95 % interval of this ratio, without the noise of single plays.
        needed: The probability from which on a challenger is recommended.
    """

    champion: Decision
    won: bool
    challenger: Decision | None
    probability: float
    ratio: float
    interval: tuple[float, float]
    needed: float

    @property
    def reason(self) -> str:
        """Why this arm is recommended, as a sentence."""
        champion = arm_text(self.champion)
        if self.challenger is None:
            return f"The champion, {champion}, has no challenger yet."
        name, (low, high) = arm_text(self.challenger), self.interval
        if self.won:
            return (
                f"It beats the champion, {champion}, with probability {self.probability:.2g}: {self.ratio:.2g} times "
                f"its value, 95 % between {low:.2g} and {high:.2g}."
            )
        return (
            f"It is the champion: no challenger beats it with probability {self.needed:g}. The nearest, {name}, does "
            f"with {self.probability:.2g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        challenger = None if self.challenger is None else self.challenger.to_dict()
        plain = {key: value for key, value in vars(self).items() if key not in ("champion", "challenger")}
        return {"champion": self.champion.to_dict(), "challenger": challenger, **plain, "reason": self.reason}


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
        comparison: With the champion; None in a study without one.

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
    _learned: Knowledge = field(repr=False, compare=False)
    comparison: Comparison | None = None

    @cached_property
    def chooser(self) -> GreedyChooser:
        """A chooser that picks the sets of a solve from what was learned."""
        return GreedyChooser(self._learned)

    @property
    def caution(self) -> str:
        """That it is too early to rely on the recommendation, or nothing."""
        return caution(self.plays)

    @property
    def certainty(self) -> str:
        """How surely it is the best, as a sentence."""
        if self.comparison is not None:
            return self.comparison.reason
        found = [phase.probability for phase in self.phases if phase.probability is not None]
        each = [f"{one:.2f}" + (f" in phase {i}" if len(found) > 1 else "") for i, one in enumerate(found, start=1)]
        return f"It beats the next best set with probability {', '.join(each)} (0.5 is a toss-up)." if found else ""

    @property
    def choices(self) -> Mapping[str, Level]:
        """The level of each choice that was made besides the conditions."""
        return self.phases[0].best.choices

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
            "caution": self.caution or None,
            "conditions": [list(one) for one in self.conditions],
            **({"choices": dict(self.choices)} if self.choices else {}),
            **({} if self.comparison is None else {"comparison": self.comparison.to_dict()}),
            "meaning": self.meaning,
            "expected": self.expected,
            "interval": None if self.interval is None else list(self.interval),
            "phases": [
                {
                    "suggestions": [one.to_dict() for one in advice.suggestions],
                    "effects": {name: asdict(effect) for name, effect in advice.effects.items()},
                    "probability": advice.probability,
                }
                for advice in self.phases
            ],
        }

    def __repr__(self) -> str:
        sets = "; ".join(str(advice.best.conditions) for advice in self.phases)
        sets = " ".join(filter(None, (sets, levels_text(self.choices))))
        outlook = "" if self.expected is None else f": {self.meaning} {self.expected:.2g} expected"
        member = f"{self.family}({parameters_text(self.parameters)})"
        early = ", too early to rely on" if self.caution else ""
        return f"<Recommendation for {member} from {self.plays} plays{early}: {{{sets}}}{outlook}>"

    def _repr_html_(self) -> str:
        columns = ("condition", *(f"effect in phase {number + 1}" for number in range(len(self.phases))))
        rows = [
            (name, *(f"{advice.effects[name].mean:+.2f} ± {advice.effects[name].std:.2f}" for advice in self.phases))
            for name in self.phases[0].effects
        ]
        meaning = "Effects: decades of reward that switching a condition on adds, averaged over the others."
        from .pictures import advice_figure

        note = f"{self.certainty} {meaning}".strip()
        return show(repr(self)[1:-1], columns, rows, note, draw=partial(advice_figure, self))


def advise(
    learned: Knowledge, family: str, parameters: Mapping[str, float], meaning: str | None, top: int
) -> Recommendation:
    """Derive the recommendation for one PDE from the finished plays."""
    context = tuple(parameters.values())
    ranked = learned.recommend(context, top=max(top, 2))
    phases = tuple(
        Advice(
            suggestions=best[:top],
            effects=condition_effects(learned, context, phase),
            probability=None if isinstance(learned, Compared) else _beats_next(best),
        )
        for phase, best in enumerate(ranked)
    )
    expected, interval = _outlook(learned, context, ranked[-1][0]) if meaning else (None, None)
    compared = _comparison(learned, ranked[0]) if isinstance(learned, Compared) else None
    return Recommendation(family, parameters, phases, plays_of(learned), meaning, expected, interval, learned, compared)


def plays_of(learned: Knowledge) -> int:
    """The number of plays that something was learned from; a pair is two."""
    return len(learned.history) * (2 if isinstance(learned, Compared) else 1)


def _beats_next(ranked: Sequence[Decision]) -> float | None:
    """The probability that the first of a ranking is better than the second; sets that share conditions are more alike
    than two independent Gaussians, so that the real one is usually further from a half."""
    if len(ranked) < 2:
        return None
    best, following = ranked[:2]
    gap = (best.mean or 0.0) - (following.mean or 0.0)
    return float(norm.cdf(gap / max(math.hypot(best.std or 0.0, following.std or 0.0), 1e-300)))


def _comparison(learned: Compared, ranked: tuple[Decision, ...]) -> Comparison:
    champion, best = learned.champion, ranked[0]
    won = arm_text(best) != arm_text(champion)
    others = [one for one in ranked if arm_text(one) != arm_text(champion)]
    challenger = best if won else max(others, key=learned.probability, default=None)
    mean, std = (0.0, 0.0) if challenger is None else (challenger.mean or 0.0, challenger.std or 0.0)
    half = NORMAL_95 * std
    return Comparison(
        champion=champion,
        won=won,
        challenger=challenger,
        probability=0.0 if challenger is None else learned.probability(challenger),
        ratio=10**-mean,
        interval=(10 ** -(mean + half), 10 ** -(mean - half)),
        needed=learned.settings.probability,
    )


def condition_effects(learned: Knowledge, context: tuple[float, ...], phase: int) -> dict[str, Effect]:
    """The effect of every condition and level in a phase, by name."""
    effects = learned.effects(context, phase=phase)
    return {
        name: Effect(float(mean), float(std))
        for name, mean, std in zip(learned.bandit.columns, effects.mean, effects.std, strict=True)
    }


def _outlook(learned: Knowledge, context: tuple[float, ...], best: Decision) -> tuple[float, tuple[float, float]]:
    """10^-reward of the last phase, with the play-to-play noise in its interval."""
    mean, std = learned.forecast(context, best)
    half = NORMAL_95 * std
    return 10**-mean, (10 ** -(mean + half), 10 ** -(mean - half))
