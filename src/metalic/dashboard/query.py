"""The state of a page, which is in its address: what is sorted and filtered, and which parameters are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from ..evaluation.standing import Standing
from ..study.rows import PlayRow

AT = "at."  # before the name of a parameter
ROWS = 200  # rows of a table that are shown
KEYS: dict[str, Callable[[PlayRow], Any]] = {
    "play": lambda row: row.number,
    "status": lambda row: row.status,
    "sets": lambda row: row.sets,
    "error": lambda row: row.error,
    "reward": lambda row: row.reward,
    "seconds": lambda row: sum(phase.seconds or 0.0 for phase in row.phases),
}


@dataclass(frozen=True)
class Query:
    """The query of an address: what follows its question mark.

    Args:
        sort: The column to sort the plays by: a key of `KEYS`, or a parameter.
        down: Whether the largest comes first.
        status: Only plays with this status.
        kind: Only plays of this kind, see `Standing`.
        words: Only plays whose sets contain all of these conditions.
        axis: The parameter that errors are drawn against; the first by default.
        at: The parameters that are looked at.
        other: The study to compare with.
    """

    sort: str = "play"
    down: bool = True
    status: str = ""
    kind: str = ""
    words: str = ""
    axis: str = ""
    at: Mapping[str, str] = field(default_factory=dict)
    other: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Query:
        """Read an address; what is unknown is ignored."""
        texts = {name: given[name] for name in ("sort", "status", "kind", "words", "axis", "other") if given.get(name)}
        at = {name.removeprefix(AT): value for name, value in given.items() if name.startswith(AT)}
        return cls(**texts, down=given.get("down", "1") != "0", at=at)

    def address(self, **changes: Any) -> str:
        """The query with some changes, as text."""
        new = replace(self, **changes)
        texts = {name: getattr(new, name) for name in ("status", "kind", "words", "axis", "other")}
        texts |= {"sort": "" if new.sort == "play" else new.sort, "down": "" if new.down else "0"}
        texts |= {AT + name: value for name, value in new.at.items()}
        return "?" + urlencode({name: value for name, value in texts.items() if value})

    def sorted_by(self, column: str) -> str:
        """The address that sorts by a column, and turns the order if it is sorted by it already."""
        return self.address(sort=column, down=not self.down if column == self.sort else column == "play")

    def rows(self, plays: Sequence[PlayRow], standing: Standing) -> list[PlayRow]:
        """The plays to show, in order; those without a value come last."""
        wanted = set(self.words.replace(",", " ").split())
        found = [
            row
            for row in plays
            if self.status in ("", row.status)
            and (not self.kind or (row.taught and standing.kind(row) == self.kind))
            and any(wanted <= set(phase.conditions) for phase in row.phases)
        ]
        key = KEYS.get(self.sort, lambda row: row.parameters.get(self.sort))
        known = sorted((row for row in found if key(row) is not None), key=key, reverse=self.down)
        return [*known, *(row for row in found if key(row) is None)]
