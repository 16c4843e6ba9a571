"""Networks to start a solve from, and how they are made to fit the networks that will be trained.

In this order, the first that is possible:
- *copied*: same decomposition, same shape. Another scaling of the inputs is an affine map, which the first layer takes
  up exactly;
- *widened*: same decomposition and depth, no layer narrower. The units that are new have random incoming weights and
  zero outgoing ones, so that the function is the same and the new units can be trained;
- *projected*: the old solution is evaluated at points of the new subdomains, and networks of the new shape are fitted
  to its values by least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import StartError
from ..families.base import Family
from ..families.derivatives import Partial
from ..geometry.sampling import Points
from .network import Network
from .normal_equations import NormalEquations, Rows
from .objective import Objective
from .optimizers import GaussNewton, advance, start
from .sampler import Sampler
from .solution import Solution
from .trained import Trained

COPIED, WIDENED, PROJECTED = "copied", "widened", "projected"
FIT_POINTS = 1000  # per subdomain
FIT_ITERATIONS = 150
WORST_FIT = 0.1  # of the size of the solution; beyond that a cold start is the better one


@dataclass(frozen=True)
class Start(Trained):
    """Networks to start from. `source` and `kind` say where they come from and how they were made to fit."""

    source: str
    kind: str = COPIED

    @classmethod
    def of(cls, solution: Solution, source: str | None = None) -> Start:
        """The networks of a solution."""
        parts = (solution.theta, solution.hidden, solution.centre, solution.slope)
        where = source or "solution"
        return cls(solution.family, solution.parameters, *parts, source=where, activation=solution.activation)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"source": self.source, "parameters": dict(self.parameters), "kind": self.kind}


@dataclass(frozen=True)
class Target:
    """The networks that will be trained."""

    family: Family
    network: Network
    centre: Float[np.ndarray, "K d"]
    slope: Float[np.ndarray, "K d"]
    seed: int


def fitted(given: Start | Solution | Any, target: Target) -> Start:
    """Weights for the networks of `target` that begin where `given` ended.

    Args:
        given: A start, a solution, or an array of weights of the right shape.
        target: The networks that will be trained.

    Returns:
        A start whose weights have the shape of the target.

    Raises:
        StartError: The start belongs to other equations or another domain, its weights are not finite, or the new
            networks cannot represent it.
    """
    begun = _a_start(given, target)
    _check(begun, target)
    same = begun.family.decomposition == target.family.decomposition and begun.activation == target.network.activation
    if same and begun.hidden == target.network.hidden:
        return _made(begun, target, _rescaled(begun, target), begun.kind)
    if same and _holds(target.network.hidden, begun.hidden):
        return _made(begun, target, _widened(begun, target), WIDENED)
    return _made(begun, target, _projected(begun, target), PROJECTED)


def _a_start(given: Any, target: Target) -> Start:
    if isinstance(given, Start):
        return given
    if isinstance(given, Solution):
        return Start.of(given)
    wanted = (len(target.family.decomposition), target.network.size)
    try:
        theta = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise StartError(f"a start is a solution, its file or an array of weights, not {given!r}") from None
    if theta.shape != wanted:
        raise StartError(f"weights to start from have shape {wanted} here, not {theta.shape}")
    shape: dict[str, Any] = {"hidden": target.network.hidden, "activation": target.network.activation}
    return Start(target.family, {}, theta, centre=target.centre, slope=target.slope, source="weights", **shape)


def _check(begun: Start, target: Target) -> None:
    old, new = begun.family, target.family
    for what, theirs, ours in (
        ("family is", old.name, new.name),
        ("parameters are", list(old.parameters), list(new.parameters)),
        ("components are", list(old.components), list(new.components)),
        ("domain is", old.domain, new.domain),
    ):
        if theirs != ours:
            raise StartError(f"a solve of '{new.name}' cannot start from '{begun.source}': its {what} {theirs}")
    if not np.isfinite(begun.theta).all():
        raise StartError(f"'{begun.source}' cannot be started from: its weights are not finite, so it has diverged")


def _made(begun: Start, target: Target, theta: Float[np.ndarray, "K P"], kind: str) -> Start:
    shape = {"hidden": target.network.hidden, "activation": target.network.activation}
    parts: dict[str, Any] = {**shape, "centre": target.centre, "slope": target.slope}
    return replace(begun, family=target.family, theta=theta, kind=kind, **parts)


def _rescaled(begun: Start, target: Target) -> Float[np.ndarray, "K P"]:
    """The same functions for inputs (x - centre) slope of the target: a change of the first layer alone."""
    found = np.array(begun.theta, dtype=float)
    for k, theta in enumerate(found):
        weights, bias = begun.network.layers(theta)[0]  # views: written in place
        bias += weights @ ((target.centre[k] - begun.centre[k]) * begun.slope[k])[:, None]
        weights *= begun.slope[k] / target.slope[k]
    return found


def _holds(wide: tuple[int, ...], narrow: tuple[int, ...]) -> bool:
    return len(wide) == len(narrow) and all(w >= n for w, n in zip(wide, narrow))


def _widened(begun: Start, target: Target) -> Float[np.ndarray, "K P"]:
    """The old weights in the corner of the new ones; what leads from new units to old ones is zero."""
    rng = np.random.default_rng(np.random.SeedSequence([target.seed, 0]))
    found = np.stack([target.network.init(rng) for _ in begun.theta])
    for old, new in zip(_rescaled(begun, target), found):
        for (small, small_bias), (large, large_bias) in zip(begun.network.layers(old), target.network.layers(new)):
            rows, columns = small.shape
            large[:rows] = 0.0
            large[:rows, :columns] = small
            large_bias[:rows] = small_bias
    return found


# --- Projection ------------------------------------------------------------------------------------------------------


class Fit(Objective):
    """The mean squared distance of networks to given values. Letters: K networks, N points, m components."""

    x: Float[Array, "K d N"]
    values: Float[Array, "K m N"]
    network: Network = eqx.field(static=True)

    @property
    def _channels(self) -> Any:
        zero = Partial((0,) * self.network.inputs)
        return tuple((component, zero) for component in range(self.network.outputs))

    def _rows(self, theta: Float[Array, "K P"]) -> Float[Array, "K m N"]:
        slope = jnp.ones(self.network.inputs, theta.dtype)
        values = jax.vmap(lambda t, x: self.network.channels(t, x, slope, self._channels))(theta, self.x)
        return (values - self.values) / np.sqrt(self.values.size)

    def value(self, theta: Float[Array, "K P"]) -> Float[Array, ""]:
        return jnp.sum(self._rows(theta) ** 2)

    def value_and_gradient(self, theta: Float[Array, "K P"]) -> tuple[Float[Array, ""], Float[Array, "K P"]]:
        return jax.value_and_grad(self.value)(theta)

    def normal_equations(self, theta: Float[Array, "K P"]) -> NormalEquations:
        equations, rows = NormalEquations.empty(theta, ()), self._rows(theta)
        sides = (tuple(range(len(theta))),)
        slope = jnp.ones(self.network.inputs, theta.dtype)
        for component in range(self.network.outputs):
            unit = jnp.zeros_like(rows[0]).at[component].set(1 / np.sqrt(self.values.size))
            pull = lambda t, x, c=unit: self.network.channels_and_pullback(t, x, slope, self._channels)[1](c)  # noqa: E731
            jacobian = jax.vmap(pull)(theta, self.x)
            equations = equations.plus(Rows(rows[:, component], (jacobian,), sides))
        return equations

    def curvature(
        self, theta: Float[Array, "K P"], direction: Float[Array, "K P"], h: float = 0.1
    ) -> Float[Array, "K P"]:
        here, pull = jax.vjp(self._rows, theta)
        second = (self._rows(theta + h * direction) - 2 * here + self._rows(theta - h * direction)) / h**2
        return pull(second)[0]


def _projected(begun: Start, target: Target) -> Float[np.ndarray, "K P"]:
    """Networks of the target fitted to the values of the old ones."""
    rng = np.random.default_rng(np.random.SeedSequence([target.seed, 3]))
    block = Sampler(target.family, Points(FIT_POINTS, 1, 1), "sobol").collocation(rng)
    points = np.asarray(block.x, dtype=float)
    values = np.stack([begun.values(x.T).T for x in points])
    scaled = (points - target.centre[..., None]) * target.slope[..., None]
    theta = jnp.asarray(np.stack([target.network.init(rng) for _ in points]))
    fit = Fit(jnp.asarray(scaled), jnp.asarray(values), target.network)
    optimizer = GaussNewton()
    state, _ = advance(optimizer, fit, start(optimizer, fit, theta), jnp.asarray(FIT_ITERATIONS))
    misfit = float(np.sqrt(state.loss / (np.mean(values**2) + 1e-300)))
    if not misfit <= WORST_FIT:
        raise StartError(
            f"networks {target.network.hidden} cannot represent what is to be started from (they miss {misfit:.0%} of "
            "it): take larger ones, or no start"
        )
    return np.asarray(state.theta, dtype=float)
