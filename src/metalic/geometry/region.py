"""What a domain and its subdomains are: regions, with a boundary made of flat pieces.

A *region* is a part of space-time in d named coordinates. A *patch* is a flat piece of a boundary: one coordinate is
fixed, in space and in time alike. Everything that the solver needs to know of a geometry is asked of these two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .sampling import unit_points

# Two faces count as the same plane when they differ by less than this share of the domain's extent.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Patch:
    """A flat piece of a boundary: coordinate number `axis` is fixed, the outward normal is `sign` along it."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    axis: int
    sign: int
    measure: float
    """Its length or area with every coordinate in units of the domain's extent, so that space and time compare;
    1 for a single point (d = 1)."""
    name: str = ""
    """The face of the domain that it lies on: 'x=min', 't=max', 'x=1'; empty inside the domain."""

    def sample(self, n: int, sampling: str, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """n points (one point if the patch is a point)."""
        low, high = np.array(self.low), np.array(self.high)
        unit = unit_points(n, len(low) - 1, sampling, rng)
        return low + (high - low) * np.insert(unit, self.axis, 0.0, axis=1)

    def normals(self, n: int) -> Float[np.ndarray, "n d"]:
        """The unit normal, n times."""
        vectors = np.zeros((n, len(self.low)))
        vectors[:, self.axis] = self.sign
        return vectors


class Region(ABC):
    """A part of space-time in named coordinates: what `Box` and `Union` have in common.

    Lengths that a method takes as `slack` are one per coordinate.

    Attributes:
        sides: The smallest box around the region, {coordinate: (low, high)}.

    Example:
        >>> from metalic import Box
        >>> square = Box(x=(0, 1), y=(0, 2))
        >>> isinstance(square, Region), square.names, square.measure
        (True, ('x', 'y'), 2.0)
    """

    sides: Mapping[str, tuple[float, float]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(self.sides)

    @property
    def low(self) -> Float[np.ndarray, "d"]:
        """The lowest value of each coordinate."""
        return np.array([low for low, _ in self.sides.values()])

    @property
    def high(self) -> Float[np.ndarray, "d"]:
        """The highest value of each coordinate."""
        return np.array([high for _, high in self.sides.values()])

    @property
    def slack(self) -> Float[np.ndarray, "d"]:
        """Differences that count as rounding."""
        return TOLERANCE * (self.high - self.low)

    @property
    @abstractmethod
    def measure(self) -> float:
        """Its length, area or volume."""

    @abstractmethod
    def contains(
        self, points: Float[np.ndarray, "n d"], slack: Float[np.ndarray, "d"] | None = None
    ) -> Bool[np.ndarray, "n"]:
        """Which points lie in the closed region, up to a slack (by default its own)."""

    @abstractmethod
    def sample(self, n: int, sampling: str, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """n points in the region."""

    @abstractmethod
    def boundary(self) -> tuple[Patch, ...]:
        """The pieces of the boundary, each with its name and its normal outwards."""

    @abstractmethod
    def boundary_on(self, domain: Region) -> tuple[Patch, ...]:
        """The pieces that this part of a domain has of the domain's boundary."""

    @abstractmethod
    def shared_with(self, other: Region, domain: Region) -> tuple[Patch, ...]:
        """The pieces between two parts of a domain; their normals point out of this part."""

    @abstractmethod
    def overlaps(self, other: Region, slack: Float[np.ndarray, "d"]) -> bool:
        """Whether the interiors have points in common."""

    @abstractmethod
    def covers(self, other: Region, slack: Float[np.ndarray, "d"]) -> bool:
        """Whether no point of the other region is outside this one."""

    @abstractmethod
    def clipped(self, low: Sequence[float], high: Sequence[float]) -> Region | None:
        """The part inside a box; None if there is none."""

    @abstractmethod
    def face(self, text: str) -> str:
        """The canonical name of a face: 'x=0', 'x=0.0' and 'x=min' are one if the region begins at x = 0."""

    @abstractmethod
    def outline(self) -> Float[np.ndarray, "s 2 2"]:
        """Straight lines from point to point that draw the region in the plane of its first and last coordinate."""

    @abstractmethod
    def to_list(self) -> list[dict[str, Any]]:
        """The region in plain numbers, ready for JSON; `geometry.boxes.from_list` reads it."""
