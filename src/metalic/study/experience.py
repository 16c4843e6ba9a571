"""Rows of a ledger as a bandit sees them: plays, or pairs of plays, and what was learned from them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..bandit import Bandit, Knowledge, Pair, Paired, Played, PlayedPhase
from ..choices import Arms
from .rows import PlayRow


class Experience:
    """Turns rows into what a bandit learns from. A finished play never changes, so it is made and checked once."""

    def __init__(self, bandit: Bandit):
        self.bandit = bandit
        self._history: dict[int, Played] = {}
        self._last: tuple[tuple[int, ...], Knowledge] | None = None

    def learned(self, seen: Sequence[PlayRow]) -> Knowledge:
        """The bandit with these plays; kept until there are others, so that models are fitted once."""
        numbers = tuple(row.number for row in seen)
        if self._last is None or self._last[0] != numbers:
            self._last = numbers, self.bandit.learn(self._pairs(seen) if self.paired else list(map(self._play, seen)))
        return self._last[1]

    @property
    def paired(self) -> bool:
        """Whether the bandit learns from pairs."""
        return isinstance(self.bandit.settings, Paired)

    def started(self, row: PlayRow) -> Played:
        """A play in flight; the driver knows only its first decision."""
        return Played(tuple(row.parameters.values()), (PlayedPhase(_vector(self.bandit.space, row)),))

    def _play(self, row: PlayRow) -> Played:
        if row.number not in self._history:
            played = as_played(row, self.bandit.phases, self.bandit.space)
            self._history[row.number] = self.bandit.checked(played, row.number)
        return self._history[row.number]

    def _pairs(self, seen: Sequence[PlayRow]) -> list[Played]:
        """The pairs of which both plays were seen."""
        champions = {row.pair: row for row in seen if row.pair is not None and is_champion(row)}
        found: list[Played] = []
        for row in seen:
            champion = None if row.pair is None else champions.get(row.pair)
            if champion is None or is_champion(row):
                continue
            if row.number not in self._history:
                self._history[row.number] = self._pair(row, champion)
            found.append(self._history[row.number])
        return found

    def _pair(self, row: PlayRow, champion: PlayRow) -> Pair:
        first, played = row.phases[0], as_played(row, self.bandit.phases, self.bandit.space)
        return Pair(
            played.context,
            played.phases,
            champion=math.nan if champion.reward is None else champion.reward,
            number=row.pair or 0,
            forecast=None if first.mean is None or first.std is None else (first.mean, first.std),
        )


def pair_of(number: int) -> int:
    """The pair of a play: 1 and 2 are the first pair."""
    return (number + 1) // 2


def is_champion(row: PlayRow) -> bool:
    """Whether a play of a pair is that of the champion, the first of the two."""
    return row.number % 2 == 1


def as_played(row: PlayRow, phases: int, space: Arms) -> Played:
    """A finished play as bandits see it.

    A phase that a diverged run did not reach counts as its last one: the same set and reward, a loss that is NaN.
    """
    found, loss = [], None
    for number in range(phases):
        phase = row.phases[min(number, len(row.phases) - 1)]
        found.append(PlayedPhase(space.vector(phase.arm, row.choices or {}), phase.reward, loss))
        loss = math.nan if phase.loss is None else phase.loss
    return Played(tuple(row.parameters.values()), tuple(found))


def _vector(space: Arms, row: PlayRow) -> tuple[int, ...]:
    return space.vector(row.phases[0].arm, row.choices or {})
