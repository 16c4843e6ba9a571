"""Quantities that are computed from networks: values, derivatives, fluxes, and any law for one point.

A law is a function of the unknown and the point, as a family's residual is. It is evaluated by the network of each
subdomain, and where subdomains meet the average of their answers is taken, unless one side is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..conditions import touched
from ..errors import FamilyError, GeometryError, MetalicError
from ..families.base import Family
from ..families.fields import Channel, Field, Fields, components_of, parse_derivative, rows
from .laws import in_order
from .network import Network
from .quadrature import Quadrature, quadrature
from .trained import Trained, holders, refuse_outside

PointLaw = Callable[..., Any]
AtPoints = Callable[[int, Float[np.ndarray, "n d"]], Any]
FEWEST, MOST = 64, 2**15  # points that are evaluated at once; their number is rounded up, so that programs are few


@dataclass(frozen=True)
class Readout:
    """A quantity that is computed from networks at points; it is called like a solution.

    `at(k, points)` is what network k says at points (n, d) of its subdomain: an array (n, ...), or several of them in
    a mapping or a tuple. With a `subdomain` it is asked alone, and its points must lie in it.
    """

    family: Family
    at: AtPoints
    subdomain: str | None = None

    def __call__(self, points: Any = None, /, **coordinates: Any) -> Any:
        """At points (n, d), or at coordinates by name, which are broadcast."""
        array, shape = read_points(self.family, points, coordinates)
        return jax.tree.map(lambda values: values.reshape((*shape, *values.shape[1:])), self.on(array))

    def on(self, points: Float[np.ndarray, "n d"]) -> Any:
        """Arrays (n, ...) at points (n, d); where subdomains meet, the average."""
        if self.subdomain is not None:
            return self._alone(points)
        inside = holders(self.family, points)
        shares = inside / inside.sum(axis=0)
        found = None
        for k, mine in enumerate(inside):
            if mine.any() or (k == 0 and not len(points)):
                part = jax.tree.map(partial(_spread, mine, shares[k, mine]), self.at(k, points[mine]))
                found = part if found is None else jax.tree.map(np.add, found, part)
        return found

    def _alone(self, points: Float[np.ndarray, "n d"]) -> Any:
        k = subdomain_number(self.family, self.subdomain)
        outside = ~self.family.decomposition.membership(points)[k]
        refuse_outside(self.family, points, outside, f"subdomain '{self.subdomain}'")
        return self.at(k, points)

    def integral(self, over: str | None = None, nodes: int | None = None) -> Any:
        """The integral over the domain, or over a subdomain 'left', a face 'x=0', or an interface 'left|right'."""
        if over is None and self.subdomain is not None:
            over = self.subdomain
        found = self.integral_on(quadrature(self.family, over, nodes))
        return jax.tree.map(lambda total: float(total) if total.ndim == 0 else total, found)

    def integral_on(self, rule: Quadrature) -> Any:
        """The sum of weights times values at the nodes of a rule."""
        return jax.tree.map(lambda values: np.tensordot(rule.weights, values, axes=1), self.on(rule.points))


def _spread(mine: np.ndarray, share: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Shares of values at some points, as an array over all points."""
    found = np.zeros((len(mine), *values.shape[1:]))
    found[mine] = values * share.reshape(-1, *[1] * (values.ndim - 1))
    return found


@dataclass(frozen=True)
class Reader:
    """Computes quantities from the networks of a solution: of all subdomains, or of one."""

    trained: Trained
    subdomain: str | None = None

    def __post_init__(self) -> None:
        if self.subdomain is not None:
            subdomain_number(self.trained.family, self.subdomain)

    def __call__(self, points: Any = None, /, **coordinates: Any) -> np.ndarray:
        """The values at points (n, d), or at coordinates by name."""
        return self._values(points, **coordinates)

    @property
    def _values(self) -> Readout:
        one, single = self.trained, len(self.trained.family.components) == 1

        def at(k: int, points: Float[np.ndarray, "n d"]) -> np.ndarray:
            values = one.network.evaluate(one.theta[k], one.scaled(k, points))
            return values[0] if single else values.T

        return Readout(one.family, at, self.subdomain)

    def d(self, *coordinates: str) -> Readout:
        """A derivative: names run together, "xxt", or one by one."""
        names = self.trained.family.coordinates
        if len(coordinates) == 1 and coordinates[0] not in names:
            index = parse_derivative(coordinates[0], names) if isinstance(coordinates[0], str) else None
            if not index or not sum(index):
                raise FamilyError(f"no derivative '{coordinates[0]}': it is made of the coordinates {', '.join(names)}")
            coordinates = tuple(name for name, order in zip(names, index) for _ in range(order))

        def law(u: Field | Fields, _: Any) -> Any:
            found = [field.d(*coordinates) for field in components_of(u)]
            return found[0] if isinstance(u, Field) else jnp.stack(found)

        return self.read(law)

    def flux(self, points: Any = None, /, **coordinates: Any) -> dict[str, np.ndarray]:
        """The family's flux at points, by coordinate."""
        family = self.trained.family
        if family.flux is None:
            raise FamilyError(f"family '{family.name}' has no flux: define the method flux(u, p, ...)")
        return dict(self.read(lambda u, p, **s: _stacked(family.flux(u, p, **s)))(points, **coordinates))  # type: ignore

    def residual(self, points: Any = None, /, **coordinates: Any) -> Any:
        """The residual of the equation at points; for a system, one per equation on the last axis."""
        return self.read(self._residual)(points, **coordinates)

    def _residual(self, u: Any, p: Any, **parameters: Any) -> Any:
        found = self.trained.family.residual(u, p, **parameters)
        return jnp.stack([_number(one) for one in found]) if isinstance(found, tuple) else found

    def read(self, law: PointLaw) -> Readout:
        """Evaluate a law of the unknown and the point."""
        if not callable(law):
            raise FamilyError(f"a law is a function of the unknown and the point, as in lambda u, p: u.x, not {law!r}")
        return Readout(self.trained.family, _Evaluated(self.trained, law), self.subdomain)

    def integral(self, law: PointLaw | None = None, over: str | None = None, nodes: int | None = None) -> Any:
        """The integral of the solution, or of what a law says."""
        return (self._values if law is None else self.read(law)).integral(over, nodes)

    def flow(self, through: str, nodes: int | None = None) -> Any:
        """The integral of the flux's normal component through a face, outwards, or through an interface."""
        family, one = self.trained.family, self.trained
        rule = quadrature(family, through, nodes)
        if rule.normals is None:
            raise GeometryError(f"a flux goes through a face 'x=0' or an interface 'a|b', not through '{through}'")
        if family.flux is None:
            raise FamilyError(f"family '{family.name}' has no flux: define the method flux(u, p, ...)")
        density = Readout(family, _Evaluated(one, self._all_directions), self.subdomain).on(rule.points)
        across = np.einsum("n...d,nd->n...", density, rule.normals)
        found = np.tensordot(rule.weights, across, axes=1)
        return float(found[0]) if found.shape == (1,) else found

    def _all_directions(self, u: Any, p: Any, **parameters: Any) -> Any:
        """The flux as an array (equations, coordinates), as an interface condition sees it."""
        family = self.trained.family
        found = {name: rows(part) for name, part in family.flux(u, p, **parameters).items()}  # type: ignore[misc]
        nothing = jnp.zeros_like(next(iter(found.values())))
        return jnp.stack([found.get(name, nothing) for name in family.coordinates], axis=-1)


def _number(one: Any) -> Any:
    return one.value if isinstance(one, Field) else one


def _stacked(density: Mapping[str, Any]) -> dict[str, Any]:
    """A system's densities as one array for each coordinate."""
    return {
        name: jnp.stack([_number(one) for one in part]) if isinstance(part, tuple | list) else _number(part)
        for name, part in density.items()
    }


def subdomain_number(family: Family, name: Any) -> int:
    """The number of a subdomain by its name."""
    names = family.decomposition.names
    if name not in names:
        raise GeometryError(f"no subdomain '{name}': those of '{family.name}' are {', '.join(names)}")
    return names.index(name)


def read_points(
    family: Family, points: Any, coordinates: Mapping[str, Any]
) -> tuple[Float[np.ndarray, "n d"], tuple[int, ...]]:
    """Points (n, d) from one array or from coordinates by name, and the shape that answers have."""
    names = family.coordinates
    if points is not None:
        if coordinates:
            raise GeometryError("give points as one array or coordinates by name, not both")
        try:
            array = np.atleast_2d(np.asarray(points, dtype=float))
        except (TypeError, ValueError, OverflowError):
            raise GeometryError(f"points are numbers, of shape (n, {len(names)})") from None
        if array.ndim != 2 or array.shape[-1] != len(names):
            raise GeometryError(f"points have shape (n, {len(names)}) for coordinates {', '.join(names)}")
        return array, (len(array),)
    if set(coordinates) != set(names):
        raise GeometryError(f"coordinates {', '.join(names)} are needed, not {', '.join(coordinates) or 'none'}")
    try:
        grids = np.broadcast_arrays(*(np.asarray(coordinates[name], dtype=float) for name in names))
    except (TypeError, ValueError, OverflowError) as error:
        raise GeometryError(f"coordinates do not fit together: {error}") from None
    return np.stack([grid.ravel() for grid in grids], axis=-1), grids[0].shape


# --- Laws ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Evaluated:
    """A law at points of subdomain k, by its network."""

    trained: Trained
    law: PointLaw

    def __call__(self, k: int, points: Float[np.ndarray, "n d"]) -> Any:
        with jax.enable_x64(True):
            try:
                parts = [self._part(k, part) for part in np.split(points, range(MOST, len(points), MOST))]
            except MetalicError:
                raise
            except Exception as error:
                first = (str(error).strip().splitlines() or [""])[0]
                raise FamilyError(f"the law cannot be evaluated: {type(error).__name__}: {first}") from error
        return jax.tree.map(lambda *arrays: np.concatenate(arrays), *parts)

    def _part(self, k: int, points: Float[np.ndarray, "n d"]) -> Any:
        one, count = self.trained, len(points)
        size = max(FEWEST, 1 << (count - 1).bit_length()) if count else FEWEST
        filled = np.concatenate([points, np.broadcast_to(one.centre[k], (size - count, points.shape[1]))])
        arrays = (one.theta[k], one.scaled(k, filled), one.slope[k])
        values = channels_at(one.network, self.channels, *(jnp.asarray(array, float) for array in arrays))
        coefficients = jnp.asarray(one.family.coefficient_table()[k])

        def at_point(x: Float[Array, "d"], v: Float[Array, "C"]) -> Any:
            return self._result(dict(zip(self.channels, v)).__getitem__, x, coefficients)

        found = jax.vmap(at_point, in_axes=(0, 1))(jnp.asarray(filled), values)
        return jax.tree.map(lambda array: np.asarray(array)[:count], found)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """What the law looks up."""
        family = self.trained.family
        point, coefficients = jnp.full(len(family.coordinates), 0.5), jnp.ones(len(family.coefficients))
        return in_order(touched(lambda look: self._result(look, point, coefficients)))

    def _result(self, look: Callable[[Channel], Any], x: Any, coefficients: Any) -> Any:
        family = self.trained.family
        parameters = {name: jnp.asarray(float(value)) for name, value in self.trained.parameters.items()}
        found = self.law(family.unknown(look), family.point(x, coefficients), **_named(self.law, parameters))
        return jax.tree.map(
            lambda leaf: jnp.asarray(_number(leaf)), found, is_leaf=lambda leaf: isinstance(leaf, Field)
        )


def _named(law: PointLaw, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those parameters that a law names; all of them if it takes any."""
    names = inspect.signature(law).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values()):
        return dict(parameters)
    return {name: value for name, value in parameters.items() if name in names}


@eqx.filter_jit
def channels_at(
    network: Network,
    channels: tuple[Channel, ...],
    theta: Float[Array, "P"],
    x: Float[Array, "d N"],
    slope: Float[Array, "d"],
) -> Float[Array, "C N"]:
    """Values and derivatives of one network at scaled points."""
    return network.channels(theta, x, slope, channels) if channels else jnp.zeros((0, x.shape[1]))
