"""Slabs: a family on a part of its time interval, and what a march from slab to slab gives.

Slab n is the family on [t_(n-1), t_n], cut as the family is, with its times pressed together. Its equation and the
conditions on its sides are the family's. At its beginning u fulfils what the family says for t_0, but with the end of
slab n - 1 in the place of the data: for a law B[u](x) = g(x) at t_0, the rows are

    B[u](x) - c B[v](x),    v the networks of slab n - 1,    c = 0 in the first slab (there g is part of B), else 1,

so that g drops out of the difference. v and c are data (`Carried`) and not part of the program: all slabs of a march
share one.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import FamilyError, GeometryError
from ..families.base import Family, ReferenceFunction
from ..families.boundary import BoundaryCondition, Drawn
from ..families.fields import Channel, Field, Fields, Point, rows
from ..geometry import Box, Decomposition
from ..geometry.boxes import Rectilinear, union
from ..geometry.sampling import Row
from .network import Network
from .trained import Trained

TIME = "t"
BEGIN, END = "t=min", "t=max"
TAKEN = ("name", "title", "parameters", "components", "coefficients", "conditions", "own_conditions")
ALSO_TAKEN = ("default_conditions", "complete_conditions", "easy", "points", "solver_options", "grid")


class Carried:
    """What a slab gets from the one before, as arrays among its parameters."""

    WEIGHTS, CENTRE, SLOPE, FACTOR = "_carried_weights", "_carried_centre", "_carried_slope", "_carried_factor"
    NAMES = (WEIGHTS, CENTRE, SLOPE, FACTOR)

    @classmethod
    def of(cls, before: Trained | None, slab: Slab) -> dict[str, np.ndarray]:
        """The networks before a slab; zeros, which do not count, for the first one."""
        if before is None:
            count, d = len(slab.decomposition), len(slab.coordinates)
            arrays = (np.zeros((count, slab.network.size)), np.zeros((count, d)), np.ones((count, d)), np.zeros(()))
        else:
            arrays = (np.asarray(before.theta), np.asarray(before.centre), np.asarray(before.slope), np.ones(()))
        return dict(zip(cls.NAMES, arrays))


def without_carried(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The family's own parameters."""
    return {name: value for name, value in parameters.items() if name not in Carried.NAMES}


class Slab(Family):
    """A family between two times.

    Args:
        whole: The family.
        low: Where the slab begins.
        high: Where it ends.
        network: The networks that all slabs have.

    Raises:
        FamilyError: The family has no time, its domain changes with time, or it has data at its last time.
    """

    def __init__(self, whole: Family, low: float, high: float, network: Network):
        check_initial_value_problem(whole)
        vars(self).update({name: getattr(whole, name) for name in TAKEN + ALSO_TAKEN})
        self.whole, self.network = whole, network
        self.decomposition = _pressed(whole, low, high)
        self.domain = self.decomposition.domain

    def residual(self, u: Any, p: Any, **parameters: Any) -> Any:
        return self.whole.residual(u, p, **without_carried(parameters))

    def boundary(self) -> list[BoundaryCondition]:
        found: list[BoundaryCondition] = []
        for condition in self.whole.boundary():
            faces = condition.names(self.whole.decomposition)
            if BEGIN not in faces:
                found.append(condition)
                continue
            found.append(_Continued(condition, self.whole, self.network))
            if len(faces) > 1:
                found.append(_on(condition, faces - {BEGIN}))
        return found

    @property
    def flux(self) -> Any:  # type: ignore[override]
        """The family's, if it has one."""
        return None if self.whole.flux is None else self._flux

    def _flux(self, u: Any, p: Any, **parameters: Any) -> Any:
        assert self.whole.flux is not None
        return self.whole.flux(u, p, **without_carried(parameters))

    @property
    def reference(self) -> Any:  # type: ignore[override]
        """The family's, if it has one."""
        return None if self.whole.reference is None else self._reference

    def _reference(self, **parameters: Any) -> ReferenceFunction:
        assert self.whole.reference is not None
        return self.whole.reference(**without_carried(parameters))


def check_initial_value_problem(family: Family) -> None:
    """Refuse what cannot be solved slab by slab."""
    label = f"family '{family.name}' cannot be marched in time"
    if TIME not in family.coordinates:
        raise FamilyError(f"{label}: its coordinates are {', '.join(family.coordinates)}, without a time t")
    begin, end = family.domain.sides[TIME]
    if any(box.sides[TIME] != (begin, end) for box in _boxes(family.domain)):
        raise FamilyError(f"{label}: its domain changes with time")
    faces = [(one, one.names(family.decomposition)) for one in family.boundary()]
    if any(END in names or (BEGIN in names and not hasattr(one, "faces")) for one, names in faces):
        raise FamilyError(f"{label}: it has conditions at t={end:g}, the end, and not at the beginning alone")
    if not any(BEGIN in names for _, names in faces):
        raise FamilyError(f"{label}: it has no condition at t={begin:g}, the beginning")
    parts = [box for region in family.decomposition.subdomains.values() for box in _boxes(region)]
    if family.coefficients and any(box.sides[TIME] != (begin, end) for box in parts):
        raise FamilyError(f"{label}: its coefficients change where it is cut in time")


def slab_times(family: Family, steps: int) -> np.ndarray:
    """The ends of slabs of equal length."""
    return np.linspace(*family.domain.sides[TIME], steps + 1)


def joined(family: Family, steps: int) -> Family:
    """The family on the subdomains of all slabs: '2@3' is subdomain 2 in slab 3."""
    check_initial_value_problem(family)
    times = slab_times(family, steps)
    parts = [_pressed(family, low, high).subdomains for low, high in itertools.pairwise(times)]
    named = {f"{name}@{n}": region for n, part in enumerate(parts, start=1) for name, region in part.items()}
    owner = {name: name.rpartition("@")[0] for name in named}
    coefficients = {key: {new: table[old] for new, old in owner.items()} for key, table in family.coefficients.items()}
    return family.changed(decomposition=Decomposition(family.domain, named), coefficients=coefficients)


def _boxes(region: Any) -> tuple[Box, ...]:
    if not isinstance(region, Rectilinear):
        raise GeometryError(f"time is cut in boxes, not in {region!r}")
    return region.boxes


def _pressed(family: Family, low: float, high: float) -> Decomposition:
    """The decomposition of a family with its times mapped onto [low, high]."""
    begin, end = family.domain.sides[TIME]

    def at(time: float) -> float:
        return high if time == end else low + (time - begin) / (end - begin) * (high - low)

    def pressed(region: Any) -> Rectilinear:
        moved = [(at(first), at(last)) for first, last in (box.sides[TIME] for box in _boxes(region))]
        return union([box.replaced(**{TIME: sides}) for box, sides in zip(_boxes(region), moved)])

    parts = {name: pressed(region) for name, region in family.decomposition.subdomains.items()}
    return Decomposition(pressed(family.domain), parts)


def _on(condition: Any, faces: set[str]) -> BoundaryCondition:
    """A condition on some of its faces."""
    other: BoundaryCondition = copy.copy(condition)
    vars(other)["faces"] = tuple(sorted(faces))
    return other


@dataclasses.dataclass(frozen=True)
class _Continued(BoundaryCondition):
    """An initial condition, with the networks before in the place of its data."""

    condition: BoundaryCondition
    whole: Family
    network: Network

    @property
    def along(self) -> set[str]:
        return {TIME}

    def names(self, geometry: Decomposition) -> set[str]:
        return {BEGIN}

    def rows(self, drawn: Sequence[Drawn], geometry: Decomposition) -> list[Row]:
        return _on(self.condition, {BEGIN}).rows(drawn, geometry)

    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        own = without_carried(parameters)
        here = rows(self.condition.law(u, p, normal, own))
        if Carried.FACTOR not in parameters:  # the example by which the law is tried
            return here
        before = self.whole.unknown(_Before(self, p, parameters))
        return here - parameters[Carried.FACTOR] * rows(self.condition.law(before, p, normal, own))

    @cached_property
    def last(self) -> tuple[tuple[int, tuple[Box, ...]], ...]:
        """The subdomains that reach the end of time, by number, with their boxes there."""
        end = self.whole.domain.sides[TIME][1]
        found = [
            (k, tuple(box for box in _boxes(region) if box.sides[TIME][1] == end))
            for k, region in enumerate(self.whole.decomposition.subdomains.values())
        ]
        return tuple((k, boxes) for k, boxes in found if boxes)


@dataclasses.dataclass(frozen=True)
class _Before:
    """Looks up the derivatives of the networks before at one point; where two meet, their average."""

    condition: _Continued
    point: Point
    parameters: Mapping[str, Any]

    def __call__(self, channel: Channel) -> Float[Array, ""]:
        where = {name: getattr(self.point, name) for name in self.condition.whole.coordinates}
        x, last = jnp.stack(list(where.values())), self.condition.last
        inside = [self._holds(boxes, where) for _, boxes in last]
        values = [jnp.where(holds, self._value(k, x, channel), 0.0) for holds, (k, _) in zip(inside, last)]
        return jnp.stack(values).sum(axis=0) / jnp.stack([jnp.asarray(holds, x.dtype) for holds in inside]).sum(axis=0)

    def _holds(self, boxes: Sequence[Box], where: Mapping[str, Any]) -> Any:
        """Whether a point, whatever its time, lies in one of the boxes."""
        slack = dict(zip(where, self.condition.whole.domain.slack))
        held = jnp.asarray(False)
        for box in boxes:
            ends = [(where[name], *box.sides[name], slack[name]) for name in where if name != TIME]
            held |= jnp.asarray([(low - s <= x) & (x <= high + s) for x, low, high, s in ends]).all()
        return held

    def _value(self, k: int, x: Float[Array, "d"], channel: Channel) -> Float[Array, ""]:
        weights, centre, slope = (self.parameters[name][k] for name in (Carried.WEIGHTS, Carried.CENTRE, Carried.SLOPE))
        scaled = ((x - centre) * slope)[:, None]
        return self.condition.network.channels(weights, scaled, slope, (channel,))[0, 0]
