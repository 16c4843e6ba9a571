"""A Bayesian linear model of what an arm gains over the champion, over contexts.

In a context z, every dimension scaled to [-1, 1], with features g(z) = (1, rho z, rho z^2),

    difference(a, z) = sum_k [h_k(a) - h_k(champion)] w_k . g(z) + r_a,    w_k ~ N(0, tau_k^2 I),  r_a ~ N(0, tau_r^2)

h(a) holds the bits of the conditions, the products of two of them, and for each choice the level. The effects of levels
that are numbers have a covariance that falls with their distance in rank; those of texts are independent. r_a is what
the rest does not explain of the arm; that of the champion is zero. Observed differences have noise N(0, sigma^2), and
are cut off at two decades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from metalic.bandit.regression import Fitted, fit
from metalic.choices import Arms, Choice

LARGEST = 2.0  # decades; to be that much better or worse is enough to know
REACH = 0.5  # ranks, of which the whole range is 1, over which ordered levels share what they do
OWN = 0.1  # the share of a level's variance that it does not share
MEDIANS = {"conditions": 0.3, "pairs": 0.1, "choice": 0.5, "rest": 0.15, "varying": 0.5, "noise": 0.3}  # decades
CHUNK = 8192  # arms at a time

Contexts = Float[np.ndarray, "n d"]
Features = Float[np.ndarray, "m p"]


def scaled(z: Contexts) -> Contexts:
    """From [0, 1] to [-1, 1]."""
    return 2 * z - 1


@lru_cache(maxsize=8)
def features(arms: Arms) -> tuple[Features, tuple[str, ...]]:
    """h(a) of all arms, and the group of each of its entries."""
    s = len(arms.conditions)
    bits, levels = arms.vectors[:, :s], arms.vectors[:, s:]
    pairs = [bits[:, i] * bits[:, j] for i, j in combinations(range(s), 2)]
    blocks, groups, start = [bits], ["conditions"] * s + ["pairs"] * len(pairs), 0
    if pairs:
        blocks.append(np.stack(pairs, axis=1))
    for choice in arms.choices:
        count = len(choice.levels)
        blocks.append(levels[:, start : start + count] @ root(choice))
        groups += [f"choice {choice.name}"] * count
        start += count
    return np.hstack(blocks), tuple(groups)


def root(choice: Choice) -> Float[np.ndarray, "k k"]:
    """R with R R^T the prior covariance of the effects of levels."""
    n = len(choice.levels)
    K = np.eye(n)
    for i, j in combinations(range(n), 2):
        a, b = choice.places[i], choice.places[j]
        if a is not None and b is not None:
            K[i, j] = K[j, i] = (1 - OWN) * np.exp(-0.5 * ((a - b) / REACH) ** 2)
    return np.linalg.cholesky(K + 1e-9 * np.eye(n))


@dataclass(frozen=True, eq=False)
class Differences:
    """The model, fitted to pairs.

    Args:
        arms: What can be played.
        champion: The number of the champion's arm.
        contexts: Of each pair, scaled to [0, 1].
        played: The number of the challenger of each pair.
        y: The challenger's reward minus the champion's.
    """

    arms: Arms
    champion: int
    contexts: Contexts
    played: Int[np.ndarray, "n"]
    y: Float[np.ndarray, "n"]

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of effects that have a deviation of their own."""
        return tuple(dict.fromkeys(features(self.arms)[1]))

    @cached_property
    def fitted(self) -> Fitted:
        kinds = [group.partition(" ")[0] for group in self.groups]
        median = np.array([MEDIANS[name] for name in (*kinds, "rest", "varying", "noise")])
        H, z = self._relative(self.played), scaled(self.contexts)
        parts = [H[:, self._in(group)] @ H[:, self._in(group)].T for group in self.groups]
        moving = z @ z.T + (z**2) @ (z**2).T
        same = (self.played[:, None] == self.played).astype(float)

        def covariance(theta: Float[np.ndarray, "p"]) -> Float[np.ndarray, "n n"]:
            *taus, rest, varying, noise = theta
            effects = sum(tau**2 * part for tau, part in zip(taus, parts))
            return (1 + varying**2 * moving) * effects + rest**2 * same + noise**2 * np.eye(len(self.y))

        return fit(covariance, np.clip(self.y, -LARGEST, LARGEST), median)

    @property
    def noise(self) -> float:
        """The deviation of one difference around its mean."""
        return float(self.fitted.theta[-1])

    def predict(self, z: Float[np.ndarray, "d"]) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
        """Mean and deviation of the difference of every arm in a context; zero for the champion."""
        found = [
            self._predict(z, np.arange(i, min(i + CHUNK, len(self.arms)))) for i in range(0, len(self.arms), CHUNK)
        ]
        mean, std = (np.concatenate(parts) for parts in zip(*found))
        mean[self.champion] = std[self.champion] = 0.0
        return mean, std

    def effects(
        self, z: Float[np.ndarray, "d"], weights: Float[np.ndarray, "m c"]
    ) -> tuple[Float[np.ndarray, "c"], Float[np.ndarray, "c"]]:
        """Mean and deviation of weighted sums of the differences of all arms, without what is an arm's own."""
        H = (weights.T @ features(self.arms)[0]) * self._taus
        cross, own = self._cross(z, H)
        return self.fitted.predict(cross, own)

    def drawer(self, z: Float[np.ndarray, "d"]) -> Callable[[np.random.Generator], Float[np.ndarray, "m"]]:
        """Draws of the differences of all arms in a context. What is an arm's own is drawn for arms that were played,
        and zero for others: with thousands of arms, it would otherwise decide every draw."""
        H, g = features(self.arms)[0] - features(self.arms)[0][self.champion], self._context(z[None])[0]
        G = self._context(self.contexts)
        tried, where = np.unique(self.played, return_inverse=True)
        rest, noise = self.fitted.theta[-3], self.noise
        cross, _ = self._cross(z, H * self._taus)
        cross[:, tried] += rest**2 * (self.played[:, None] == tried)
        mine = self._relative(self.played) * self._taus

        def draw(rng: np.random.Generator) -> Float[np.ndarray, "m"]:
            w, own = rng.standard_normal((H.shape[1], len(g))), rest * rng.standard_normal(len(tried))
            seen = np.sum((mine @ w) * G, axis=1) + own[where] + noise * rng.standard_normal(len(self.y))
            found = (H * self._taus) @ (w @ g)
            found[tried] += own
            found += cross.T @ self.fitted.solve(np.clip(self.y, -LARGEST, LARGEST) - seen)
            found[self.champion] = 0.0
            return found

        return draw

    # ---- parts

    def _in(self, group: str) -> list[int]:
        return [i for i, one in enumerate(features(self.arms)[1]) if one == group]

    @cached_property
    def _taus(self) -> Float[np.ndarray, "p"]:
        """The prior deviation of each entry of h."""
        by_group = dict(zip(self.groups, self.fitted.theta))
        return np.array([by_group[group] for group in features(self.arms)[1]])

    def _relative(self, numbers: Int[np.ndarray, "k"]) -> Features:
        H = features(self.arms)[0]
        return H[numbers] - H[self.champion]

    def _context(self, z: Contexts) -> Float[np.ndarray, "n q"]:
        """g(z)."""
        z, rho = scaled(z), self.fitted.theta[-2]
        return np.hstack([np.ones((len(z), 1)), rho * z, rho * z**2])

    def _cross(self, z: Float[np.ndarray, "d"], H: Features) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "k"]]:
        """Covariance with the data, and prior variance, of rows of (scaled) features in a context."""
        g = self._context(z[None])[0]
        mine = self._relative(self.played) * self._taus
        return (self._context(self.contexts) @ g)[:, None] * (mine @ H.T), (g @ g) * np.sum(H**2, axis=1)

    def _predict(
        self, z: Float[np.ndarray, "d"], numbers: Int[np.ndarray, "k"]
    ) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
        rest = self.fitted.theta[-3]
        cross, own = self._cross(z, self._relative(numbers) * self._taus)
        return self.fitted.predict(cross + rest**2 * (self.played[:, None] == numbers), own + rest**2)
