"""One side of an interface at one point: what a condition sees of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import jax
import jax.numpy as jnp

from ..errors import ConditionError, FamilyError
from ..families.base import Family
from ..families.derivatives import Partial
from ..families.fields import Channel, rows


def touched(law: Callable[[Callable[[Channel], Any]], Any]) -> frozenset[Channel]:
    """The channels (component, derivative) that a law looks up; `law` gets a recording look-up."""
    seen: set[Channel] = set()

    def record(channel: Channel) -> jax.Array:
        seen.add(channel)
        return jnp.zeros(())

    jax.eval_shape(lambda: rows(law(record)))
    return frozenset(seen)


class Side:
    """One side of an interface at one point: the unknown `u`, the point `p`, and the family's laws there.

    A Laplacian is the sum of its terms here: other conditions ask for them too, and `gr` for their derivatives.
    """

    def __init__(
        self,
        family: Family,
        lookup: Callable[[Channel], Any],
        coordinates: Sequence[Any],
        coefficients: Sequence[Any],
        parameters: Mapping[str, Any],
    ):
        self._family, self._lookup = family, lookup
        self._coordinates, self._coefficients, self._parameters = coordinates, coefficients, parameters
        self.u = family.unknown(self._value)
        self.p = family.point(coordinates, coefficients)

    def _value(self, channel: Channel) -> Any:
        return self._sum(channel[0], channel[1].terms)

    def _sum(self, component: int, terms: Sequence[Partial]) -> Any:
        return reduce(add, [self._lookup((component, term)) for term in terms])

    def residual(self) -> jax.Array:
        """r = F[u] - h, a vector with an entry per equation."""
        return rows(self._family.residual(self.u, self.p, **self._parameters))

    def flux(self) -> jax.Array:
        """phi(u), shape (equations, coordinates)."""
        if self._family.flux is None:
            raise ConditionError(f"family '{self._family.name}' has no flux")
        density = self._family.flux(self.u, self.p, **self._parameters)
        names = self._family.coordinates
        if not isinstance(density, Mapping) or not density or not set(density) <= set(names):
            raise FamilyError(f"a flux is {{coordinate: density}} with coordinates {', '.join(names)}, not {density!r}")
        columns = [rows(density[name]) if name in density else None for name in self._family.coordinates]
        length = max(len(column) for column in columns if column is not None)
        return jnp.stack([jnp.zeros(length) if column is None else column for column in columns], axis=-1)

    def residual_gradient(self) -> jax.Array:
        """dr/dz for every coordinate z, by the chain rule through the residual."""
        family, d = self._family, len(self._family.coordinates)

        def residual(values: Mapping[Channel, Any], coordinates: jax.Array) -> jax.Array:
            u, p = family.unknown(values.__getitem__), family.point(coordinates, self._coefficients)
            return rows(family.residual(u, p, **self._parameters))

        point = jnp.stack([jnp.asarray(c) for c in self._coordinates])
        channels = touched(lambda look: family.residual(family.unknown(look), self.p, **self._parameters))
        values = {channel: self._value(channel) for channel in channels}
        gradient = []
        for axis in range(d):
            shifted = {(i, of): self._sum(i, [term.raised(axis) for term in of.terms]) for i, of in channels}
            direction = jnp.zeros_like(point).at[axis].set(1.0)
            gradient.append(jax.jvp(residual, (values, point), (shifted, direction))[1])
        return jnp.concatenate(gradient)
