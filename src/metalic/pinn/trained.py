"""Networks on the subdomains of a family: what a solution and a start have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from ..errors import GeometryError
from ..families.base import Family
from .network import Network


@dataclass(frozen=True)
class Trained:
    """One network per subdomain, for one member of a family.

    The inputs of network k are (x - centre_k) * slope_k; `theta` are the weights, `hidden` the widths of the layers.
    """

    family: Family
    parameters: Mapping[str, float]
    theta: Float[np.ndarray, "K P"] = field(repr=False)
    hidden: tuple[int, ...]
    centre: Float[np.ndarray, "K d"] = field(repr=False)
    slope: Float[np.ndarray, "K d"] = field(repr=False)
    activation: str = field(default="tanh", kw_only=True)

    @property
    def network(self) -> Network:
        return Network(len(self.family.coordinates), len(self.family.components), self.hidden, self.activation)

    def scaled(self, k: int, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "d n"]:
        """Points as inputs of network k."""
        return ((points - self.centre[k]) * self.slope[k]).T

    def values(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """All components at points of shape (n, d)."""
        return evaluate(self.family, self.network, self.theta, points, self.centre, self.slope)


def evaluate(
    family: Family,
    network: Network,
    theta: Float[np.ndarray, "K P"],
    points: Float[np.ndarray, "n d"],
    centre: Float[np.ndarray, "K d"],
    slope: Float[np.ndarray, "K d"],
) -> Float[np.ndarray, "n m"]:
    """Every point by the networks of the subdomains that hold it, averaged."""
    inside = holders(family, points)
    total = np.zeros((len(points), network.outputs))
    for k, mine in enumerate(inside):
        if mine.any():
            scaled = ((points[mine] - centre[k]) * slope[k]).T
            total[mine] += network.evaluate(theta[k], scaled).T
    return total / inside.sum(axis=0)[:, None]


def holders(family: Family, points: Float[np.ndarray, "n d"]) -> np.ndarray:
    """Boolean (K, n): which subdomains hold each point; an error if a point is in none."""
    inside = family.decomposition.membership(points)
    refuse_outside(family, points, np.asarray(~inside.any(axis=0)), f"the domain {family.domain!r}")
    return inside


def refuse_outside(family: Family, points: Float[np.ndarray, "n d"], outside: np.ndarray, where: str) -> None:
    """Raise a GeometryError if any point lies outside of `where`; `outside` is a boolean array (n,)."""
    if outside.any():
        first = ", ".join(f"{n}={v:g}" for n, v in zip(family.coordinates, points[np.argmax(outside)]))
        raise GeometryError(f"{outside.sum()} point(s) lie outside {where}, the first at {first}")
