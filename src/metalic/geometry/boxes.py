"""Boxes and unions of boxes: all that has axis-aligned faces, such as an L-shape."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ..errors import GeometryError
from .region import Patch, Region
from .sampling import allocate, unit_points

Corner = Float[np.ndarray, "d"]

# A face that a user names by a number may miss its plane by this share of the domain's extent.
NAMED = 1e-6


class Rectilinear(Region):
    """A region made of boxes that do not overlap."""

    boxes: tuple[Box, ...]

    @property
    def measure(self) -> float:
        return sum(float(np.prod(box.high - box.low)) for box in self.boxes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rectilinear) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return tuple(tuple(box.sides.items()) for box in self.boxes)

    def to_list(self) -> list[dict[str, Any]]:
        return [{name: list(side) for name, side in box.sides.items()} for box in self.boxes]

    def contains(self, points: Float[np.ndarray, "n d"], slack: Corner | None = None) -> Bool[np.ndarray, "n"]:
        slack = self.slack if slack is None else slack
        held = [np.all((points >= b.low - slack) & (points <= b.high + slack), axis=1) for b in self.boxes]
        return np.any(held, axis=0)

    def sample(self, n: int, sampling: str, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        counts = allocate(n, [box.measure for box in self.boxes])
        parts = [
            box.low + (box.high - box.low) * unit_points(count, len(box.names), sampling, rng)
            for box, count in zip(self.boxes, counts)
        ]
        return np.concatenate(parts)

    def boundary(self) -> tuple[Patch, ...]:
        found, slack, axes = [], self.slack, range(len(self.names))
        for box, axis, sign in itertools.product(self.boxes, axes, (-1, 1)):
            plane, free = box.end(axis, sign), [other for other in axes if other != axis]
            beside = [b for b in self.boxes if abs(b.end(axis, -sign) - plane) <= slack[axis]]
            name = self._plane(axis, plane)
            for low, high in _remainder(box.low, box.high, beside, free, slack):
                found.append(_patch(low, high, axis, sign, plane, self, name))
        return tuple(found)

    def _plane(self, axis: int, plane: float) -> str:
        """The name of a plane; planes that differ by rounding have one name."""
        name, near = self.names[axis], self.slack[axis]
        for end, bound in zip(("min", "max"), self.sides[name]):
            if abs(plane - bound) <= near:
                return f"{name}={end}"
        ends = (end for box in self.boxes for end in box.sides[name])
        return f"{name}={next(end for end in ends if abs(end - plane) <= near):.12g}"

    def boundary_on(self, domain: Region) -> tuple[Patch, ...]:
        found, slack = [], domain.slack
        for box, piece in itertools.product(self.boxes, domain.boundary()):
            axis, plane = piece.axis, piece.low[piece.axis]
            if abs(box.end(axis, piece.sign) - plane) > slack[axis]:
                continue
            low, high = np.maximum(box.low, piece.low), np.minimum(box.high, piece.high)
            if np.delete(high - low > slack, axis).all():
                found.append(_patch(low, high, axis, piece.sign, plane, domain, piece.name))
        return tuple(found)

    def shared_with(self, other: Region, domain: Region) -> tuple[Patch, ...]:
        found, slack = [], domain.slack
        for a, b in itertools.product(self.boxes, _boxes_of(other)):
            low, high = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
            thin = np.abs(high - low) <= slack
            if np.all(high - low >= -slack) and thin.sum() == 1:
                axis = int(np.argmax(thin))
                sign = 1 if a.low[axis] < b.low[axis] else -1
                found.append(_patch(low, high, axis, sign, 0.5 * (low[axis] + high[axis]), domain))
        return tuple(found)

    def overlaps(self, other: Region, slack: Corner) -> bool:
        return any(
            np.all(np.minimum(a.high, b.high) - np.maximum(a.low, b.low) > slack)
            for a, b in itertools.product(self.boxes, _boxes_of(other))
        )

    def covers(self, other: Region, slack: Corner) -> bool:
        axes = range(len(self.names))
        return not any(_remainder(box.low, box.high, self.boxes, axes, slack) for box in _boxes_of(other))

    def clipped(self, low: Sequence[float], high: Sequence[float]) -> Region | None:
        corners = [(np.maximum(box.low, low), np.minimum(box.high, high)) for box in self.boxes]
        kept = [(a, b) for a, b in corners if np.all(b - a > self.slack)]
        return union([Box(**dict(zip(self.names, zip(a, b)))) for a, b in kept]) if kept else None

    def face(self, text: str) -> str:
        if not isinstance(text, str):
            raise GeometryError(f"a face is a text such as 'x=0', not {text!r}")
        name, value = (part.strip() for part in text.partition("=")[::2])
        allowed = ", ".join(f"{n}={end}" for n in self.names for end in ("min", "max"))
        if name not in self.sides:
            raise GeometryError(f"no face '{text}': allowed are {allowed}, or a number in place of min and max")
        if value in ("min", "max"):
            return f"{name}={value}"
        try:
            number = float(value)
        except ValueError:
            raise GeometryError(f"no face '{text}': after '=' comes a number, min or max") from None
        (low, high), axis = self.sides[name], self.names.index(name)
        planes = {patch.low[axis]: patch.name for patch in self.boundary() if patch.axis == axis}
        for plane, found in planes.items():
            if abs(number - plane) <= NAMED * (high - low):
                return found
        known = ", ".join(f"{plane:g}" for plane in sorted(planes))
        raise GeometryError(
            f"no face '{text}': coordinate {name} of the domain goes from {low:g} to {high:g}, with faces at {known}"
        )

    def outline(self) -> Float[np.ndarray, "s 2 2"]:
        drawn = [patch for patch in self.boundary() if patch.axis in (0, len(self.names) - 1)]
        return np.array([[(end[0], end[-1]) for end in (patch.low, patch.high)] for patch in drawn])


class Box(Rectilinear):
    """A box in named coordinates.

    Args:
        **sides: The ends (low, high) of each coordinate, 1 to 4 of them.

    Raises:
        GeometryError: A side is not a pair of finite numbers low < high, or a coordinate has a name that is taken.

    Example:
        >>> Box(x=(0, 1), t=(0, 2)).measure
        2.0
    """

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
        self.boxes = (self,)

    def end(self, axis: int, sign: int) -> float:
        """The low (sign -1) or high (sign 1) end of a coordinate."""
        return tuple(self.sides.values())[axis][sign > 0]

    def replaced(self, **sides: tuple[float, float]) -> Box:
        """The box with other sides."""
        return Box(**{**self.sides, **sides})

    def __repr__(self) -> str:
        return "Box(" + ", ".join(f"{name}=({low:g}, {high:g})" for name, (low, high) in self.sides.items()) + ")"


class Union(Rectilinear):
    """Several boxes that do not overlap, as one region; they need not touch.

    Args:
        *boxes: The boxes, all in the same coordinates.

    Raises:
        GeometryError: Two boxes overlap, or they have different coordinates.

    Example:
        >>> l_shape = Union(Box(x=(0, 2), y=(0, 1)), Box(x=(0, 1), y=(1, 2)))
        >>> l_shape.measure, l_shape.face("x=1")
        (3.0, 'x=1')
    """

    def __init__(self, *boxes: Box):
        if not boxes or not all(isinstance(box, Box) for box in boxes):
            raise GeometryError(f"a union is made of boxes, not {boxes!r}")
        if len({box.names for box in boxes}) > 1:
            raise GeometryError(f"the boxes of a union need the same coordinates in the same order: {boxes!r}")
        self.boxes = boxes
        low, high = np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)
        self.sides = dict(zip(boxes[0].names, zip(low.tolist(), high.tolist())))
        for box, other in itertools.combinations(boxes, 2):
            if box.overlaps(other, self.slack):
                raise GeometryError(f"the boxes of a union overlap: {box!r} and {other!r}")

    def __repr__(self) -> str:
        return f"Union({', '.join(map(repr, self.boxes))})"


def union(boxes: Sequence[Box]) -> Rectilinear:
    """Boxes as one region: a single box is itself."""
    return boxes[0] if len(boxes) == 1 and isinstance(boxes[0], Box) else Union(*boxes)


def from_list(described: Iterable[Mapping[str, Any]]) -> Rectilinear:
    """The region that `Region.to_list` described."""
    return union([Box(**sides) for sides in described])


def _boxes_of(region: Region) -> tuple[Box, ...]:
    if not isinstance(region, Rectilinear):
        raise GeometryError(f"boxes meet boxes, not {region!r}")
    return region.boxes


def _patch(low: Corner, high: Corner, axis: int, sign: int, plane: float, domain: Region, name: str = "") -> Patch:
    """The piece from low to high, moved into its plane; its measure is in units of the domain's extent."""
    low, high = low.copy(), high.copy()
    low[axis] = high[axis] = plane
    measure = float(np.prod(np.delete((high - low) / (domain.high - domain.low), axis)))
    return Patch(tuple(low.tolist()), tuple(high.tolist()), axis, sign, measure, name)


def _remainder(
    low: Corner, high: Corner, boxes: Iterable[Box], axes: Sequence[int], slack: Corner
) -> list[tuple[Corner, Corner]]:
    """What boxes leave of the box from low to high, in boxes; only `axes` count."""
    left = [(low, high)]
    for box in boxes:
        left = [part for corners in left for part in _without(*corners, box, axes, slack)]
    return left


def _without(
    low: Corner, high: Corner, box: Box, axes: Sequence[int], slack: Corner
) -> Iterator[tuple[Corner, Corner]]:
    """Cut off what lies beyond the box on either side, axis by axis; what remains then is inside it."""
    if any(min(high[i], box.high[i]) - max(low[i], box.low[i]) <= slack[i] for i in axes):
        yield low, high
        return
    low, high = low.copy(), high.copy()
    for axis in axes:
        begin, end = box.low[axis], box.high[axis]
        if begin - low[axis] > slack[axis]:
            yield low.copy(), _moved(high, axis, begin)
            low[axis] = begin
        if high[axis] - end > slack[axis]:
            yield _moved(low, axis, end), high.copy()
            high[axis] = end


def _moved(corner: Corner, axis: int, value: float) -> Corner:
    return np.where(np.arange(len(corner)) == axis, value, corner)
