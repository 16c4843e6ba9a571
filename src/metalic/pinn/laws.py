"""Laws in the form that training needs: rows as functions of the channels at one point, and which channels those are.

A residual, a boundary condition and an interface condition all become the same thing here: a function from the
channels of one or two networks at one point to a vector of rows, whose squares are summed. `System` lists them for a
family; it is static (hashable), so that it can be part of a compiled program's key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..conditions import Catalogue, Condition, Side, touched
from ..errors import FamilyError, MetalicError
from ..families.base import Family, frozen
from ..families.boundary import BoundaryCondition
from ..families.fields import Channel, Field, rows
from .network import Network


@dataclass(frozen=True)
class Place:
    """What a law may know about its point, apart from the unknown: coordinates, coefficients, normal, parameters."""

    x: Any
    coefficients: Any
    normal: Any
    parameters: Mapping[str, Any]


Lookup = Callable[[Channel], Any]


def in_order(channels: Iterable[Channel]) -> tuple[Channel, ...]:
    return tuple(sorted(channels, key=lambda channel: (channel[1], channel[0])))


class Law:
    """One law for one point. `evaluate(look_a, look_b, place_a, place_b)` gives its rows."""

    def __init__(self, name: str, evaluate: Callable[[Lookup, Lookup, Place, Place], Any], example: Place):
        self.name, self.evaluate = name, evaluate
        self.channels = in_order(touched(lambda look: evaluate(look, look, example, example)))
        self.count: int = jax.eval_shape(
            lambda value: rows(evaluate(lambda _: value, lambda _: value, example, example)), jnp.zeros(())
        ).shape[0]

    @property
    def order(self) -> int:
        return max((derivative.order for _, derivative in self.channels), default=0)

    def rows(
        self, channels: tuple[Channel, ...], a: Float[Array, "C"], b: Float[Array, "C"], at: Place, across: Place
    ) -> Float[Array, "R"]:
        """The rows from channel vectors laid out as `channels`, a superset of the law's own."""
        position = {channel: i for i, channel in enumerate(channels)}

        def look(values: Float[Array, "C"]) -> Lookup:
            return lambda channel: values[position[channel]]

        return rows(self.evaluate(look(a), look(b), at, across))


@dataclass(frozen=True)
class View:
    """A condition as one side of an interface sees it. A symmetric one is evaluated from side a alone and counts
    twice; any other has a second view, `swapped`, from side b."""

    condition: int
    law: Law
    factor: float
    swapped: bool = False


GEOMETRY = ("domain", "decomposition")


def _watched(family: Family, read: set[str]) -> Family:
    """A copy of a family that notes which parts of its geometry its laws read."""

    def noted(name: str) -> property:
        def get(_: Family) -> Any:
            read.add(name)
            return getattr(family, name)

        return property(get)

    kind = type(family)
    members: dict[str, Any] = {name: noted(name) for name in GEOMETRY}
    fixed = {"name": family.name, "coordinates": family.coordinates, "__module__": kind.__module__}
    copy: Family = object.__new__(type(kind.__name__, (kind,), members | fixed))
    copy.__dict__.update({name: value for name, value in vars(family).items() if name not in GEOMETRY})
    return copy


class System:
    """A family with its networks and laws. Equal systems share their compiled programs.

    Points are traced, so that a program depends on the geometry through the shapes of its arrays alone, and two systems
    that differ in where their domains are cut are equal. Only if a law itself reads the geometry of its family, as in
    `p.x / self.domain.high[0]`, what it reads is part of the program.

    `within` names the conditions that the programs contain; which of them are in force is traced. A study needs all of
    the catalogue, a solve with given sets only theirs, and a program with two conditions compiles much faster than one
    with ten.
    """

    def __init__(self, family: Family, network: Network, within: Iterable[str] | None = None):
        self.family, self.network = family, network
        self.catalogue = Catalogue(family)
        known = self.catalogue.names
        self.within = known if within is None else tuple(name for name in known if name in frozenset(within))
        self._read: set[str] = set()
        self._laws_of = _watched(family, self._read)
        self.boundary_conditions = tuple(self._laws_of.boundary())

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """All that the laws depend on. They are evaluated first, so that it is known what they read."""
        family = self.family
        _ = self.residual, self.boundary, self.views if family.decomposition.interfaces else ()
        settings = {name: value for name, value in vars(family).items() if name not in GEOMETRY}
        geometry = {name: getattr(family, name) for name in self._read}
        return type(family), frozen(settings), frozen(geometry), self.catalogue.names, self.within, self.network

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, System) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    @property
    def _example(self) -> Place:
        family = self.family
        d = len(family.coordinates)
        parameters = {name: jnp.asarray(0.5 * (low + high)) for name, (low, high) in family.parameters.items()}
        return Place(jnp.full(d, 0.5), jnp.ones(len(family.coefficients)), jnp.ones(d), parameters)

    @cached_property
    def residual(self) -> Law:
        family = self._laws_of

        def evaluate(look: Lookup, _: Lookup, at: Place, __: Place) -> Any:
            result = family.residual(family.unknown(look), family.point(at.x, at.coefficients), **at.parameters)
            leaves = [leaf for leaf in jax.tree.leaves(result) if not isinstance(leaf, Field)]
            vector = len(leaves) == 1 and len(family.components) > 1  # a system may stack its equations
            wrong = [jnp.shape(leaf) for leaf in leaves if jnp.ndim(leaf) > vector]
            if wrong:
                raise FamilyError(f"it gives an array of shape {wrong[0]}, not a number per equation for one point")
            return result

        return self._checked("residual", evaluate)

    @cached_property
    def boundary(self) -> tuple[Law, ...]:
        return tuple(
            self._checked(f"boundary condition {i + 1}", self._boundary_law(condition))
            for i, condition in enumerate(self.boundary_conditions)
        )

    def _boundary_law(self, condition: BoundaryCondition) -> Callable[[Lookup, Lookup, Place, Place], Any]:
        family = self._laws_of

        def evaluate(look: Lookup, other: Lookup, at: Place, _: Place) -> Any:
            normal = {name: n for name, n in zip(family.coordinates, at.normal) if name in condition.along}
            p = family.point(at.x, at.coefficients)
            return condition.law(family.unknown(look), p, normal, dict(at.parameters), family.unknown(other))

        return evaluate

    def holding(self, names: Iterable[str]) -> System:
        """A system whose programs contain these conditions too: itself, if they do already."""
        wanted = {*self.within, *names}
        return self if wanted == set(self.within) else system_of(self.family, self.network, tuple(sorted(wanted)))

    @cached_property
    def conditions(self) -> dict[str, Law]:
        """The laws of the conditions within, by name."""
        return {
            one.name: self._checked(f"condition '{one.name}'", self._condition_law(one), one.name)
            for one in self.catalogue.conditions
            if one.name in self.within
        }

    @cached_property
    def views(self) -> tuple[View, ...]:
        """All that counts as condition terms: every condition within, over ordered pairs of neighbours."""
        found: list[View] = []
        for i, one in enumerate(self.catalogue.conditions):
            if one.name in self.within:
                law = self.conditions[one.name]
                found += [View(i, law, 2.0)] if one.symmetric else [View(i, law, 1.0), View(i, law, 1.0, True)]
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[tuple[View, ...], ...]:
        """Views that share one set of channels: those up to first order, then one group per higher order."""
        orders = {view: max(view.law.order, 1) for view in self.views}
        return tuple(tuple(v for v in self.views if orders[v] == order) for order in sorted(set(orders.values())))

    def _condition_law(self, condition: Condition) -> Callable[[Lookup, Lookup, Place, Place], Any]:
        def evaluate(look_a: Lookup, look_b: Lookup, at: Place, across: Place) -> Any:
            a = Side(self._laws_of, look_a, at.x, at.coefficients, at.parameters)
            b = Side(self._laws_of, look_b, across.x, across.coefficients, across.parameters)
            return condition.law(a, b, at.normal)

        return evaluate

    def _checked(self, what: str, evaluate: Callable[..., Any], name: str | None = None) -> Law:
        """Run a user's law once on abstract numbers; an error is reported with the family's name."""
        label = f"family '{self.family.name}': {what}"
        try:
            return Law(name or what, evaluate, self._example)
        except MetalicError as error:
            raise type(error)(f"{label}: {error}") from error
        except jax.errors.TracerBoolConversionError as error:
            raise FamilyError(f"{label} asks 'if' of a number that is not known yet: use jnp.where instead") from error
        except jax.errors.TracerArrayConversionError as error:
            raise FamilyError(f"{label} calls a function of NumPy: use jax.numpy, as in jnp.sin(u.value)") from error
        except Exception as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else ""
            raise FamilyError(f"{label} cannot be evaluated at a point: {type(error).__name__}: {first}") from error


@lru_cache(maxsize=64)
def system_of(family: Family, network: Network, within: tuple[str, ...] | None = None) -> System:
    """The system of a family and its networks, made once; what is wrong with its laws is raised here."""
    found = System(family, network, within)
    hash(found)  # evaluates the laws: inside JAX an error of theirs would be reported as JAX's
    return found
