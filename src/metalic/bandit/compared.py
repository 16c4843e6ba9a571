"""What is known from pairs: which arm to play against the champion next, and which to recommend.

A challenger is recommended in a context where it beats the champion, by more than 0.03 decades, with a given
probability; of several the one that gains most, and of those that gain the same the one with the fewest conditions.
Every fourth pair confirms: it plays the arm that would be recommended if one had to be. How far these plays were from
what was forecast before them, in deviations, widens all later forecasts and lowers all later probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.stats import norm, qmc

from metalic.bandit.bandit import Bandit
from metalic.bandit.differences import Differences
from metalic.bandit.history import Pair, Played
from metalic.bandit.knowledge import Effects, Knowledge, randomness
from metalic.bandit.policies import Belief
from metalic.bandit.settings import Paired
from metalic.bandit.trend import Trend
from metalic.sets import Decision, Level

CONFIRM = 4  # one pair in this many confirms
ALIKE = 0.03  # decades; arms whose gains differ by less are the same
WORTH = 0.05  # decades; a study in which nothing is expected to gain more is level with its champion
JUDGED = 15  # pairs before that is said
PLACES = 16  # contexts in which it is asked
KNOWN = 10.0  # confirming pairs that the prior on the width of forecasts counts for
FLIPS = 1.5  # conditions in which a random challenger differs from the champion, on average
WIDE = 10.0  # a positive range whose ends differ by this factor is scaled by logarithms


@dataclass(frozen=True, eq=False)
class Compared(Knowledge):
    """A paired bandit with its finished pairs."""

    bandit: Bandit
    history: tuple[Played, ...]
    _models: dict[str, Differences | Trend] = field(default_factory=dict, init=False, repr=False)

    @property
    def settings(self) -> Paired:
        assert isinstance(self.bandit.settings, Paired)
        return self.bandit.settings

    @property
    def pairs(self) -> list[Pair]:
        return [play for play in self.history if isinstance(play, Pair)]

    @property
    def champion(self) -> Decision:
        """The champion; its gain over itself is zero."""
        return self.bandit.space.decision(self.settings.champion_number, 0.0, 0.0)

    @property
    def model(self) -> Differences:
        """The model of differences."""
        if "differences" not in self._models:
            space, pairs = self.bandit.space, self.pairs
            played = np.array([space.number_of(pair.phases[-1].arm) for pair in pairs], int)
            y = np.array([_reward(pair) - pair.champion for pair in pairs])
            self._models["differences"] = Differences(space, self.settings.champion_number, self._contexts(), played, y)
        return self._models["differences"]  # type: ignore[return-value]

    @property
    def trend(self) -> Trend:
        """The champion's reward."""
        if "trend" not in self._models:
            self._models["trend"] = Trend(self._contexts(), np.array([pair.champion for pair in self.pairs]))
        return self._models["trend"]  # type: ignore[return-value]

    @property
    def widening(self) -> float:
        """By how much more than forecast the confirming pairs scattered; at least 1."""
        squares = [
            ((_reward(pair) - pair.champion - pair.forecast[0]) ** 2 / (pair.forecast[1] ** 2 + self.model.noise**2))
            for pair in self.pairs
            if pair.forecast is not None and confirms(pair.number)
        ]
        return math.sqrt(max(1.0, (sum(min(one, 9.0) for one in squares) + KNOWN) / (len(squares) + KNOWN)))

    # ---- playing

    def decide(
        self,
        context: Sequence[float],
        *,
        play: int,
        key: int | Sequence[int],
        phase: int = 0,
        loss: float | None = None,
        pending: Sequence[Played] = (),
        choices: Mapping[str, Level] | None = None,
    ) -> Decision:
        """The challenger of a pair; `play` is the number of the pair."""
        random = randomness(play, key)
        z, settings, space = self.place(context), self.settings, self.bandit.space
        rng = np.random.default_rng([*random, 0])
        if play <= len(settings.first):
            return space.decision(int(settings.first[play - 1]))
        if play <= settings.random_plays or not self.history:
            return space.decision(self._neighbour(rng))
        others = np.delete(np.arange(len(space)), settings.champion_number)
        if not settings.policy.needs_model:
            return space.decision(int(others[settings.policy.choose(Belief.blank(len(others)), play, rng)]))
        mean, std = self.model.predict(z)
        if confirms(play):
            chosen = int(others[np.argmax(mean[others] - std[others])])
        else:
            draw = self.model.drawer(z)
            belief = Belief(mean[others], std[others], lambda: np.diag(std[others] ** 2), lambda r: draw(r)[others])
            chosen = int(others[settings.policy.choose(belief, play, rng)])
        return space.decision(chosen, float(mean[chosen]), float(std[chosen]))

    def _neighbour(self, rng: np.random.Generator) -> int:
        """A random arm near the champion: a few conditions differ, and levels are random."""
        space, champion = self.bandit.space, self.settings.champion_number
        s, found = len(space.conditions), champion
        set_index = champion % space.shape[0]
        while found == champion:
            flips = rng.random(s) < min(FLIPS / s, 0.5)
            changed = set_index ^ sum(1 << i for i in np.flatnonzero(flips).tolist())
            drawn = [int(rng.integers(n)) for n in space.shape[1:]]
            found = int(np.ravel_multi_index((changed, *drawn), space.shape, order="F"))
        return found

    # ---- what was learned

    def gains(self, context: Sequence[float]) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
        """Mean and deviation of what every arm gains over the champion in a context, in decades."""
        mean, std = self.model.predict(self.place(context))
        return mean, std * self.widening

    def ranking(
        self,
        context: Sequence[float],
        phase: int = 0,
        loss: float | None = None,
        top: int = 1,
        choices: Mapping[str, Level] | None = None,
    ) -> tuple[Decision, ...]:
        """The recommended arm, then those that are expected to gain most. Means and deviations are of the gain."""
        mean, std = self.gains(context)
        order = np.argsort(-mean, kind="stable")
        best = self._recommended(mean, std)
        numbers = [best, *(int(i) for i in order[: top + 1] if i != best)][:top]
        return tuple(self.bandit.space.decision(i, float(mean[i]), float(std[i])) for i in numbers)

    def _recommended(self, mean: Float[np.ndarray, "m"], std: Float[np.ndarray, "m"]) -> int:
        surely = mean - ALIKE > norm.ppf(self.settings.probability) * std
        if not surely.any():
            return self.settings.champion_number
        alike = np.flatnonzero(surely & (mean >= mean[surely].max() - ALIKE))
        counts = self.bandit.arms[alike, : len(self.bandit.conditions)].sum(axis=1)
        return int(min(zip(counts, -mean[alike], alike))[2])

    def recommend(
        self, context: Sequence[float], *, losses: Sequence[float | None] = (), top: int = 5
    ) -> tuple[tuple[Decision, ...], ...]:
        return (self.ranking(context, top=top),)

    def probability(self, arm: Decision) -> float:
        """The probability that an arm of a ranking beats the champion, by more than what counts as the same."""
        return float(norm.cdf(((arm.mean or 0.0) - ALIKE) / arm.std)) if arm.std else 0.0

    def forecast(self, context: Sequence[float], arm: Decision) -> tuple[float, float]:
        mean, std = self.trend.predict(self.place(context))
        spread = math.hypot(std, self.trend.noise) * self.widening
        return mean + (arm.mean or 0.0), math.hypot(spread, arm.std or 0.0)

    def effects(self, context: Sequence[float], *, phase: int = 0, loss: float | None = None) -> Effects:
        return Effects(*self.model.effects(self.place(context), self.bandit.contrasts))

    @property
    def level(self) -> bool:
        """Whether nothing is expected to gain on the champion anywhere, after enough pairs to say so."""
        if len(self.pairs) < JUDGED:
            return False
        d = len(self.bandit.low)
        low, high = np.asarray(self.bandit.low), np.asarray(self.bandit.high)
        contexts = low + (high - low) * qmc.Sobol(max(d, 1), scramble=False).random(PLACES)[:, :d]
        return all(float(self.model.predict(self.place(context))[0].max()) < WORTH for context in contexts.tolist())

    # ---- contexts

    def place(self, context: Sequence[float]) -> Float[np.ndarray, "d"]:
        """A context in [0, 1], in logarithms where the range is wide."""
        plain, values = self.bandit.box.scale(context), np.asarray(context, float)
        low, high = np.asarray(self.bandit.low), np.asarray(self.bandit.high)
        wide = (low > 0) & (high >= WIDE * low) & (values > 0)
        bottom, top, here = (np.where(wide, x, default) for x, default in ((low, 1.0), (high, 2.0), (values, 1.0)))
        return np.where(wide, np.log(here / bottom) / np.log(top / bottom), plain)

    def _contexts(self) -> Float[np.ndarray, "n d"]:
        found = [self.place(pair.context) for pair in self.pairs]
        return np.array(found).reshape(len(found), len(self.bandit.low))


def confirms(pair: int) -> bool:
    """Whether a pair confirms what was learned."""
    return pair % CONFIRM == 0


def _reward(pair: Pair) -> float:
    reward = pair.phases[-1].reward
    assert reward is not None, "checked"
    return reward
