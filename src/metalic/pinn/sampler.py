"""The points of a problem: drawn on the host, in NumPy, from the regions of a family; sent to the device in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from ..errors import ScheduleError
from ..families.base import Family
from ..geometry import Patch, Points
from ..geometry.sampling import Row, allocate
from .problem import Block

SCALINGS = ("subdomain", "domain", "none")


class Samples(NamedTuple):
    """A block on the host; see `Block`, which is the same on the device."""

    x: Float[np.ndarray, "B d N"]
    y: Float[np.ndarray, "B d N"]
    normal: Float[np.ndarray, "B d N"]
    weight: Float[np.ndarray, "B N"]
    a: tuple[int, ...]
    b: tuple[int, ...]

    def block(self, dtype: DTypeLike = float) -> Block:
        """The block on the device, in the precision of a run."""
        x, y, normal, weight = (jax.device_put(array.astype(dtype)) for array in self[:4])
        return Block(x, y, normal, weight, self.a, self.b)


class Draw(NamedTuple):
    """All points of a problem on the host."""

    collocation: Samples
    boundary: tuple[Samples, ...]
    interface: Samples | None

    def blocks(self, dtype: DTypeLike = float) -> tuple[Block, tuple[Block, ...], Block | None]:
        """The blocks on the device, in the precision of a run."""
        interface = None if self.interface is None else self.interface.block(dtype)
        return self.collocation.block(dtype), tuple(one.block(dtype) for one in self.boundary), interface


def _stack(rows: Sequence[Row]) -> Samples:
    """Rows of unequal length in one padded block; padding repeats a point with weight zero."""
    length = max(len(row.here) for row in rows)

    def padded(arrays: list[np.ndarray]) -> np.ndarray:
        return np.stack([np.concatenate([v, np.repeat(v[:1], length - len(v), axis=0)]).T for v in arrays])

    return Samples(
        x=padded([row.here for row in rows]),
        y=padded([row.here if row.there is None else row.there for row in rows]),
        normal=padded([row.normals for row in rows]),
        weight=np.stack([np.where(np.arange(length) < len(row.here), 1 / row.total, 0.0) for row in rows]),
        a=tuple(row.a for row in rows),
        b=tuple(row.b for row in rows if row.b is not None),
    )


class Sampler:
    """Draws the points of a family: the same shapes every time, other points for every seed and draw."""

    def __init__(self, family: Family, points: Points, sampling: str):
        self.family, self.points, self.sampling = family, points, sampling
        self.geometry = family.decomposition
        points.check(self.geometry.names)

    def draw(self, seed: int, draw: int = 0) -> Draw:
        """Collocation, boundary and interface points."""
        rng = np.random.default_rng(np.random.SeedSequence([seed, 1, draw]))
        return Draw(self.collocation(rng), self.boundary(rng), self.interface(rng))

    def collocation(self, rng: np.random.Generator) -> Samples:
        rows = []
        for k, (name, region) in enumerate(self.geometry.subdomains.items()):
            points = region.sample(self.points.inside(name), self.sampling, rng)
            rows.append(Row(k, points, np.zeros_like(points), len(points)))
        return _stack(rows)

    def interface(self, rng: np.random.Generator) -> Samples | None:
        rows = []
        for pair in self.geometry.interfaces:
            parts = self._on(pair.patches, self.points.interface, rng)
            here = np.concatenate([points for _, points in parts])
            normals = np.concatenate([patch.normals(len(points)) for patch, points in parts])
            rows.append(Row(pair.a, here, normals, len(here), pair.b))
        return _stack(rows) if rows else None

    def boundary(self, rng: np.random.Generator) -> tuple[Samples, ...]:
        """Points for each boundary condition; conditions on the same face share its points."""
        conditions = self.family.boundary()
        used = {name for condition in conditions for name in condition.names(self.geometry)}
        drawn = []
        for patches in self.geometry.boundaries:
            parts = self._on([patch for patch in patches if patch.name in used], self.points.boundary, rng)
            faces = list(dict.fromkeys(patch.name for patch, _ in parts))
            drawn.append(sorted(parts, key=lambda part: faces.index(part[0].name)))
        return tuple(_stack(condition.rows(drawn, self.geometry)) for condition in conditions)

    def _on(self, patches: Sequence[Patch], n: int, rng: np.random.Generator) -> list[tuple[Patch, np.ndarray]]:
        """n points divided among patches by their measure."""
        counts = allocate(n, [patch.measure for patch in patches]) if patches else []
        return [(patch, patch.sample(count, self.sampling, rng)) for patch, count in zip(patches, counts)]


def scale(family: Family, scaling: str) -> tuple[Float[np.ndarray, "K d"], Float[np.ndarray, "K d"]]:
    """Centre and slope of the input scaling: to [-1, 1] on each subdomain's bounding box, on the domain, or none."""
    low, high = family.decomposition.bounding_boxes()
    if scaling == "none":
        return np.zeros_like(low), np.ones_like(low)
    if scaling == "domain":
        low, high = np.broadcast_to(family.domain.low, low.shape), np.broadcast_to(family.domain.high, high.shape)
    elif scaling != "subdomain":
        raise ScheduleError(f"no scaling '{scaling}': allowed are {', '.join(SCALINGS)}")
    return (low + high) / 2, 2 / (high - low)
