"""Boundary and initial conditions: each is one law for one point of a face.

`Dirichlet("x=0", "x=1", 0.0)` fixes the value on two faces; `Neumann` the derivative along the outward normal (at
`t=0` a Neumann condition is an initial velocity: there it is the plain t-derivative); `Robin` a combination;
`Periodic("x")` ties two opposite faces. Values are numbers or functions of the point and the family's parameters,
`lambda p, c: jnp.sin(p.x)`. Faces are written 'x=0', 'x=min' or 'x=max'.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import FamilyError
from .fields import Field, Fields, Point

Value = float | Callable[..., Any]


def _evaluate(value: Value, p: Point, parameters: dict[str, Any]) -> Any:
    """A number as it is; a function of the point and of those parameters that it names."""
    if not callable(value):
        if not isinstance(value, numbers.Real):
            raise FamilyError(f"a boundary value is a number or a function of the point, not {value!r}")
        return value
    names = inspect.signature(value).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values()):
        return value(p, **parameters)
    return value(p, **{name: number for name, number in parameters.items() if name in names})


def _component(u: Field | Fields, name: str | None) -> Field:
    if isinstance(u, Field):
        if name not in (None, u.label):
            raise FamilyError(f"no component '{name}' of the unknown: it has one, '{u.label}'")
        return u
    if name is None:
        raise FamilyError("the unknown has several components: say which one, as in Dirichlet('x=0', 0.0, of='v')")
    return u[name]


def _normal_derivative(u: Field, normal: Mapping[str, Any]) -> Any:
    """Along the outward normal, given by coordinate (those that the condition's faces have); time always forwards."""
    return sum((abs(n) if name == "t" else n) * u.d(name) for name, n in normal.items())


class _OneFace:
    """A condition on one face or several; `law` is its residual at one point."""

    def __init__(self, *faces_and_value: Any, of: str | None = None):
        *faces, value = faces_and_value or (None,)
        if not faces or not all(isinstance(face, str) for face in faces) or isinstance(value, str):
            raise FamilyError(
                f"{type(self).__name__} takes faces and a value last, as in {type(self).__name__}('x=0', 'x=1', 0.0)"
            )
        self.faces: tuple[str, ...] = tuple(faces)
        self.value: Value = value
        self.of = of

    def law(self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any]) -> Any:
        raise NotImplementedError


class Dirichlet(_OneFace):
    """u = value."""

    def law(self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any]) -> Any:
        return _component(u, self.of).value - _evaluate(self.value, p, parameters)


class Neumann(_OneFace):
    """du/dn = value (du/dt on a face of time)."""

    def law(self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any]) -> Any:
        return _normal_derivative(_component(u, self.of), normal) - _evaluate(self.value, p, parameters)


class Robin(_OneFace):
    """alpha u + beta du/dn = value: `Robin("x=1", 0.0, alpha=1.0, beta=2.0)`."""

    def __init__(self, *faces_and_value: Any, alpha: float, beta: float, of: str | None = None):
        super().__init__(*faces_and_value, of=of)
        self.alpha, self.beta = alpha, beta

    def law(self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any]) -> Any:
        field = _component(u, self.of)
        combined = self.alpha * field.value + self.beta * _normal_derivative(field, normal)
        return combined - _evaluate(self.value, p, parameters)


@dataclass(frozen=True)
class Periodic:
    """Ties the faces min and max of one coordinate: values and derivatives along it below `order` agree."""

    coordinate: str
    order: int = 2

    def law(self, u: Field | Fields, other: Field | Fields) -> Any:
        parts, others = ([f] if isinstance(f, Field) else list(f) for f in (u, other))
        return tuple(
            a.d(*[self.coordinate] * k) - b.d(*[self.coordinate] * k)
            for a, b in zip(parts, others)
            for k in range(self.order)
        )


BoundaryCondition = _OneFace | Periodic
