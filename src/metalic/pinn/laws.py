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
from jax.extend.core import Literal
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

    def merge_second_derivatives(self, example: Place) -> None:
        """Replace the pure second derivatives of a component by their sum, if the law sees nothing else of them."""
        pure: dict[int, list[Channel]] = {}
        for component, index in self.channels:
            if sum(index) == 2 and max(index) == 2:
                pure.setdefault(component, []).append((component, index))
        for component, found in pure.items():
            if len(found) > 1 and self._sees_only_their_sum(found, example):
                whole = SecondSum(max(orders) for orders in zip(*(index for _, index in found)))
                self._merged |= {found[0]: (component, whole)} | dict.fromkeys(found[1:])
        kept = [channel for channel in self.channels if channel not in self._merged]
        sums = [channel for channel in self._merged.values() if channel is not None]
        self.channels = (*kept, *sums)

    def _sees_only_their_sum(self, found: list[Channel], example: Place) -> bool:
        """Read off the law's program, not tried out: a law may differ in a corner where no trial would fall."""

        def program(members: list[Any], others: list[Any], x: Any, coefficients: Any, parameters: Any) -> list[Any]:
            values = dict(zip((*found, *rest), (*members, *others)))
            at = Place(x, coefficients, example.normal, parameters)
            return [rows(self.evaluate(values.__getitem__, values.__getitem__, at, at))]

        rest = [channel for channel in self.channels if channel not in found]
        zero = jnp.zeros(())
        jaxpr = jax.make_jaxpr(program)(
            [zero] * len(found), [zero] * len(rest), tuple(example.x), tuple(example.coefficients), example.parameters
        ).jaxpr
        return _depends_on_sum_alone(jaxpr, jaxpr.invars[: len(found)])

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


SHAPES = ("convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "concatenate", "copy")


def _depends_on_sum_alone(jaxpr: Any, members: Sequence[Any]) -> bool:
    """Whether a program depends on some of its inputs through their sum alone, for all values; cautious: a program
    that is not understood does not.

    Every variable is a function of the sum plus a rest, {factors: weights}: products of variables times weighted sums
    of the members. Equal weights belong to the sum, so a variable without a rest depends on the sum alone.
    """
    rests: dict[Any, dict[tuple[Any, ...], np.ndarray]] = {}

    def rest(atom: Any) -> dict[tuple[Any, ...], np.ndarray]:
        return {} if isinstance(atom, Literal) else rests.get(atom, {})

    def combined(*parts: tuple[float, Any]) -> dict[tuple[Any, ...], np.ndarray]:
        total: dict[tuple[Any, ...], np.ndarray] = {}
        for sign, atom in parts:
            for factors, weights in rest(atom).items():
                total[factors] = total.get(factors, 0.0) + sign * weights
        return {factors: weights for factors, weights in total.items() if np.ptp(weights) > 0}

    for weights, member in zip(np.eye(len(members)), members):
        rests[member] = {(): weights}
    for step in jaxpr.eqns:
        name, atoms = step.primitive.name, step.invars
        uneven = [atom for atom in atoms if rest(atom)]
        if not uneven:
            continue
        if name in ("add", "add_any"):
            found = combined((1.0, atoms[0]), (1.0, atoms[1]))
        elif name == "sub":
            found = combined((1.0, atoms[0]), (-1.0, atoms[1]))
        elif name == "neg":
            found = combined((-1.0, atoms[0]))
        elif name in SHAPES and len(atoms) == 1:
            found = rest(atoms[0])
        elif name == "mul" and len(uneven) == 1:
            other = atoms[1] if uneven[0] is atoms[0] else atoms[0]
            if isinstance(other, Literal):
                found = combined((float(other.val), uneven[0]))
            else:
                found = {tuple(sorted((*f, other), key=id)): weights for f, weights in rest(uneven[0]).items()}
        else:
            return False
        rests[step.outvars[0]] = found
    return not any(rest(atom) for atom in jaxpr.outvars)


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
        law.merge_second_derivatives(self._example)
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
