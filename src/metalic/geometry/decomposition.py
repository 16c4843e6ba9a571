"""Where a PDE lives: boxes, subdomains made of boxes, and the interfaces between them.

A domain Omega is a box in d named coordinates. A decomposition splits it into subdomains Omega_1..Omega_K, each a
union of boxes. Everything else follows: a *patch* is a flat piece (one coordinate fixed) of a subdomain's boundary;
patches on the boundary of Omega carry boundary conditions, patches shared by two subdomains form their *interface*,
whose normal points from the first subdomain to the second. All patches are axis-aligned, in space and in time alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..errors import GeometryError

# Two faces count as the same plane when they differ by less than this share of the domain's extent.
TOLERANCE = 1e-9


class Box:
    """A box in named coordinates: `Box(x=(0, 1), t=(0, 2))`."""

    def __init__(self, **sides: tuple[float, float]):
        if not 1 <= len(sides) <= 4:
            raise GeometryError(f"a box has 1 to 4 coordinates, not {len(sides)}")
        for name, side in sides.items():
            if name.startswith("_") or name in ("d", "value", "label"):
                raise GeometryError(f"a coordinate cannot be called '{name}'")
            try:
                low, high = (float(end) for end in side)
            except (TypeError, ValueError, OverflowError):
                raise GeometryError(f"side {name} of a box is a pair (low, high), not {side!r}") from None
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise GeometryError(f"side {name} of a box needs finite low < high, not ({low}, {high})")
        self.sides = {name: (float(low), float(high)) for name, (low, high) in sides.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sides)

    @property
    def low(self) -> Float[np.ndarray, "d"]:
        return np.array([low for low, _ in self.sides.values()])

    @property
    def high(self) -> Float[np.ndarray, "d"]:
        return np.array([high for _, high in self.sides.values()])

    @property
    def volume(self) -> float:
        return float(np.prod(self.high - self.low))

    def replaced(self, **sides: tuple[float, float]) -> Box:
        return Box(**{**self.sides, **sides})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and tuple(self.sides.items()) == tuple(other.sides.items())

    def __hash__(self) -> int:
        return hash(tuple(self.sides.items()))

    def __repr__(self) -> str:
        return "Box(" + ", ".join(f"{name}=({low:g}, {high:g})" for name, (low, high) in self.sides.items()) + ")"


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


@dataclass(frozen=True)
class Interface:
    """The patches shared by subdomains `a` and `b`; their normals point from a to b."""

    a: int
    b: int
    patches: tuple[Patch, ...]


class Decomposition:
    """A domain and its named subdomains, each a box or a list of boxes. Overlaps and holes are errors."""

    def __init__(self, domain: Box, subdomains: Mapping[str, Box | Sequence[Box]]):
        if not isinstance(domain, Box) or not isinstance(subdomains, Mapping):
            raise GeometryError(f"a decomposition is of a Box into {{name: boxes}}, not {domain!r}, {subdomains!r}")
        for name, boxes in subdomains.items():
            if not isinstance(boxes, Box) and not (isinstance(boxes, list | tuple) and boxes):
                raise GeometryError(f"subdomain '{name}' is a Box or a list of them, not {boxes!r}")
            if not isinstance(boxes, Box) and not all(isinstance(box, Box) for box in boxes):
                raise GeometryError(f"subdomain '{name}' is made of boxes, not {boxes!r}")
        self.domain = domain
        self.subdomains: dict[str, tuple[Box, ...]] = {
            name: (boxes,) if isinstance(boxes, Box) else tuple(boxes) for name, boxes in subdomains.items()
        }
        if not self.subdomains:
            raise GeometryError("a decomposition needs at least one subdomain")
        self._scale = domain.high - domain.low
        self._check()
        self.interfaces = self._find_interfaces()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.subdomains)

    def __len__(self) -> int:
        return len(self.subdomains)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decomposition) and self.domain == other.domain and self.subdomains == other.subdomains

    def __hash__(self) -> int:
        return hash((self.domain, tuple(self.subdomains.items())))

    def __repr__(self) -> str:
        return f"Decomposition({self.domain!r}, {self.subdomains!r})"

    def _check(self) -> None:
        """Every box inside the domain, no two overlapping, no hole."""
        pieces = [(name, box) for name, boxes in self.subdomains.items() for box in boxes]
        for name, box in pieces:
            if box.names != self.domain.names:
                raise GeometryError(f"subdomain '{name}' has coordinates {box.names}, the domain {self.domain.names}")
            slack = TOLERANCE * self._scale
            if np.any(box.low < self.domain.low - slack) or np.any(box.high > self.domain.high + slack):
                raise GeometryError(f"subdomain '{name}': {box!r} sticks out of the domain {self.domain!r}")
        for (name, box), (other_name, other) in itertools.combinations(pieces, 2):
            overlap = np.minimum(box.high, other.high) - np.maximum(box.low, other.low)
            if np.all(overlap > TOLERANCE * self._scale):
                raise GeometryError(f"subdomains '{name}' and '{other_name}' overlap: {box!r} and {other!r}")
        covered = sum(box.volume for _, box in pieces) / self.domain.volume
        if covered < 1 - len(pieces) * TOLERANCE:
            raise GeometryError(
                f"the decomposition leaves a hole: its subdomains cover {100 * covered:.4g} % of {self.domain!r}"
            )

    def _find_interfaces(self) -> tuple[Interface, ...]:
        found = []
        for (a, boxes_a), (b, boxes_b) in itertools.combinations(enumerate(self.subdomains.values()), 2):
            patches = [
                patch
                for box_a, box_b in itertools.product(boxes_a, boxes_b)
                if (patch := self._shared_patch(box_a, box_b)) is not None
            ]
            if patches:
                found.append(Interface(a, b, tuple(patches)))
        return tuple(found)

    def _shared_patch(self, a: Box, b: Box) -> Patch | None:
        low, high = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
        thin = np.abs(high - low) <= TOLERANCE * self._scale
        if np.any(high - low < -TOLERANCE * self._scale) or thin.sum() != 1:
            return None
        axis = int(np.argmax(thin))
        low[axis] = high[axis] = 0.5 * (low[axis] + high[axis])
        return self._patch(low, high, axis, 1 if a.low[axis] < b.low[axis] else -1)

    def _patch(self, low: Float[np.ndarray, "d"], high: Float[np.ndarray, "d"], axis: int, sign: int) -> Patch:
        measure = float(np.prod(np.delete((high - low) / self._scale, axis)))
        return Patch(tuple(low.tolist()), tuple(high.tolist()), axis, sign, measure)

    def boundary_patches(self, k: int) -> list[tuple[str, Patch]]:
        """The patches of subdomain k on the boundary of the domain, with the face's name: 'x=min', 't=max'..."""
        found = []
        for box in tuple(self.subdomains.values())[k]:
            for axis, name in enumerate(self.domain.names):
                for side, sign in (("min", -1), ("max", 1)):
                    own, whole = (box.low, self.domain.low) if sign < 0 else (box.high, self.domain.high)
                    if abs(own[axis] - whole[axis]) <= TOLERANCE * self._scale[axis]:
                        low, high = box.low, box.high
                        low[axis] = high[axis] = whole[axis]
                        found.append((f"{name}={side}", self._patch(low, high, axis, sign)))
        return found

    def bounding_boxes(self) -> tuple[Float[np.ndarray, "K d"], Float[np.ndarray, "K d"]]:
        """Low and high corners of the smallest box around each subdomain."""
        groups = self.subdomains.values()
        low = np.array([np.min([box.low for box in boxes], axis=0) for boxes in groups])
        high = np.array([np.max([box.high for box in boxes], axis=0) for boxes in groups])
        return low, high

    def membership(self, points: Float[np.ndarray, "n d"]) -> np.ndarray:
        """Boolean (K, n): which closed subdomains hold each point; a point on an interface is in several."""
        slack = TOLERANCE * self._scale
        return np.array(
            [
                np.any(
                    [np.all((points >= b.low - slack) & (points <= b.high + slack), axis=1) for b in boxes],
                    axis=0,
                )
                for boxes in self.subdomains.values()
            ]
        )

    def single(self) -> Decomposition:
        """The same domain undivided: a plain PINN is the multi-domain solver on this."""
        return Decomposition(self.domain, {"whole": self.domain})

    def face(self, text: str) -> str:
        """The canonical name of a face: 'x=0', 'x=0.0' and 'x=min' are one if the domain begins at x = 0."""
        if not isinstance(text, str):
            raise GeometryError(f"a face is a text such as 'x=0', not {text!r}")
        name, _, value = text.partition("=")
        name, value = name.strip(), value.strip()
        allowed = ", ".join(f"{n}={end}" for n in self.domain.names for end in ("min", "max"))
        if name not in self.domain.sides:
            raise GeometryError(f"no face '{text}': allowed are {allowed}, or a number in place of min and max")
        if value in ("min", "max"):
            return f"{name}={value}"
        try:
            number = float(value)
        except ValueError:
            raise GeometryError(f"no face '{text}': after '=' comes a number, min or max") from None
        low, high = self.domain.sides[name]
        for end, bound in (("min", low), ("max", high)):
            if abs(number - bound) <= 1e-6 * (high - low):
                return f"{name}={end}"
        raise GeometryError(f"no face '{text}': coordinate {name} of the domain goes from {low:g} to {high:g}")


def split(domain: Box, **cuts: Iterable[float]) -> Decomposition:
    """Cut a box into a grid: `split(box, t=[0.5])` halves it in t, `split(box, x=[1, 2], t=[0.5])` makes 3 x 2."""
    if not isinstance(domain, Box):
        raise GeometryError(f"split cuts a Box, not {domain!r}")
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
    boxes = [Box(**dict(zip(domain.names, sides))) for sides in itertools.product(*edges)]
    return Decomposition(domain, {f"{i + 1}": box for i, box in enumerate(boxes)})
