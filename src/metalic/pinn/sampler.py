"""The points of a problem: drawn from the regions of a family, laid out in blocks, and scaled for the networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import ScheduleError
from ..families.base import Family
from ..families.boundary import Periodic
from ..geometry.decomposition import Patch
from ..geometry.sampling import Points, allocate, normal, sample_boxes, sample_patch
from .problem import Block

SCALINGS = ("subdomain", "domain", "none")

Samples = list[tuple[np.ndarray, np.ndarray]]  # per row: points (n, d) and normals (n, d)


def _stack(
    rows: Samples, totals: Sequence[int], a: Sequence[int], b: Sequence[int] = (), other: Samples | None = None
) -> Block:
    """Rows of unequal length as one padded block; padding repeats a point with weight zero."""
    length = max(len(points) for points, _ in rows)

    def padded(arrays: list[np.ndarray]) -> np.ndarray:
        return np.stack([np.concatenate([v, np.repeat(v[:1], length - len(v), axis=0)]).T for v in arrays])

    weight = np.stack(
        [np.where(np.arange(length) < len(points), 1 / total, 0.0) for (points, _), total in zip(rows, totals)]
    )
    x = padded([points for points, _ in rows])
    y = x if other is None else padded([points for points, _ in other])
    arrays: dict[str, Any] = {  # NumPy's, until the whole problem goes to the device
        "x": x,
        "y": y,
        "normal": padded([normals for _, normals in rows]),
        "weight": weight,
    }
    return Block(**arrays, a=tuple(a), b=tuple(b))


class Sampler:
    """Draws the blocks of a family: the same shapes every time, other points for every seed and draw."""

    def __init__(self, family: Family, points: Points, sampling: str):
        self.family, self.points, self.sampling = family, points, sampling
        self.geometry = family.decomposition

    def _rng(self, seed: int, draw: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([seed, 1, draw]))

    def draw(self, seed: int, draw: int = 0) -> tuple[Block, tuple[Block, ...], Block | None]:
        """Collocation, boundary and interface blocks."""
        rng = self._rng(seed, draw)
        return self.collocation(rng), self.boundary(rng), self.interface(rng)

    def collocation(self, rng: np.random.Generator) -> Block:
        n = self.points.collocation
        rows: Samples = []
        for boxes in self.geometry.subdomains.values():
            points = sample_boxes(n, boxes, self.sampling, rng)
            rows.append((points, np.zeros_like(points)))
        return _stack(rows, [len(points) for points, _ in rows], range(len(rows)))

    def interface(self, rng: np.random.Generator) -> Block | None:
        pairs = self.geometry.interfaces
        if not pairs:
            return None
        rows = [self._on_patches(pair.patches, self.points.interface, rng) for pair in pairs]
        return _stack(rows, [len(points) for points, _ in rows], [p.a for p in pairs], [p.b for p in pairs])

    def _on_patches(self, patches: Sequence[Patch], n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        counts = allocate(n, [patch.measure for patch in patches])
        parts = [sample_patch(count, patch, self.sampling, rng) for patch, count in zip(patches, counts)]
        normals = [np.tile(normal(patch), (len(part), 1)) for patch, part in zip(patches, parts)]
        return np.concatenate(parts), np.concatenate(normals)

    def boundary(self, rng: np.random.Generator) -> tuple[Block, ...]:
        """One block per boundary condition; conditions on the same face share its points."""
        conditions = self.family.boundary()
        used = {self.geometry.face(f) for c in conditions if not isinstance(c, Periodic) for f in c.faces}
        used |= {f"{c.coordinate}={end}" for c in conditions if isinstance(c, Periodic) for end in ("min", "max")}
        faces: list[dict[str, list[tuple[Patch, np.ndarray]]]] = []
        for k in range(len(self.geometry)):
            patches = [(face, patch) for face, patch in self.geometry.boundary_patches(k) if face in used]
            counts = allocate(self.points.boundary, [patch.measure for _, patch in patches]) if patches else []
            found: dict[str, list[tuple[Patch, np.ndarray]]] = {}
            for (face, patch), count in zip(patches, counts):
                found.setdefault(face, []).append((patch, sample_patch(count, patch, self.sampling, rng)))
            faces.append(found)
        return tuple(
            self._periodic(condition, faces) if isinstance(condition, Periodic) else self._one_sided(condition, faces)
            for condition in conditions
        )

    @staticmethod
    def _total(found: Mapping[str, list[tuple[Patch, np.ndarray]]]) -> int:
        return sum(len(points) for parts in found.values() for _, points in parts)

    def _one_sided(self, condition: Any, faces: Sequence[Mapping[str, list[tuple[Patch, np.ndarray]]]]) -> Block:
        wanted = {self.geometry.face(face) for face in condition.faces}
        rows, totals, members = [], [], []
        for k, found in enumerate(faces):
            parts = [part for face, part_list in found.items() if face in wanted for part in part_list]
            if parts:
                points = np.concatenate([points for _, points in parts])
                normals = np.concatenate([np.tile(normal(patch), (len(points), 1)) for patch, points in parts])
                rows.append((points, normals))
                totals.append(self._total(found))
                members.append(k)
        return _stack(rows, totals, members)

    def _periodic(self, condition: Periodic, faces: Sequence[Mapping[str, list[tuple[Patch, np.ndarray]]]]) -> Block:
        """Points of either face whose image on the opposite one lies in some subdomain, joined by pair of these."""
        axis = self.family.coordinates.index(condition.coordinate)
        low, high = self.family.domain.sides[condition.coordinate]
        pairs: dict[tuple[int, int], list[np.ndarray]] = {}
        for k, found in enumerate(faces):
            for end, opposite in (("min", high), ("max", low)):
                for _, points in found.get(f"{condition.coordinate}={end}", []):
                    image = points.copy()
                    image[:, axis] = opposite
                    owner = np.argmax(self.geometry.membership(image), axis=0)
                    for other in np.unique(owner):
                        mine = points[owner == other].copy()
                        mine[:, axis] = low
                        pairs.setdefault((k, int(other)) if end == "min" else (int(other), k), []).append(mine)
        rows, other, totals = [], [], []
        for (k, _), parts in sorted(pairs.items()):
            points = np.concatenate(parts)
            image = points.copy()
            image[:, axis] = high
            rows.append((points, np.zeros_like(points)))
            other.append((image, np.zeros_like(points)))
            totals.append(self._total(faces[k]))
        a, b = zip(*sorted(pairs))
        return _stack(rows, totals, a, b, other)


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
