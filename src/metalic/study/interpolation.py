"""Where members lie in the box of their family, and the coefficients to interpolate between them.

The start at parameters p is theta = sum_i c_i theta_i with sum_i c_i = 1 and sum_i c_i p_i = p. Of all such c, the one
with the smallest sum of c_i^2 |p_i - p|^2 is taken: with two neighbours on a line it is the usual linear interpolation,
with more neighbours than needed a local least-squares fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from .members import Member

Boxes = Mapping[str, tuple[float, float]]
WIDE = 40.0  # a positive box whose ends differ by this factor is measured in logarithms (a speed from 1 to 30 is not)
LARGEST_COEFFICIENT = 2.5  # of an interpolation; a larger one is an extrapolation too far


def in_logarithms(low: float, high: float) -> bool:
    """Whether a box is so wide that its parameter is measured in logarithms."""
    return low > 0 and high >= WIDE * low


def place_of(boxes: Boxes, parameters: Mapping[str, float]) -> Float[np.ndarray, "c"]:
    """Parameters as a point of the unit box; wide boxes in logarithms."""
    found = []
    for name, (low, high) in boxes.items():
        value = float(parameters[name])
        if in_logarithms(low, high) and value > 0:
            low, high, value = np.log(low), np.log(high), np.log(value)
        found.append((value - low) / (high - low) if high > low else 0.0)
    return np.array(found)


def halfway(boxes: Boxes, a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    """The parameters halfway between two."""
    wide = {name for name, box in boxes.items() if in_logarithms(*box) and min(a[name], b[name]) > 0}
    return {name: float((a[name] * b[name]) ** 0.5 if name in wide else (a[name] + b[name]) / 2) for name in boxes}


def at_unit(unit: float, box: tuple[float, float]) -> float:
    """The parameter at a place between 0 and 1 of its box, in logarithms if the box is wide."""
    low, high = box
    if in_logarithms(low, high):
        return float(np.clip(low * (high / low) ** unit, low, high))
    return float(low + unit * (high - low))


def neighbours(group: Sequence[tuple[Member, Float[np.ndarray, "c"]]]) -> list[tuple[Member, Float[np.ndarray, "c"]]]:
    """Those to interpolate between, nearest first: on a line one on either side, or the two nearest beyond its end."""
    count = len(group[0][1])
    if count != 1:
        return list(group[: 2 * count + 1])
    sides = [[one for one in group if one[1][0] * sign > 0][:1] for sign in (1, -1)]
    return [*sides[0], *sides[1]] if all(sides) else list(group[:2])


def coefficients(away: Float[np.ndarray, "n c"]) -> Float[np.ndarray, "n"] | None:
    """c with sum c = 1 and sum c_i away_i = 0, the smallest weighted with the distances; None if there is none."""
    count, size = away.shape
    if count < size + 1:
        return None
    weight = 1 / (np.linalg.norm(away, axis=1) + 1e-12)
    system = np.vstack([np.ones(count), away.T]) * weight
    right = np.r_[1.0, np.zeros(size)]
    found = np.linalg.lstsq(system, right, rcond=1e-10)[0]
    if not np.allclose(system @ found, right, atol=1e-6) or np.abs(found * weight).max() > LARGEST_COEFFICIENT:
        return None
    return found * weight
