"""The physically complete set of a family: what must hold across its interfaces, whatever set is trained.

An equation of order n along a coordinate z needs u and its derivatives along z below order n to be continuous across
a cut in z. Where the flux along z contains the highest of these, continuity of the flux takes its place: it is
also right where coefficients jump and the derivative does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from ..errors import ConditionError
from ..families.base import Family
from ..families.fields import Channel
from .laws import Condition, DerivativeContinuity, FluxContinuity, SolutionContinuity, conditions_of
from .side import Side, touched


def complete_set(family: Family) -> tuple[Condition, ...]:
    """The conditions, also those that the catalogue of the family leaves out; `Family.complete_conditions` goes first.

    Args:
        family: What is solved.

    Returns:
        The conditions; none for an undivided family.

    Raises:
        ConditionError: `complete_conditions` names a condition that the family does not have.

    Example:
        >>> from metalic.families import find_family
        >>> [condition.name for condition in complete_set(find_family("burgers"))]
        ['u', 'c']
    """
    if family.complete_conditions is not None:
        return _named(family, family.complete_conditions)
    found: list[Condition] = []
    for axis in sorted({patch.axis for pair in family.decomposition.interfaces for patch in pair.patches}):
        found += [condition for condition in _across(family, axis) if condition not in found]
    return tuple(found)


def open_faces(family: Family) -> list[str]:
    """The faces without data of coordinates that have none on either face, though the equation has derivatives along
    them. The end of time and an outflow are not among them: their coordinates have data on the other one."""
    faces = [face for condition in family.boundary() for face in condition.names(family.decomposition)]
    given = {face.partition("=")[0] for face in faces}
    try:
        channels = touched(lambda look: _side(family, look).residual())
    except Exception:  # whatever is wrong with the residual is reported when it is used
        return []
    used = [z for axis, z in enumerate(family.coordinates) if _order(channels, axis) > 0]
    return [f"{z}={end}" for z in used if z not in given for end in ("min", "max")]


def _named(family: Family, names: Iterable[str]) -> tuple[Condition, ...]:
    known = {condition.name: condition for condition in (*conditions_of(family), *family.own_conditions)}
    missing = [name for name in names if name not in known]
    if missing:
        raise ConditionError(
            f"family '{family.name}': complete_conditions names '{missing[0]}', but it has only {', '.join(known)}"
        )
    return tuple(known[name] for name in names)


def _across(family: Family, axis: int) -> list[Condition]:
    """What a cut across one axis needs."""
    z = family.coordinates[axis]
    top = max(_order(touched(lambda look: _side(family, look).residual()), axis), 1) - 1
    by_flux = family.flux is not None and _order(touched(lambda look: _side(family, look).flux()[:, axis]), axis) == top
    found: list[Condition] = [DerivativeContinuity(z, order) for order in range(1, top + 1)]
    if by_flux and top:
        found[-1] = FluxContinuity()
    if by_flux and not top and family.coefficients:  # a conserved quantity may jump with its coefficients
        return [FluxContinuity()]
    return [SolutionContinuity(), *found]


def _order(channels: Iterable[Channel], axis: int) -> int:
    """The highest derivative along an axis, -1 if there is none and no value either."""
    return max((derivative.orders[axis] for _, derivative in channels), default=-1)


def _side(family: Family, look: Any) -> Side:
    middle = {name: jnp.asarray(0.5 * (low + high)) for name, (low, high) in family.parameters.items()}
    point: Any = jnp.full(len(family.coordinates), 0.5)
    coefficients: Any = jnp.ones(len(family.coefficients))
    return Side(family, look, point, coefficients, middle)
