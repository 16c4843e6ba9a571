"""How a domain is divided: subdomains, and the interfaces between them.

A domain Omega is a region in d named coordinates. A decomposition divides it into subdomains Omega_1..Omega_K, each a
region too. Everything else follows: patches on the boundary of Omega carry boundary conditions, patches shared by two
subdomains form their *interface*, whose normal points from the first subdomain to the second.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import GeometryError
from .boxes import Box, from_list, union
from .region import TOLERANCE, Patch, Region


@dataclass(frozen=True)
class Interface:
    """The patches shared by subdomains `a` and `b`; their normals point from a to b."""

    a: int
    b: int
    patches: tuple[Patch, ...]


class Decomposition:
    """A domain and its named subdomains. Overlaps and holes are errors.

    Args:
        domain: The region that is divided.
        subdomains: The regions by name; a list of boxes stands for their union.

    Raises:
        GeometryError: A subdomain sticks out of the domain, two overlap, or a part of the domain is in none.

    Example:
        >>> square = Box(x=(0, 1), y=(0, 1))
        >>> halves = {"left": square.replaced(x=(0, 0.5)), "right": square.replaced(x=(0.5, 1))}
        >>> len(Decomposition(square, halves).interfaces)
        1
    """

    def __init__(self, domain: Region, subdomains: Mapping[str, Region | Sequence[Box]]):
        if not isinstance(domain, Region) or not isinstance(subdomains, Mapping):
            raise GeometryError(f"a decomposition is of a region into {{name: region}}, not {domain!r}, {subdomains!r}")
        if not subdomains:
            raise GeometryError("a decomposition needs at least one subdomain")
        self.domain = domain
        self.subdomains: dict[str, Region] = {name: _region(name, given) for name, given in subdomains.items()}
        self._check()
        regions = list(self.subdomains.values())
        self.boundaries = tuple(region.boundary_on(domain) for region in regions)
        """The patches of each subdomain on the boundary of the domain; each has the name of its face."""
        shared = [
            Interface(a, b, one.shared_with(other, domain))
            for (a, one), (b, other) in itertools.combinations(enumerate(regions), 2)
        ]
        self.interfaces = tuple(interface for interface in shared if interface.patches)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the subdomains, in their order."""
        return tuple(self.subdomains)

    def __len__(self) -> int:
        return len(self.subdomains)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decomposition) and self.domain == other.domain and self.subdomains == other.subdomains

    def __hash__(self) -> int:
        return hash((self.domain, tuple(self.subdomains.items())))

    def __repr__(self) -> str:
        return f"Decomposition({self.domain!r}, {self.subdomains!r})"

    def to_dict(self) -> dict[str, Any]:
        """The decomposition in plain numbers, ready for JSON."""
        parts = {name: region.to_list() for name, region in self.subdomains.items()}
        return {"domain": self.domain.to_list(), "subdomains": parts}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Decomposition:
        """The decomposition that `to_dict` described."""
        parts = {name: from_list(boxes) for name, boxes in described["subdomains"].items()}
        return cls(from_list(described["domain"]), parts)

    def _check(self) -> None:
        """Every subdomain inside the domain, no two overlapping, no hole."""
        domain, slack = self.domain, self.domain.slack
        for name, region in self.subdomains.items():
            if region.names != domain.names:
                raise GeometryError(f"subdomain '{name}' has coordinates {region.names}, the domain {domain.names}")
            if not domain.covers(region, slack):
                raise GeometryError(f"subdomain '{name}': {region!r} sticks out of the domain {domain!r}")
        for (name, region), (other_name, other) in itertools.combinations(self.subdomains.items(), 2):
            if region.overlaps(other, slack):
                raise GeometryError(f"subdomains '{name}' and '{other_name}' overlap: {region!r} and {other!r}")
        covered = sum(region.measure for region in self.subdomains.values()) / domain.measure
        if covered < 1 - len(self) * TOLERANCE:
            raise GeometryError(
                f"the decomposition leaves a hole: its subdomains cover {100 * covered:.4g} % of {domain!r}"
            )

    def bounding_boxes(self) -> tuple[Float[np.ndarray, "K d"], Float[np.ndarray, "K d"]]:
        """Low and high corners of the smallest box around each subdomain."""
        regions = self.subdomains.values()
        return np.array([region.low for region in regions]), np.array([region.high for region in regions])

    def membership(self, points: Float[np.ndarray, "n d"]) -> np.ndarray:
        """Boolean (K, n): which closed subdomains hold each point; a point on an interface is in several."""
        return np.array([region.contains(points, self.domain.slack) for region in self.subdomains.values()])

    def single(self) -> Decomposition:
        """The same domain undivided: a plain PINN is the multi-domain solver on this."""
        return Decomposition(self.domain, {"whole": self.domain})


def _region(name: str, given: Any) -> Region:
    if isinstance(given, Region):
        return given
    if not isinstance(given, list | tuple) or not given or not all(isinstance(box, Box) for box in given):
        raise GeometryError(f"subdomain '{name}' is a region or a list of boxes, not {given!r}")
    try:
        return union(given)
    except GeometryError as error:
        raise GeometryError(f"subdomain '{name}': {error}") from None


def split(domain: Region, **cuts: Iterable[float]) -> Decomposition:
    """Cut a region along planes into the cells of a grid, numbered with the last coordinate running fastest.

    Args:
        domain: The region, such as a box. A cell of the grid without any part of it is left out.
        **cuts: Where to cut each coordinate, in increasing order.

    Returns:
        The decomposition, with subdomains '1', '2', ...

    Raises:
        GeometryError: A cut is outside the domain, or names no coordinate.

    Example:
        >>> square = Box(x=(0, 3), t=(0, 1))
        >>> len(split(square, t=[0.5])), len(split(square, x=[1, 2], t=[0.5]))
        (2, 6)
    """
    if not isinstance(domain, Region):
        raise GeometryError(f"split cuts a region such as a Box, not {domain!r}")
    edges = []
    for name, (low, high) in domain.sides.items():
        given = cuts.pop(name, ())
        try:
            inner = [float(cut) for cut in given]
        except (TypeError, ValueError, OverflowError):
            raise GeometryError(f"cuts in {name} are a list of numbers, as in {name}=[0.5], not {given!r}") from None
        ends = [low, *inner, high]
        if not all(a < b for a, b in itertools.pairwise(ends)):
            raise GeometryError(f"cuts in {name} must increase strictly inside ({low:g}, {high:g}), not {inner}")
        edges.append(list(itertools.pairwise(ends)))
    if cuts:
        raise GeometryError(f"no coordinate {', '.join(cuts)} in {domain!r}: allowed are {', '.join(domain.names)}")
    cells = [domain.clipped(*zip(*sides)) for sides in itertools.product(*edges)]
    return Decomposition(domain, {f"{i + 1}": cell for i, cell in enumerate(filter(None, cells))})
