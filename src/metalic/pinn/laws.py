"""Laws in the form that training needs: rows as functions of the channels at one point, and which channels those are.

A residual, a boundary condition and an interface condition all become the same thing here: a function from the
channels of one or two networks at one point to a vector of rows, whose squares are summed. `System` lists them for a
family; it is static (hashable), so that it can be part of a compiled program's key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..conditions import Catalogue, Condition, Side, touched
from ..errors import FamilyError, MetalicError
from ..families.base import Family
from ..families.boundary import Periodic
from ..families.fields import Channel, Field, SecondSum, rows
from .network import Network


@dataclass(frozen=True)
class Place:
    """What a law may know about its point besides the unknown: coordinates, coefficients, normal, parameters."""

    x: Any
    coefficients: Any
    normal: Any
    parameters: Mapping[str, Any]


Lookup = Callable[[Channel], Any]


class Law:
    """One law for one point. `evaluate(look_a, look_b, place_a, place_b)` gives its rows."""

    def __init__(self, name: str, evaluate: Callable[[Lookup, Lookup, Place, Place], Any], example: Place):
        self.name, self.evaluate = name, evaluate
        self._merged: dict[Channel, Channel | None] = {}  # what stands for a channel; None: nothing, it is in the sum
        self.channels: tuple[Channel, ...] = tuple(
            sorted(touched(lambda look: evaluate(look, look, example, example)), key=lambda c: (sum(c[1]), c[1], c[0]))
        )
        self.count: int = jax.eval_shape(
            lambda: rows(evaluate(lambda _: jnp.zeros(()), lambda _: jnp.zeros(()), example, example))
        ).shape[0]

    @property
    def order(self) -> int:
        return max((sum(index) for _, index in self.channels), default=0)

    def merge_second_derivatives(self, places: Sequence[Place]) -> None:
        """Replace the pure second derivatives of a component by their sum, if the law depends on nothing else of them.

        Found out by trying: at several places, on random channels, moving an amount from one second derivative to
        another must not change the rows.
        """
        pure: dict[int, list[Channel]] = {}
        for component, index in self.channels:
            if sum(index) == 2 and max(index) == 2:
                pure.setdefault(component, []).append((component, index))
        for component, found in pure.items():
            if len(found) > 1 and all(self._sees_only_their_sum(found, n, at) for n, at in enumerate(places)):
                whole = SecondSum(max(orders) for orders in zip(*(index for _, index in found)))
                self._merged |= {found[0]: (component, whole)} | dict.fromkeys(found[1:])
        kept = [channel for channel in self.channels if channel not in self._merged]
        sums = [channel for channel in self._merged.values() if channel is not None]
        self.channels = (*kept, *sums)

    def _sees_only_their_sum(self, found: list[Channel], seed: int, at: Place) -> bool:
        numbers = np.random.default_rng(seed).normal(size=len(self.channels))
        values = dict(zip(self.channels, numbers.tolist()))
        moved = values | dict.fromkeys(found, 0.0) | {found[0]: sum(values[channel] for channel in found)}
        before, after = (rows(self.evaluate(v.__getitem__, v.__getitem__, at, at)) for v in (values, moved))
        tolerance = 100 * float(jnp.finfo(before.dtype).eps)
        return bool(jnp.all(jnp.abs(before - after) <= tolerance * (1 + jnp.abs(before))))

    def rows(
        self, channels: tuple[Channel, ...], a: Float[Array, "C"], b: Float[Array, "C"], at: Place, across: Place
    ) -> Float[Array, "R"]:
        """The rows from channel vectors laid out as `channels`, a superset of the law's own."""
        position = {channel: i for i, channel in enumerate(channels)}

        def look(values: Float[Array, "C"]) -> Lookup:
            def one(channel: Channel) -> Any:
                stands = self._merged.get(channel, channel)
                return jnp.zeros((), values.dtype) if stands is None else values[position[stands]]

            return one

        return rows(self.evaluate(look(a), look(b), at, across))


class System:
    """A family with its networks and laws. Equal systems share their compiled programs."""

    def __init__(self, family: Family, network: Network):
        self.family, self.network = family, network
        self.catalogue = Catalogue(family)
        self.boundary_conditions = tuple(family.boundary())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, System) and (self.family, self.network) == (other.family, other.network)

    def __hash__(self) -> int:
        return hash((self.family, self.network))

    @property
    def _example(self) -> Place:
        family = self.family
        d = len(family.coordinates)
        parameters = {name: jnp.asarray(0.5 * (low + high)) for name, (low, high) in family.parameters.items()}
        return Place(jnp.full(d, 0.5), jnp.ones(len(family.coefficients)), jnp.ones(d), parameters)

    def _random_place(self, seed: int) -> Place:
        """Any point of the domain, with parameters from their boxes and coefficients that differ."""
        family, rng = self.family, np.random.default_rng(seed)
        parameters = {name: jnp.asarray(rng.uniform(*box)) for name, box in family.parameters.items()}
        x = rng.uniform(family.domain.low, family.domain.high)
        coefficients = rng.uniform(0.5, 2.0, size=len(family.coefficients))
        return Place(jnp.asarray(x), jnp.asarray(coefficients), jnp.ones(len(x)), parameters)

    @cached_property
    def residual(self) -> Law:
        family = self.family

        def evaluate(look: Lookup, _: Lookup, at: Place, __: Place) -> Any:
            result = family.residual(family.unknown(look), family.point(at.x, at.coefficients), **at.parameters)
            leaves = [leaf for leaf in jax.tree.leaves(result) if not isinstance(leaf, Field)]
            vector = len(leaves) == 1 and len(family.components) > 1  # a system may stack its equations
            wrong = [jnp.shape(leaf) for leaf in leaves if jnp.ndim(leaf) > vector]
            if wrong:
                raise FamilyError(f"it gives an array of shape {wrong[0]}, not a number per equation for one point")
            return result

        law = self._checked("residual", evaluate)
        with jax.ensure_compile_time_eval():  # numbers are tried out, wherever the law is first asked for
            law.merge_second_derivatives([self._random_place(seed) for seed in range(4)])
        return law

    @cached_property
    def boundary(self) -> tuple[Law, ...]:
        return tuple(
            self._checked(f"boundary condition {i + 1}", self._boundary_law(condition))
            for i, condition in enumerate(self.boundary_conditions)
        )

    def _boundary_law(self, condition: Any) -> Callable[[Lookup, Lookup, Place, Place], Any]:
        family = self.family

        def periodic(look: Lookup, other: Lookup, at: Place, across: Place) -> Any:
            return condition.law(family.unknown(look), family.unknown(other))

        axes = {family.decomposition.face(face).split("=")[0] for face in getattr(condition, "faces", ())}

        def one_face(look: Lookup, _: Lookup, at: Place, __: Place) -> Any:
            normal = {name: n for name, n in zip(family.coordinates, at.normal) if name in axes}
            p = family.point(at.x, at.coefficients)
            return condition.law(family.unknown(look), p, normal, dict(at.parameters))

        return periodic if isinstance(condition, Periodic) else one_face

    @cached_property
    def conditions(self) -> tuple[Law, ...]:
        return tuple(
            self._checked(f"condition '{condition.name}'", self._condition_law(condition), condition.name)
            for condition in self.catalogue.conditions
        )

    def _condition_law(self, condition: Condition) -> Callable[[Lookup, Lookup, Place, Place], Any]:
        def evaluate(look_a: Lookup, look_b: Lookup, at: Place, across: Place) -> Any:
            a = Side(self.family, look_a, at.x, at.coefficients, at.parameters)
            b = Side(self.family, look_b, across.x, across.coefficients, across.parameters)
            return condition.law(a, b, at.normal)

        return evaluate

    def _checked(self, what: str, evaluate: Callable[..., Any], name: str | None = None) -> Law:
        """Run a user's law once on abstract numbers; whatever goes wrong is told with the family's name."""
        label = f"family '{self.family.name}': {what}"
        try:
            return Law(name or what, evaluate, self._example)
        except MetalicError as error:
            raise type(error)(f"{label}: {error}") from error
        except jax.errors.TracerBoolConversionError as error:
            raise FamilyError(f"{label} asks 'if' of a number that is not known yet: use jnp.where instead") from error
        except Exception as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else ""
            raise FamilyError(f"{label} cannot be evaluated at a point: {type(error).__name__}: {first}") from error
