"""Boundary and initial conditions: each is one law for one point of a face.

`Dirichlet("x=0", "x=1", 0.0)` fixes the value on two faces; `Neumann` the derivative along the outward normal (at
`t=0` a Neumann condition is an initial velocity: there it is the plain t-derivative); `Robin` a combination;
`Periodic("x")` ties two opposite faces. Values are numbers or functions of the point and the family's parameters,
`lambda p, c: jnp.sin(p.x)`. Faces are written 'x=0', 'x=min' or 'x=max'.
"""

from __future__ import annotations

import inspect
import itertools
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import FamilyError
from ..geometry import Decomposition, Patch
from ..geometry.sampling import Row
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


def _shown(value: Value) -> str:
    """A value in a repr: a number, or the name of a function with its arguments."""
    if not callable(value):
        return repr(value)
    return f"{getattr(value, '__name__', type(value).__name__)}{inspect.signature(value)}"


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


Drawn = Sequence[tuple[Patch, Float[np.ndarray, "_n d"]]]  # the patches of a subdomain with points on each


class BoundaryCondition(ABC):
    """A condition on faces of the domain: a law for one point, and the points where it holds."""

    @property
    @abstractmethod
    def along(self) -> set[str]:
        """The coordinates whose derivative along the normal the law may ask for."""

    @abstractmethod
    def names(self, geometry: Decomposition) -> set[str]:
        """The canonical names of its faces; an error if the domain does not have them."""

    @abstractmethod
    def rows(self, drawn: Sequence[Drawn], geometry: Decomposition) -> list[Row]:
        """The points where it holds, of those drawn on the faces of every subdomain."""

    @abstractmethod
    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        """Its residual at one point; `across` is the unknown at the point that it is paired with, if it is."""


class _OneFace(BoundaryCondition):
    """A condition on one face or several, whose points are on their own."""

    def __init__(self, *faces_and_value: Any, of: str | None = None):
        *faces, value = faces_and_value or (None,)
        if not faces or not all(isinstance(face, str) for face in faces) or isinstance(value, str):
            raise FamilyError(
                f"{type(self).__name__} takes faces and a value last, as in {type(self).__name__}('x=0', 'x=1', 0.0)"
            )
        self.faces: tuple[str, ...] = tuple(faces)
        self.value: Value = value
        self.of = of

    def __repr__(self) -> str:
        given = [*map(repr, self.faces), _shown(self.value), *self._named()]
        return f"{type(self).__name__}({', '.join(given)})"

    def _named(self) -> list[str]:
        return [] if self.of is None else [f"of={self.of!r}"]

    @property
    def along(self) -> set[str]:
        return {face.partition("=")[0].strip() for face in self.faces}

    def names(self, geometry: Decomposition) -> set[str]:
        return {geometry.domain.face(face) for face in self.faces}

    def rows(self, drawn: Sequence[Drawn], geometry: Decomposition) -> list[Row]:
        wanted, found = self.names(geometry), []
        for k, parts in enumerate(drawn):
            mine = [(patch, points) for patch, points in parts if patch.name in wanted]
            if mine:
                here = np.concatenate([points for _, points in mine])
                normals = np.concatenate([patch.normals(len(points)) for patch, points in mine])
                found.append(Row(k, here, normals, _total(parts)))
        return found


class Dirichlet(_OneFace):
    """The value of the unknown on faces: u = value.

    Args:
        *faces_and_value: One face or several, such as "x=0", "x=min" or "t=0", and the value last: a number, or a
            function of the point and of those parameters of the family that it names.
        of: The component, if the unknown has several.

    Raises:
        FamilyError: There is no face, or no value.

    Example:
        >>> Dirichlet("x=0", "x=1", 0.0)
        Dirichlet('x=0', 'x=1', 0.0)
        >>> Dirichlet("t=0", lambda p, k: k * p.x, of="v")
        Dirichlet('t=0', <lambda>(p, k), of='v')
    """

    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        return _component(u, self.of).value - _evaluate(self.value, p, parameters)


class Neumann(_OneFace):
    """The derivative along the outward normal on faces: du/dn = value.

    On a face of the coordinate `t` it is the plain derivative du/dt: an initial velocity.

    Args:
        *faces_and_value: One face or several, and the value last, as for `Dirichlet`.
        of: The component, if the unknown has several.

    Raises:
        FamilyError: There is no face, or no value.

    Example:
        >>> Neumann("t=0", 0.0)
        Neumann('t=0', 0.0)
    """

    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        return _normal_derivative(_component(u, self.of), normal) - _evaluate(self.value, p, parameters)


class Robin(_OneFace):
    """A combination of value and normal derivative on faces: alpha u + beta du/dn = value.

    Args:
        *faces_and_value: One face or several, and the value last, as for `Dirichlet`.
        alpha: The weight of u.
        beta: The weight of du/dn.
        of: The component, if the unknown has several.

    Raises:
        FamilyError: There is no face, or no value.

    Example:
        >>> Robin("x=1", 0.0, alpha=1.0, beta=2.0)
        Robin('x=1', 0.0, alpha=1.0, beta=2.0)
    """

    def __init__(self, *faces_and_value: Any, alpha: float, beta: float, of: str | None = None):
        super().__init__(*faces_and_value, of=of)
        self.alpha, self.beta = alpha, beta

    def _named(self) -> list[str]:
        return [f"alpha={self.alpha!r}", f"beta={self.beta!r}", *super()._named()]

    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        field = _component(u, self.of)
        combined = self.alpha * field.value + self.beta * _normal_derivative(field, normal)
        return combined - _evaluate(self.value, p, parameters)


@dataclass(frozen=True)
class Periodic(BoundaryCondition):
    """Ties the two faces of one coordinate: values and derivatives along it agree.

    Args:
        coordinate: The coordinate.
        order: Derivatives below this order agree; 2 ties the values and the first derivatives.

    Raises:
        FamilyError: The domain has no such coordinate, or its two faces do not match; raised before the first solve.

    Example:
        >>> Periodic("x")
        Periodic(coordinate='x', order=2)
    """

    coordinate: str
    order: int = 2

    @property
    def along(self) -> set[str]:
        return set()

    def names(self, geometry: Decomposition) -> set[str]:
        if self.coordinate not in geometry.domain.sides:
            raise FamilyError(f"Periodic('{self.coordinate}') names no coordinate")
        return {f"{self.coordinate}={end}" for end in ("min", "max")}

    def rows(self, drawn: Sequence[Drawn], geometry: Decomposition) -> list[Row]:
        """Points of either face, with their images on the opposite one, joined by the pair of their subdomains."""
        axis, ends = geometry.domain.names.index(self.coordinate), geometry.domain.sides[self.coordinate]
        pairs: dict[tuple[int, int], list[np.ndarray]] = {}
        for (k, parts), side in itertools.product(enumerate(drawn), (0, 1)):
            name = f"{self.coordinate}={('min', 'max')[side]}"
            for points in [points for patch, points in parts if patch.name == name]:
                owner = self._owners(_moved(points, axis, ends[1 - side]), geometry)
                for other in np.unique(owner).tolist():
                    pair = (other, k) if side else (k, other)
                    pairs.setdefault(pair, []).append(_moved(points[owner == other], axis, ends[0]))
        found = []
        for (a, b), those in sorted(pairs.items()):
            here = np.concatenate(those)
            found.append(Row(a, here, np.zeros_like(here), _total(drawn[a]), b, _moved(here, axis, ends[1])))
        return found

    def _owners(self, images: Float[np.ndarray, "n d"], geometry: Decomposition) -> np.ndarray:
        inside = geometry.membership(images)
        if not inside.any(axis=0).all():
            raise FamilyError(f"Periodic('{self.coordinate}'): the two faces of {geometry.domain!r} do not match")
        return np.argmax(inside, axis=0)

    def law(
        self, u: Field | Fields, p: Point, normal: Mapping[str, Any], parameters: dict[str, Any], across: Any = None
    ) -> Any:
        parts, others = ([f] if isinstance(f, Field) else list(f) for f in (u, across))
        return tuple(
            a.d(*[self.coordinate] * k) - b.d(*[self.coordinate] * k)
            for a, b in zip(parts, others)
            for k in range(self.order)
        )


def _total(drawn: Drawn) -> int:
    return sum(len(points) for _, points in drawn)


def _moved(points: Float[np.ndarray, "n d"], axis: int, value: float) -> Float[np.ndarray, "n d"]:
    """The points with another value of one coordinate."""
    moved = points.copy()
    moved[:, axis] = value
    return moved
