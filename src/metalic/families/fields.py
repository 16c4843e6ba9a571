"""The unknown at one point, its derivatives by name.

A law (residual, flux, condition) sees the unknown as an object `u`: `u` itself is the value, `u.x` the first
derivative along x, `u.xt` a mixed one, `u.xxx` a third one. A system has named components: `u.h`, `u.h.x`, `u.v.t`.
`u.laplacian("x", "y")` is u_xx + u_yy, at the price of one derivative.

Before anything is computed a law is run once on a recording unknown: the derivatives it touches, and no others, are
what the networks will compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..errors import FamilyError
from .derivatives import Derivative, Laplacian, MultiIndex, Partial

Channel = tuple[int, Derivative]  # component number, derivative

ARRAY_LIKE = ("dtype", "shape", "ndim", "aval")  # what functions of jax.numpy ask of their arguments


def parse_derivative(text: str, names: Sequence[str]) -> MultiIndex | None:
    """'xxt' -> (2, 1) for coordinates (x, t); None if the text is not made of coordinate names."""

    def readings(rest: str) -> Iterator[tuple[str, ...]]:
        if not rest:
            yield ()
        for name in names:
            if rest.startswith(name):
                for tail in readings(rest[len(name) :].lstrip("_")):
                    yield (name, *tail)

    found = {tuple(reading.count(name) for name in names) for reading in readings(text)}
    if len(found) > 1:
        raise FamilyError(f"derivative '{text}' can be read in several ways; write u.d('x1', 'x1') instead")
    return found.pop() if found else None


class Field:
    """One component at one point: stands for its value in arithmetic, and has its derivatives as attributes.

    Functions of jax.numpy want the plain value: `jnp.sin(u.value)`.
    """

    def __init__(self, lookup: Callable[[Derivative], Any], names: tuple[str, ...], label: str = "u"):
        self._lookup, self._names, self.label = lookup, names, label

    @property
    def value(self) -> Any:
        return self._lookup(Partial((0,) * len(self._names)))

    def d(self, *coordinates: str) -> Any:
        """The derivative along the coordinates named: `u.d("x", "x", "t")`."""
        return self._lookup(Partial(self._counts(coordinates)))

    def laplacian(self, *coordinates: str) -> Any:
        """The sum of the second derivatives along the coordinates named: `u.laplacian("x", "y")` is u_xx + u_yy."""
        counts = self._counts(coordinates)
        if not coordinates or max(counts) > 1:
            raise FamilyError(f"a Laplacian names its coordinates, each once, as in {self.label}.laplacian('x', 'y')")
        kind = Laplacian if len(coordinates) > 1 else Partial
        return self._lookup(kind(tuple(2 * count for count in counts)))

    def _counts(self, coordinates: Sequence[str]) -> MultiIndex:
        unknown = [c for c in coordinates if c not in self._names]
        if unknown:
            raise FamilyError(f"no coordinate {unknown[0]!r}; the coordinates are {', '.join(self._names)}")
        return tuple(coordinates.count(name) for name in self._names)

    def __getattr__(self, text: str) -> Any:
        if text.startswith("__"):
            raise AttributeError(text)
        index = parse_derivative(text, self._names)
        if index is None and text in ARRAY_LIKE:
            raise FamilyError(f"inside a function write {self.label}.value, as in jnp.sin({self.label}.value)")
        if index is None:
            raise FamilyError(
                f"'{self.label}.{text}' is not a derivative: names are made of the coordinates "
                f"{', '.join(self._names)}, as in {self.label}.{self._names[0]}{self._names[-1]}"
            )
        return self._lookup(Partial(index))

    def __abs__(self) -> Any:
        return abs(self.value)

    def __neg__(self) -> Any:
        return -self.value

    def __pow__(self, other: Any) -> Any:
        return self.value ** _plain(other)

    def __rpow__(self, other: Any) -> Any:
        return _plain(other) ** self.value

    def __add__(self, other: Any) -> Any:
        return self.value + _plain(other)

    def __sub__(self, other: Any) -> Any:
        return self.value - _plain(other)

    def __rsub__(self, other: Any) -> Any:
        return _plain(other) - self.value

    def __mul__(self, other: Any) -> Any:
        return self.value * _plain(other)

    def __truediv__(self, other: Any) -> Any:
        return self.value / _plain(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _plain(other) / self.value

    def _compared(self, other: Any) -> Any:
        raise FamilyError(
            f"compare the value, and choose with jnp.where: jnp.where({self.label}.value > 0, a, b), "
            f"not {self.label} > 0"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic with NumPy's numbers; other functions of NumPy cannot be differentiated."""
        if len(inputs) == 1:
            name = ufunc.__name__
            raise FamilyError(f"write jnp.{name}({self.label}.value) (of jax.numpy), not np.{name}({self.label})")
        return getattr(jnp, ufunc.__name__)(*map(_plain, inputs))

    __radd__ = __add__
    __rmul__ = __mul__


def _plain(thing: Any) -> Any:
    return thing.value if isinstance(thing, Field) else thing


class Fields:
    """Several components at one point: `u.h`, `u.v`, or `u["h"]`."""

    def __init__(self, parts: Mapping[str, Field]):
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> Field:
        if name not in self._parts:
            raise FamilyError(f"no component '{name}' of the unknown: allowed are {', '.join(self._parts)}")
        return self._parts[name]

    def __getattr__(self, name: str) -> Field:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[Field]:
        return iter(self._parts.values())


def make_unknown(lookup: Callable[[Channel], Any], components: Sequence[str], names: Sequence[str]) -> Field | Fields:
    """What a law sees as `u`: a Field, or Fields if there are several components."""

    def of_component(i: int) -> Callable[[Derivative], Any]:
        return lambda derivative: lookup((i, derivative))

    parts = {name: Field(of_component(i), tuple(names), name) for i, name in enumerate(components)}
    return Fields(parts) if len(parts) > 1 else next(iter(parts.values()))


def components_of(u: Field | Fields) -> list[Field]:
    return list(u) if isinstance(u, Fields) else [u]


def rows(result: Any) -> jax.Array:
    """What a law returns, a number or a (nested) tuple of numbers, as a flat vector."""
    leaves = jax.tree.leaves(jax.tree.map(_plain, result, is_leaf=lambda x: isinstance(x, Field)))
    if not leaves:
        raise FamilyError("a law returned nothing; it returns a number, or a tuple of numbers")
    return jnp.concatenate([jnp.ravel(jnp.asarray(leaf)) for leaf in leaves])


class Point:
    """One point: its coordinates and its subdomain's coefficients by name."""

    def __init__(self, values: Mapping[str, Any]):
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise FamilyError(f"a point has no '{name}': it has {', '.join(self._values)}") from None
