"""A set of interface conditions as one value, and a decision for a set.

A family has its conditions in a fixed order. A set is one 0/1 bit a_i per condition; its index is sum_i 2^i a_i. Sets
are parsed where they enter the package and written as names or text where they leave it; inside the package they keep
this form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import ConditionError
from .registry import suggestion

NONE, ALL = "none", "all"

Level = int | float | str
"""A level of a choice."""


@dataclass(frozen=True)
class ConditionSet:
    """A set of conditions.

    Args:
        known: The names of all conditions, in the order of the catalogue.
        bits: 1 for every condition in the set, 0 for the others.

    Example:
        >>> chosen = ConditionSet.parse(("u", "uavg", "c"), "c,u")
        >>> chosen.names, chosen.bits, chosen.index, str(chosen)
        (('u', 'c'), (1, 0, 1), 5, 'u,c')
    """

    known: tuple[str, ...]
    bits: tuple[int, ...]

    @classmethod
    def parse(cls, known: tuple[str, ...], given: Any, owner: str = "") -> ConditionSet:
        """Parse a set from any of its notations.

        Args:
            known: The names of all conditions.
            given: A text 'u,c', an index (also as text), 'all' or 'none', a flat list of names, a 0/1 vector with one
                entry per condition, or a set.
            owner: What has these conditions, for messages.

        Raises:
            ConditionError: The notation is unknown or ambiguous, or a name, the index or the vector does not fit.
        """
        if isinstance(given, ConditionSet):
            return given if given.known == known else cls._from_names(known, given.names, owner)
        if isinstance(given, str):
            return cls._from_text(known, given.strip(), owner)
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            return cls.at(known, int(given))
        if isinstance(given, bool) or not isinstance(given, Iterable):
            raise ConditionError(f"a set of conditions is names, a 0/1 vector or an index, not {given!r}")
        items = list(given)
        if items and not any(isinstance(item, str) for item in items):
            return cls._from_vector(known, items)
        if any(_is_set(item) or (isinstance(item, str) and set(item) & set(",;")) for item in items):
            raise ConditionError(
                f"{given!r} is ambiguous: write 'u,c' or ['u', 'c'] for one set, and 'u,c;u' or [['u', 'c'], ['u']] "
                "for one set per phase"
            )
        return cls._from_names(known, items, owner)

    @classmethod
    def at(cls, known: tuple[str, ...], index: int) -> ConditionSet:
        """The set of an index."""
        if not 0 <= index < 1 << len(known):
            raise ConditionError(f"set index {index} is outside 0..{(1 << len(known)) - 1}")
        return cls(known, tuple(index >> i & 1 for i in range(len(known))))

    @classmethod
    def _from_text(cls, known: tuple[str, ...], text: str, owner: str) -> ConditionSet:
        if text.isdecimal():
            return cls.at(known, int(text))
        if text == ALL:
            return cls(known, (1,) * len(known))
        names = () if text == NONE else (part.strip() for part in text.split(","))
        return cls._from_names(known, [name for name in names if name], owner)

    @classmethod
    def _from_names(cls, known: tuple[str, ...], names: Sequence[Any], owner: str) -> ConditionSet:
        for name in names:
            if not isinstance(name, str) or name not in known:
                allowed = f"allowed are {', '.join(known)}.{suggestion(name, known)}"
                raise ConditionError(f"no condition '{name}'{owner}: {allowed}")
        return cls(known, tuple(int(name in names) for name in known))

    @classmethod
    def _from_vector(cls, known: tuple[str, ...], bits: Sequence[Any]) -> ConditionSet:
        if len(bits) != len(known) or any(isinstance(bit, Iterable) or bit not in (0, 1) for bit in bits):
            raise ConditionError(
                f"a 0/1 vector of conditions has {len(known)} entries, not {bits}; an index is a number by itself"
            )
        return cls(known, tuple(map(int, bits)))

    @property
    def index(self) -> int:
        return sum(bit << i for i, bit in enumerate(self.bits))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the conditions in the set, in the order of the catalogue."""
        return tuple(name for name, bit in zip(self.known, self.bits, strict=True) if bit)

    def __str__(self) -> str:
        return ",".join(self.names) or NONE


@dataclass(frozen=True)
class Decision:
    """The set of a phase, with mean and deviation of the reward model's prediction; None if no model was used.

    `choices` are the levels of the other choices, by name; they hold for the whole play.
    """

    conditions: ConditionSet
    mean: float | None = None
    std: float | None = None
    choices: Mapping[str, Level] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        chosen = self.conditions
        values = {"conditions": list(chosen.names), "index": chosen.index, "mean": self.mean, "std": self.std}
        return values | ({"choices": dict(self.choices)} if self.choices else {})


def split_phases(given: Any) -> list[Any] | None:
    """The sets of a notation for one set per phase ('u,c;u' or a list of sets), or None if it is a single set."""
    if isinstance(given, str):
        return given.split(";") if ";" in given else None
    several = isinstance(given, list | tuple) and len(given) > 0 and all(_is_set(one) for one in given)
    return list(given) if several else None


def _is_set(one: Any) -> bool:
    """Whether an item of a list is a whole set, not the name or the bit of one condition."""
    return isinstance(one, ConditionSet | Iterable) and not isinstance(one, str)
