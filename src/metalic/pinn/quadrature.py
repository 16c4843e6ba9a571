"""Nodes and weights of Gauss's rule on subdomains, faces and interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..errors import GeometryError
from ..families.base import Family
from ..geometry import Patch, Region
from ..geometry.boxes import Rectilinear
from ..validation import integer

NODES = {0: 1, 1: 200, 2: 80, 3: 30, 4: 14}  # along each coordinate of a box, by the number of those that vary


@dataclass(frozen=True)
class Quadrature:
    """The integral of f is the sum of weights * f(points). On faces and interfaces there are unit normals."""

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, "n"]
    normals: Float[np.ndarray, "n d"] | None = None


def quadrature(family: Family, over: str | None = None, nodes: int | None = None) -> Quadrature:
    """A rule for the domain (None), a subdomain 'left', a face 'x=0' or an interface 'left|right'.

    Normals point out of the domain on a face, and from the first to the second subdomain on an interface.

    Raises:
        GeometryError: There is no such place.

    Example:
        >>> from metalic.families import find_family
        >>> rule = quadrature(find_family("poisson"), "1|2")
        >>> float(rule.weights.sum()), rule.normals[0].tolist()
        (1.0, [0.0, 1.0])
    """
    if nodes is not None and integer(nodes, least=1) is None:
        raise GeometryError(f"the number of nodes is an integer of at least 1, not {nodes!r}")
    geometry = family.decomposition
    if over is None:
        return _over_boxes(geometry.subdomains.values(), nodes)
    if not isinstance(over, str):
        raise GeometryError(f"an integral is over a subdomain, a face 'x=0' or an interface 'a|b', not {over!r}")
    if over in geometry.subdomains:
        return _over_boxes([geometry.subdomains[over]], nodes)
    if "|" in over:
        return _over_interface(family, over, nodes)
    try:
        name = family.domain.face(over)
    except GeometryError as error:
        raise GeometryError(f"no subdomain or interface '{over}' ({', '.join(geometry.names)}), and {error}") from None
    patches = [patch for part in geometry.boundaries for patch in part if patch.name == name]
    return _over_patches(patches, 1, nodes)


def _over_boxes(regions: Iterable[Region], nodes: int | None) -> Quadrature:
    boxes = [box for region in regions for box in (region.boxes if isinstance(region, Rectilinear) else ())]
    rules = [_gauss(box.low, box.high, nodes) for box in boxes]
    return Quadrature(np.concatenate([p for p, _ in rules]), np.concatenate([w for _, w in rules]))


def _over_interface(family: Family, over: str, nodes: int | None) -> Quadrature:
    geometry, pair = family.decomposition, [part.strip() for part in over.split("|")]
    for interface in geometry.interfaces:
        names = [geometry.names[interface.a], geometry.names[interface.b]]
        if pair in (names, names[::-1]):
            return _over_patches(interface.patches, 1 if pair == names else -1, nodes)
    known = ", ".join(f"{geometry.names[one.a]}|{geometry.names[one.b]}" for one in geometry.interfaces) or "none"
    raise GeometryError(f"no interface '{over}': those of '{family.name}' are {known}")


def _over_patches(patches: Sequence[Patch], sign: int, nodes: int | None) -> Quadrature:
    rules = [_gauss(np.array(patch.low), np.array(patch.high), nodes) for patch in patches]
    normals = [sign * patch.normals(len(points)) for patch, (points, _) in zip(patches, rules)]
    return Quadrature(
        np.concatenate([p for p, _ in rules]), np.concatenate([w for _, w in rules]), np.concatenate(normals)
    )


def _gauss(
    low: Float[np.ndarray, "d"], high: Float[np.ndarray, "d"], nodes: int | None
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n"]]:
    """Gauss's rule on a box; a side of no length has one node of weight 1."""
    count = int(np.sum(high > low))
    x, w = np.polynomial.legendre.leggauss(NODES[count] if nodes is None else int(nodes))
    sides = [
        (a + (b - a) * (x + 1) / 2, (b - a) * w / 2) if b > a else (np.array([a]), np.ones(1))
        for a, b in zip(low, high)
    ]
    points = np.stack(np.meshgrid(*[p for p, _ in sides], indexing="ij"), axis=-1).reshape(-1, len(low))
    weights = np.stack(np.meshgrid(*[v for _, v in sides], indexing="ij"), axis=-1).reshape(-1, len(low))
    return points, np.prod(weights, axis=1)
