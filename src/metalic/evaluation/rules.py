"""Simple rules from what was learned: the best arm for all parameters, or one arm per interval of the parameter.

The reward model gives every arm a mean for every parameter. A rule is piecewise constant: a limited number of intervals
with one arm each, chosen by dynamic programming to maximise the mean reward over a grid. Every further interval must
raise the mean reward by a minimum, so that near ties do not split the rule. In a study with a champion, the rule is
what it recommends: a challenger where that is surely better, else the champion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..bandit import Compared, Knowledge

WORTH = 0.03  # decades of mean reward that a further interval must add
PIECES = 3
GRID = 33


@dataclass(frozen=True)
class Piece:
    """An arm between two values of the parameter: `arm` is its number, `mean` its mean reward there."""

    low: float
    high: float
    arm: int
    mean: float


def expected_rewards(
    learned: Knowledge, contexts: Sequence[Sequence[float]]
) -> tuple[Float[np.ndarray, "contexts arms"], ...]:
    """For every decision of a play, the posterior mean of every arm in every context; -inf if it cannot be chosen."""
    space = learned.bandit.space
    tables = [np.full((len(contexts), len(space)), -np.inf) for _ in range(learned.bandit.decisions)]
    for i, context in enumerate(contexts):
        for table, ranked in zip(tables, learned.recommend(context, top=len(space)), strict=True):
            table[i, [space.number(one) for one in ranked]] = [one.mean for one in ranked]
    return tuple(tables)


def recommended(learned: Compared, low: float, high: float) -> tuple[Piece, ...]:
    """What a study with a champion recommends over its only parameter."""
    values, edges = grid(low, high), np.linspace(low, high, GRID + 1)
    best = [learned.ranking((value,), top=1)[0] for value in values]
    numbers = [learned.bandit.space.number(one) for one in best]
    starts = [i for i in range(GRID) if i == 0 or numbers[i] != numbers[i - 1]]
    return tuple(
        Piece(edges[i], edges[j], numbers[i], float(np.mean([one.mean for one in best[i:j]])))
        for i, j in zip(starts, [*starts[1:], GRID])
    )


def best_fixed(learned: Knowledge) -> int:
    """The number of the arm that is best on average over the parameters played, by the last decision's model."""
    contexts = [play.context for play in learned.history]
    return int(np.argmax(expected_rewards(learned, contexts)[-1].mean(axis=0)))


def grid(low: float, high: float, count: int = GRID) -> Float[np.ndarray, "count"]:
    """Values of a parameter in the middle of equal cells of its box."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def intervals(
    means: Float[np.ndarray, "n arms"], low: float, high: float, pieces: int = PIECES, worth: float = WORTH
) -> tuple[Piece, ...]:
    """The best rule of at most `pieces` intervals for means on `grid(low, high, n)`."""
    n = len(means)
    total = np.concatenate([np.zeros((1, means.shape[1])), np.cumsum(means, axis=0)])
    best = np.full((n + 1, n + 1), -np.inf)  # of one set for the cells i..j-1
    chosen = np.zeros((n + 1, n + 1), int)
    for i in range(n):
        sums = total[i + 1 :] - total[i]
        best[i, i + 1 :], chosen[i, i + 1 :] = sums.max(axis=1), sums.argmax(axis=1)
    scores, origins = [best[0]], [np.zeros(n + 1, int)]
    for _ in range(1, min(pieces, n)):
        options = scores[-1][:, None] + best
        origins.append(options.argmax(axis=0))
        scores.append(options.max(axis=0))
    count = 0
    while count + 1 < len(scores) and (scores[count + 1][n] - scores[count][n]) / n > worth:
        count += 1
    ends = [n]
    for number in range(count, -1, -1):
        ends.append(int(origins[number][ends[-1]]) if number else 0)
    step = (high - low) / n
    found = []
    for i, j in zip(ends[::-1], ends[-2::-1]):
        found.append(Piece(low + i * step, low + j * step, int(chosen[i, j]), float(best[i, j]) / (j - i)))
    return tuple(found)
