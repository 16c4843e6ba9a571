"""What a study may choose besides conditions: named choices with levels, and the arms that they make with the sets.

A choice is made once for a play, a set of conditions once for each phase. An arm is a set and a level of each choice;
arms are numbered with the set running fastest, then the first choice. Without choices the arms are the sets. As a
vector an arm has a 0/1 entry for each condition and for each level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .errors import ChoiceError
from .sets import ConditionSet, Decision, Level

MOST_ARMS = 1 << 17


@dataclass(frozen=True)
class Choice:
    """A choice: its name, and the levels to choose among. Levels that are numbers are ordered, texts are not.

    Args:
        name: The name.
        levels: At least two numbers or texts.

    Raises:
        ChoiceError: The name or the levels make no sense.

    Example:
        >>> Choice.parse("strip=0.05,0.1,undivided")
        Choice(name='strip', levels=(0.05, 0.1, 'undivided'))
    """

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ChoiceError(f"a choice has a name such as 'strip', not {self.name!r}")
        if isinstance(self.levels, str) or not isinstance(self.levels, Iterable):
            raise ChoiceError(f"choice '{self.name}' has a list of levels, such as [0.1, 0.2], not {self.levels!r}")
        levels = tuple(read_level(self.name, level) for level in self.levels)
        if len(levels) < 2:
            given = f"only the level {_text(levels[0])}" if levels else "no levels"
            raise ChoiceError(
                f"choice '{self.name}' has {given}: give at least two, as in {self.name}=0.1,0.2, or leave it out"
            )
        if len(set(levels)) < len(levels):
            raise ChoiceError(f"choice '{self.name}' has a level twice: {', '.join(map(_text, levels))}")
        object.__setattr__(self, "levels", levels)

    @classmethod
    def parse(cls, text: str) -> Choice:
        """A choice as one writes it on a command line, 'strip=0.05,0.1,0.2'."""
        name, equals, levels = text.partition("=")
        if not equals:
            raise ChoiceError(f"a choice is NAME=LEVEL,LEVEL,..., as in strip=0.05,0.1,0.2, not '{text}'")
        return cls(name.strip(), tuple(part for part in levels.split(",") if part.strip()))

    def find(self, level: Any) -> Level:
        """The level that is meant, if it is one of them."""
        read = read_level(self.name, level)
        if read not in self.levels:
            raise ChoiceError(f"choice '{self.name}' has no level {_text(read)}: {', '.join(map(_text, self.levels))}")
        return read

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """'strip=0.1' for each level."""
        return tuple(f"{self.name}={_text(level)}" for level in self.levels)

    @cached_property
    def places(self) -> tuple[float | None, ...]:
        """Where each level lies in [0, 1] among those that are numbers, in their order; None for a text."""
        numbers = sorted(level for level in self.levels if not isinstance(level, str))
        last = max(len(numbers) - 1, 1)
        return tuple(None if isinstance(level, str) else numbers.index(level) / last for level in self.levels)


def read_level(name: str, given: Any) -> Level:
    """A level from a number or a text; a text that is a number is one."""
    if isinstance(given, bool) or not isinstance(given, str | int | float | np.integer | np.floating):
        raise ChoiceError(f"a level of choice '{name}' is a number or a text, not {given!r}")
    if isinstance(given, str):
        text = given.strip()
        try:
            given = int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            return text
    number = int(given) if isinstance(given, int | np.integer) else float(given)
    if not math.isfinite(number):
        raise ChoiceError(f"a level of choice '{name}' is a finite number, not {number}")
    return number


def read_choices(given: Any) -> tuple[Choice, ...]:
    """Choices from a mapping {name: levels}, or from choices."""
    if isinstance(given, Mapping):
        return tuple(Choice(name, levels) for name, levels in given.items())
    found = tuple(given or ())
    if not all(isinstance(one, Choice) for one in found):
        raise ChoiceError(f"choices are given as {{'strip': [0.1, 0.2]}}, not {given!r}")
    names = [one.name for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ChoiceError(f"choice '{twice[0]}' is given twice")
    return found


def levels_text(levels: Mapping[str, Level]) -> str:
    """'strip=0.1 lambda_boundary=200', or '' without levels."""
    return " ".join(f"{name}={_text(level)}" for name, level in levels.items())


def arm_text(decision: Decision) -> str:
    """An arm for people: 'u,c' or 'u,c strip=0.1'."""
    return " ".join(filter(None, (str(decision.conditions), levels_text(decision.choices))))


@dataclass(frozen=True)
class Arms:
    """All sets of some conditions with all levels of some choices.

    Args:
        conditions: The names of the conditions.
        choices: The choices.

    Raises:
        ChoiceError: There are too many arms.

    Example:
        >>> arms = Arms(("u", "c"), (Choice("cut", (0.3, 0.5)),))
        >>> len(arms), arms.columns, arm_text(arms.decision(6))
        (8, ('u', 'c', 'cut=0.3', 'cut=0.5'), 'c cut=0.5')
    """

    conditions: tuple[str, ...]
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        if len(self) > MOST_ARMS:
            sizes = " x ".join(map(str, self.shape))
            raise ChoiceError(
                f"there are {len(self)} arms ({sizes}), and a study handles at most {MOST_ARMS}: take fewer choices, "
                "fewer levels or fewer conditions"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of sets, and of the levels of each choice."""
        return (1 << len(self.conditions), *(len(choice.levels) for choice in self.choices))

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def columns(self) -> tuple[str, ...]:
        """What the entries of a vector stand for."""
        return (*self.conditions, *(label for choice in self.choices for label in choice.labels))

    @property
    def vectors(self) -> Float[np.ndarray, "m s"]:
        """All arms as 0/1 rows, in the order of their numbers."""
        return _vectors(len(self.conditions), self.shape)

    def decision(self, number: int, mean: float | None = None, std: float | None = None) -> Decision:
        """The arm of a number."""
        chosen, *levels = (int(i) for i in np.unravel_index(number, self.shape, order="F"))
        choices = {choice.name: choice.levels[i] for choice, i in zip(self.choices, levels)}
        return Decision(ConditionSet.at(self.conditions, chosen), mean, std, choices)

    def number(self, decision: Decision) -> int:
        """The number of an arm."""
        levels = [choice.levels.index(decision.choices[choice.name]) for choice in self.choices]
        return int(np.ravel_multi_index((decision.conditions.index, *levels), self.shape, order="F"))

    def number_of(self, vector: Sequence[int]) -> int:
        """The number of an arm that is given as a vector."""
        marks, start = [], len(self.conditions)
        for choice in self.choices:
            marks.append(list(vector[start : start + len(choice.levels)]).index(1))
            start += len(choice.levels)
        index = sum(int(bit) << i for i, bit in enumerate(vector[: len(self.conditions)]))
        return int(np.ravel_multi_index((index, *marks), self.shape, order="F"))

    def vector(self, bits: Sequence[int], levels: Mapping[str, Level]) -> tuple[int, ...]:
        """An arm as a vector, from the bits of its set."""
        marks = [int(levels[choice.name] == level) for choice in self.choices for level in choice.levels]
        return (*(int(bit) for bit in bits), *marks)

    def with_levels(self, levels: Mapping[str, Level]) -> Int[np.ndarray, "k"]:
        """The numbers of the arms with these levels, in increasing order."""
        first = self.number(Decision(ConditionSet.at(self.conditions, 0), choices=levels))
        return np.arange(first, first + self.shape[0])


@lru_cache(maxsize=16)
def _vectors(conditions: int, shape: tuple[int, ...]) -> Float[np.ndarray, "m s"]:
    sets, *levels = np.unravel_index(np.arange(math.prod(shape)), shape, order="F")
    bits = sets[:, None] >> np.arange(conditions) & 1
    found = np.hstack([bits, *(np.eye(n)[level] for n, level in zip(shape[1:], levels))]).astype(float)
    found.flags.writeable = False
    return found


def _text(level: Level) -> str:
    return level if isinstance(level, str) else f"{level:g}"
