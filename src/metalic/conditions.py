"""How neighbours are stitched: the catalogue of interface conditions, and sets of them.

A condition is one law for one point of an interface, seen from side `a` with the other side `b` and the normal `n`
from a to b. Its loss term is the mean of squares over the interface points, summed over ordered pairs of neighbours:

    u      solution continuity            u - u'
    uavg   average solution continuity    u - (u + u')/2
    r      residual                       r ; r'                          r = F[u] - h
    rc     residual continuity            r - r'
    gr     gradient-enhanced residual     dr/dz ; dr'/dz                  for every coordinate z
    c      flux continuity                (phi(u) - phi(u')) . n          if the family has a flux
    z      first derivative continuity    u_z - u'_z                      one condition per coordinate z
    zz     second derivative continuity   u_zz - u'_zz                    one condition per coordinate z

`uavg` is `u` with a quarter of its weight: the two differ in weight, not in what they ask for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .errors import ConditionError, FamilyError
from .families.base import Family
from .families.fields import Channel, components_of, rows


def touched(law: Callable[[Callable[[Channel], Any]], Any]) -> frozenset[Channel]:
    """The channels (component, derivative) that a law looks up; `law` gets a recording look-up."""
    seen: set[Channel] = set()

    def record(channel: Channel) -> jax.Array:
        seen.add(channel)
        return jnp.zeros(())

    jax.eval_shape(lambda: rows(law(record)))
    return frozenset(seen)


class Side:
    """One side of an interface at one point: the unknown `u`, the point `p`, and the family's laws there."""

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
        self.u = family.unknown(lookup)
        self.p = family.point(coordinates, coefficients)

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
        values = {channel: self._lookup(channel) for channel in channels}
        gradient = []
        for axis in range(d):
            shifted = {(i, index): self._lookup((i, _raised(index, axis))) for i, index in channels}
            direction = jnp.zeros_like(point).at[axis].set(1.0)
            gradient.append(jax.jvp(residual, (values, point), (shifted, direction))[1])
        return jnp.concatenate(gradient)


def _raised(index: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(order + (i == axis) for i, order in enumerate(index))


class Condition:
    """Base class. A condition of your own sets `name` and defines `law(a, b, n)` for one point.

    `symmetric`: swapping the sides changes no more than signs, so that one evaluation serves both ordered pairs.
    """

    name: str = ""
    description: str = ""
    formula: str = ""
    symmetric: bool = False

    def law(self, a: Side, b: Side, n: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<condition {self.name}: {self.description}>"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.name))


class SolutionContinuity(Condition):
    name, description, formula, symmetric = "u", "solution continuity", "u - u'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return tuple(f.value - g.value for f, g in zip(components_of(a.u), components_of(b.u)))


class AverageContinuity(Condition):
    name, description, formula, symmetric = "uavg", "average solution continuity", "u - (u + u')/2", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        pairs = zip(components_of(a.u), components_of(b.u))
        return tuple(f.value - (f.value + g.value) / 2 for f, g in pairs)


class Residual(Condition):
    name, description, formula, symmetric = "r", "residual", "r ; r'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual(), b.residual()


class ResidualContinuity(Condition):
    name, description, formula, symmetric = "rc", "residual continuity", "r - r'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual() - b.residual()


class ResidualGradient(Condition):
    name, description, formula, symmetric = "gr", "gradient-enhanced residual", "dr/dz ; dr'/dz for every z", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual_gradient(), b.residual_gradient()


class FluxContinuity(Condition):
    name, description, formula, symmetric = "c", "flux continuity", "(phi(u) - phi(u')) . n", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return (a.flux() - b.flux()) @ n


class DerivativeContinuity(Condition):
    """`x`, `t`... for order 1, `xx`, `tt`... for order 2."""

    symmetric = True

    def __init__(self, coordinate: str, order: int):
        self.coordinate, self.order = coordinate, order
        self.name = coordinate * order
        self.description = f"{'first' if order == 1 else 'second'} derivative continuity in {coordinate}"
        self.formula = f"u_{self.name} - u'_{self.name}"

    def law(self, a: Side, b: Side, n: Any) -> Any:
        along = (self.coordinate,) * self.order
        return tuple(f.d(*along) - g.d(*along) for f, g in zip(components_of(a.u), components_of(b.u)))


class Catalogue:
    """The conditions of one family in their fixed order; translates sets between names, 0/1 vectors and indices.

    A set is kept as a tuple of names in the catalogue's order. Its index is sum_i 2^i a_i over its 0/1 vector a.
    """

    def __init__(self, family: Family):
        by_rule = _rule(family)
        known = {condition.name: condition for condition in by_rule}
        if len(known) < len(by_rule):
            taken = next(z for z in family.coordinates if z in ("u", "uavg", "r", "rc", "gr", "c"))
            raise ConditionError(f"family '{family.name}': coordinate '{taken}' has the name of a condition; rename it")
        chosen = family.conditions if family.conditions is not None else tuple(known)
        missing = [name for name in chosen if name not in known]
        if missing:
            raise ConditionError(
                f"family '{family.name}' lists condition '{missing[0]}', but has only {', '.join(known)}"
            )
        self.family_name = family.name
        self.conditions: tuple[Condition, ...] = (*(known[name] for name in chosen), *family.own_conditions)
        self.names = tuple(condition.name for condition in self.conditions)
        if len(set(self.names)) < len(self.names) or "" in self.names:
            raise ConditionError(f"conditions of family '{family.name}' need distinct names, not {self.names}")

    def __len__(self) -> int:
        return len(self.names)

    def vector(self, conditions: Any) -> np.ndarray:
        """The 0/1 vector of a set given as names, text, vector or index."""
        chosen = self.parse(conditions)
        return np.array([name in chosen for name in self.names], dtype=np.int8)

    def index(self, conditions: Any) -> int:
        return sum(1 << i for i, on in enumerate(self.vector(conditions)) if on)

    def parse(self, conditions: Any) -> tuple[str, ...]:
        """A set in any notation -> its names: 'uavg,c,yy', ['u', 'c'], a 0/1 vector, an index, 'none', 'all'."""
        if isinstance(conditions, str):
            text = conditions.strip()
            if text.isdecimal():
                return self._from_index(int(text))
            if text in ("all", "none", ""):
                return self.names if text == "all" else ()
            return self._from_names(part.strip() for part in text.split(",") if part.strip())
        if isinstance(conditions, int | np.integer) and not isinstance(conditions, bool):
            return self._from_index(int(conditions))
        if isinstance(conditions, bool) or not isinstance(conditions, Iterable):
            raise ConditionError(f"a set of conditions is names, a 0/1 vector or an index, not {conditions!r}")
        items = list(conditions)
        if items and not any(isinstance(item, str) for item in items):
            return self._from_vector(items)
        return self._from_names(items)

    def _from_names(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted = list(names)
        for name in wanted:
            if not isinstance(name, str) or name not in self.names:
                near = difflib.get_close_matches(str(name), self.names, n=1)
                hint = f" Did you mean '{near[0]}'?" if near else ""
                raise ConditionError(
                    f"no condition '{name}' for family '{self.family_name}': allowed are {', '.join(self.names)}.{hint}"
                )
        return tuple(name for name in self.names if name in wanted)

    def _from_vector(self, vector: Sequence[Any]) -> tuple[str, ...]:
        if len(vector) != len(self) or any(isinstance(bit, Iterable) or bit not in (0, 1) for bit in vector):
            raise ConditionError(f"a 0/1 vector of conditions has {len(self)} entries, not {vector}")
        return tuple(name for name, bit in zip(self.names, vector) if bit)

    def _from_index(self, index: int) -> tuple[str, ...]:
        if not 0 <= index < 1 << len(self):
            raise ConditionError(f"set index {index} is outside 0..{(1 << len(self)) - 1}")
        return tuple(name for i, name in enumerate(self.names) if index >> i & 1)


def _rule(family: Family) -> list[Condition]:
    """The whole catalogue that coordinates and flux give, in order."""
    found: list[Condition] = [
        SolutionContinuity(),
        AverageContinuity(),
        Residual(),
        ResidualContinuity(),
        ResidualGradient(),
    ]
    if family.flux is not None:
        found.append(FluxContinuity())
    return found + [DerivativeContinuity(z, order) for order in (1, 2) for z in family.coordinates]


def xpinn_set(catalogue: Catalogue) -> tuple[str, ...]:
    """{uavg, rc}, or what the catalogue has of it."""
    return catalogue.parse([name for name in ("uavg", "rc") if name in catalogue.names])


def cpinn_set(catalogue: Catalogue) -> tuple[str, ...]:
    """{uavg, c}; where the catalogue has no c, {uavg, u}: across a cut in time the flux is u itself."""
    across = "c" if "c" in catalogue.names else "u"
    return catalogue.parse([name for name in ("uavg", across) if name in catalogue.names])


def textbook_sets(family: Family) -> list[tuple[str, ...]]:
    """The sets that people use: the default, that of cPINN, that of XPINN, and all conditions; each once."""
    catalogue = Catalogue(family)
    known = [default_conditions(family), cpinn_set(catalogue), xpinn_set(catalogue), catalogue.names]
    return list(dict.fromkeys(known))


def default_conditions(family: Family) -> tuple[str, ...]:
    """A sensible set where the user names none: continuity of the solution and of the flux, or, without a flux, of
    the first derivatives across the interfaces."""
    catalogue = Catalogue(family)
    if family.default_conditions is not None:
        return catalogue.parse(family.default_conditions)
    axes = {patch.axis for interface in family.decomposition.interfaces for patch in interface.patches}
    across = ["c"] if family.flux is not None else [family.coordinates[axis] for axis in sorted(axes)]
    return catalogue.parse([name for name in ("u", *across) if name in catalogue.names])
