"""How many points a region gets, and points in the unit cube.

How many points a patch or a box gets depends on its measure alone, never on chance, so that the shapes of all arrays
are the same for every draw of a family and one compiled program serves them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float

from ..errors import GeometryError
from ..validation import integer
from .sobol import MOST, sobol

Sampling = Literal["random", "grid", "latin", "sobol", "poisson"]
SAMPLINGS: tuple[str, ...] = get_args(Sampling)
CHEBYSHEV = "chebyshev"  # denser towards the faces, as polynomials need it: for checks, not for training


@dataclass(frozen=True)
class Points:
    """How many points are drawn.

    Args:
        collocation: Points inside each subdomain, on which the equation is asked for.
        boundary: Points on the boundary of each subdomain.
        interface: Points between each pair of neighbours.
        within: Other numbers of collocation points for some subdomains, by name.

    Raises:
        GeometryError: A number is not a whole number of at least 1.

    Example:
        >>> points = Points(collocation=1000, within={"left": 3000})
        >>> points.inside("left"), points.inside("right")
        (3000, 1000)
    """

    collocation: int = 1000
    boundary: int = 100
    interface: int = 101
    within: Mapping[str, int] | tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for name in ("collocation", "boundary", "interface"):
            value = integer(getattr(self, name), least=1)
            if value is None:
                raise GeometryError(
                    f"the number of {name} points is an integer of at least 1, not {getattr(self, name)!r}"
                )
            object.__setattr__(self, name, value)
        object.__setattr__(self, "within", _by_name(self.within))

    def __repr__(self) -> str:
        """As it was before there was `within`, unless that is used: ledgers compare families by these texts."""
        numbers = f"collocation={self.collocation}, boundary={self.boundary}, interface={self.interface}"
        return f"Points({numbers}{f', within={dict(self.within)}' if self.within else ''})"

    def inside(self, subdomain: str) -> int:
        """The number of collocation points of a subdomain."""
        return dict(self.within).get(subdomain, self.collocation)

    def times(self, factor: int) -> Points:
        """As many times more collocation points."""
        within = {name: factor * count for name, count in dict(self.within).items()}
        return replace(self, collocation=factor * self.collocation, within=within)

    def together(self, subdomains: Sequence[str]) -> Points:
        """The points of one domain that is undivided: as many as these subdomains have together."""
        return Points(sum(map(self.inside, subdomains)), self.boundary * len(subdomains), self.interface)

    def check(self, subdomains: Sequence[str]) -> None:
        """Raise a GeometryError if `within` names a subdomain that is not among these."""
        for name in dict(self.within):
            if name not in subdomains:
                raise GeometryError(f"points within '{name}': there is no such subdomain ({', '.join(subdomains)})")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `within` only if it is used, since older files do not have it."""
        found = {"collocation": self.collocation, "boundary": self.boundary, "interface": self.interface}
        return found | ({"within": dict(self.within)} if self.within else {})


def _by_name(given: Any) -> tuple[tuple[str, int], ...]:
    """Numbers of points by subdomain, in a form that can be hashed."""
    try:
        pairs = [(name, integer(count, least=1)) for name, count in dict(given).items()]
    except (TypeError, ValueError):
        pairs = [("", None)]
    if any(count is None or not isinstance(name, str) for name, count in pairs):
        raise GeometryError(f"points within subdomains are numbers by name, as in {{'left': 3000}}, not {given!r}")
    return tuple((name, count) for name, count in pairs if count is not None)


class Row(NamedTuple):
    """Points of subdomain `a`, or of the pair (a, b) that sees each point twice: a at `here`, b at `there`."""

    a: int
    here: Float[np.ndarray, "n d"]
    normals: Float[np.ndarray, "n d"]
    total: int
    """How many points the mean runs over to which these belong."""
    b: int | None = None
    there: Float[np.ndarray, "n d"] | None = None


def allocate(total: int, measures: Sequence[float]) -> list[int]:
    """Split `total` in proportion to the measures: at least one each, the rest to the largest remainders."""
    share = total * np.asarray(measures, dtype=float) / np.sum(measures)
    counts = np.maximum(np.floor(share).astype(int), 1)
    for i in np.argsort(-(share - counts), kind="stable"):
        if counts.sum() >= total:
            break
        counts[i] += 1
    return counts.tolist()


def unit_points(n: int, d: int, sampling: str, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """n points in the unit cube (a grid rounds n to a product of per-axis counts)."""
    if d == 0:
        return np.zeros((1, 0))
    if sampling == "random":
        return rng.random((n, d))
    if sampling == "grid":
        return _grid(n, d)
    if sampling == CHEBYSHEV:
        return (1 - np.cos(np.pi * unit_points(n, d, "sobol", rng))) / 2
    if sampling == "sobol" and d <= MOST:
        return sobol(n, d, rng)
    return _by_scipy(n, d, sampling, rng)


def _by_scipy(n: int, d: int, sampling: str, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    from scipy.stats import qmc  # takes a second

    if sampling == "latin":
        return qmc.LatinHypercube(d, rng=rng).random(n)
    if sampling == "sobol":
        with warnings.catch_warnings():  # balance is lost unless n is a power of two; the points are still good
            warnings.simplefilter("ignore", UserWarning)
            return qmc.Sobol(d, rng=rng).random(n)
    if sampling == "poisson":
        return _poisson_disc(n, d, rng)
    raise GeometryError(f"no sampling '{sampling}': allowed are {', '.join(SAMPLINGS)}")


def _grid(n: int, d: int) -> Float[np.ndarray, "n d"]:
    """Cell centres of the most cubic grid with at most n points."""
    per_axis = max(1, int(np.floor(n ** (1 / d) + 1e-9)))
    counts = [per_axis] * d
    for axis in range(d):
        while np.prod([*counts[:axis], counts[axis] + 1, *counts[axis + 1 :]]) <= n:
            counts[axis] += 1
    axes = [(np.arange(c) + 0.5) / c for c in counts]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)


def _poisson_disc(n: int, d: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """A maximal Poisson-disc sample of slightly more than n points, thinned to n."""
    from scipy.stats import qmc

    radius = 0.7 * n ** (-1 / d)
    for _ in range(20):
        sample = qmc.PoissonDisk(d, radius=radius, rng=rng).fill_space()
        if len(sample) >= n:
            return sample[np.sort(rng.permutation(len(sample))[:n])]
        radius *= 0.97 * (len(sample) / n) ** (1 / d)
    return rng.random((n, d))  # n so small that the disc sampler cannot fit it
