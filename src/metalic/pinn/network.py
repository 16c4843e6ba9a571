"""The network of one subdomain, and its derivatives by propagation of Taylor coefficients.

A network u(x; theta) maps d inputs to m outputs. To get derivatives, every layer carries not one value per unit
but its coefficients (see `families.derivatives`) for a set of derivatives that is closed downwards. For a partial
derivative alpha it is the Taylor coefficient c_alpha = d^alpha u / alpha!:
- a linear layer acts on each coefficient alone (the bias on alpha = 0 only): one matrix product each;
- y = f(z) has d_i y = w d_i z with w = f'(z), hence  alpha_i y_alpha = sum_b w_b (alpha_i - b_i) z_(alpha-b)
  over b <= alpha - e_i, and products of series are convolutions (see `activations`);
- a Laplacian follows the chain rule sum_i d_ii y = w sum_i d_ii z + f''(z) sum_i (d_i z)^2;
- the first layer is linear in x, so that its coefficients are one array for each order, times constants of the unit:
  y_alpha = f^(|alpha|)(z) c^alpha / alpha!, c_i = d_i z. The constants go into the next layer's weights, and all
  coefficients of one order come from one larger matrix product.
Everything is laid out (features, points), so that the long axis is contiguous.

The rows of a Jacobian need no vmapped gradient per point: a residual row touches its own point only, so one backward
pass over all points gives the sensitivities delta of every layer, and the row's entries for a weight matrix are
sum_alpha delta_alpha h_alpha^T, an outer product per point.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ScheduleError
from ..families.derivatives import Derivative, closure
from ..families.fields import Channel
from ..validation import integer
from .activations import ACTIVATIONS, Activation, Series

FEW_ROWS = 4


@jax.custom_vjp
def product(weights: Float[Array, "b a"], h: Float[Array, "a N"]) -> Float[Array, "b N"]:
    """weights @ h, with a backward pass that suits XLA's fast path on CPUs: it takes no transposed first factor, and a
    product with few rows is faster as sums."""
    return weights @ h


def _product_forward(weights: Array, h: Array) -> tuple[Array, tuple[Array, Array]]:
    return weights @ h, (weights, h)


def _product_backward(kept: tuple[Array, Array], slope: Array) -> tuple[Array, Array]:
    weights, h = kept
    by_h = jax.lax.optimization_barrier(weights.T) @ slope
    if len(h) <= FEW_ROWS:
        return jnp.stack([jnp.sum(slope * row, axis=1) for row in h], axis=1), by_h
    return slope @ h.T, by_h


product.defvjp(_product_forward, _product_backward)


def first_series(f: Activation, z: Series, derivatives: tuple[Derivative, ...]) -> Series:
    """The coefficients of f(z) for a z whose second and higher derivatives vanish."""
    zero = derivatives[0]
    parts = f.derivatives(z[zero], max(derivative.order for derivative in derivatives))
    return {zero: parts[0]} | {other: parts[other.order] * other.symbol(z) for other in derivatives[1:]}


def second_layer(f: Activation, weights: Array, z: Series, derivatives: tuple[Derivative, ...]) -> Series:
    """weights @ first_series(f, z), one matrix product for each order."""
    zero = derivatives[0]
    parts = f.derivatives(z[zero], max(derivative.order for derivative in derivatives))
    found = {zero: product(weights, parts[0])}
    for order in range(1, len(parts)):
        members = [derivative for derivative in derivatives if derivative.order == order]
        matrix = jnp.concatenate([weights * member.symbol(z).T for member in members])
        products = jnp.split(product(matrix, parts[order]), len(members))
        found |= dict(zip(members, products))
    return found


def _series(f: Activation, depth: int) -> Callable[..., Series]:
    return partial(first_series, f) if depth == 0 else f.series


@dataclass(frozen=True)
class Network:
    """A network of dense layers; its weights are one flat vector of `size` numbers."""

    inputs: int
    outputs: int
    hidden: tuple[int, ...]
    activation: str = "tanh"

    def __post_init__(self) -> None:
        widths = [integer(width, least=1) for width in self.hidden] if isinstance(self.hidden, tuple) else []
        if not widths or None in widths:
            raise ScheduleError(f"a network has hidden layers of at least one unit, as in (20, 20), not {self.hidden}")
        object.__setattr__(self, "hidden", tuple(widths))
        if not isinstance(self.activation, str) or self.activation not in ACTIVATIONS:
            raise ScheduleError(f"no activation '{self.activation}': allowed are {', '.join(ACTIVATIONS)}")

    @property
    def _f(self) -> Activation:
        return ACTIVATIONS[self.activation]

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        return tuple((b, a) for a, b in itertools.pairwise((self.inputs, *self.hidden, self.outputs)))

    @property
    def size(self) -> int:
        return sum(b * a + b for b, a in self.shapes)

    def init(self, rng: np.random.Generator) -> Float[np.ndarray, "P"]:
        """Glorot normal weights, zero biases."""
        parts = []
        for b, a in self.shapes:
            parts += [rng.normal(size=b * a) * np.sqrt(2 / (a + b)), np.zeros(b)]
        return np.concatenate(parts)

    def evaluate(self, theta: Float[np.ndarray, "P"], x: Float[np.ndarray, "d N"]) -> Float[np.ndarray, "m N"]:
        """The outputs at scaled inputs, in NumPy: any number of points without compiling anything."""
        return self.outputs_at(theta, x, np)

    def outputs_at(self, theta: Any, x: Any, xp: Any = jnp) -> Any:
        """The outputs (m, N) at scaled inputs (d, N), in plain operations of `xp`: in jax.numpy they can be
        differentiated forwards and backwards."""
        *inner, (last, last_bias) = [(xp.asarray(w), xp.asarray(b)) for w, b in self.layers(theta)]
        for weights, bias in inner:
            x = self._f.value(weights @ x + bias, xp)
        return last @ x + last_bias

    def change(
        self, theta: Float[np.ndarray, "P"], direction: Float[np.ndarray, "P"], x: Float[np.ndarray, "d N"]
    ) -> Float[np.ndarray, "m N"]:
        """The derivative of the outputs along a direction of the weights, in NumPy."""
        *inner, last = zip(self.layers(theta), self.layers(direction))
        moved = np.zeros_like(x)
        for (weights, bias), (by_weights, by_bias) in inner:
            z, by_z = weights @ x + bias, weights @ moved + by_weights @ x + by_bias
            x = self._f.value(z, np)
            moved = self._f.slope(z, x, np) * by_z
        (weights, _), (by_weights, by_bias) = last
        return weights @ moved + by_weights @ x + by_bias

    def layers(self, theta: Any) -> list[tuple[Any, Any]]:
        """Weights and biases of each layer, views of the flat vector (NumPy's or JAX's)."""
        found, start = [], 0
        for b, a in self.shapes:
            weights = theta[start : start + b * a].reshape(b, a)
            bias = theta[start + b * a : start + b * a + b, None]
            found.append((weights, bias))
            start += b * a + b
        return found

    def _input(self, x: Float[Array, "d N"], slope: Float[Array, "d"], derivatives: tuple[Derivative, ...]) -> Series:
        """The scaled inputs as series: value x, first derivative along axis i the unit vector times slope_i."""
        series: Series = {derivatives[0]: x}
        for derivative in derivatives:
            if derivative.order == 1:
                axis = derivative.orders.index(1)
                series[derivative] = jnp.zeros((self.inputs, 1), x.dtype).at[axis].set(slope[axis])
        return series

    def _forward(
        self,
        theta: Float[Array, "P"],
        x: Float[Array, "d N"],
        slope: Float[Array, "d"],
        derivatives: tuple[Derivative, ...],
    ) -> tuple[list[Series], list[Series]]:
        """Per layer but the last: its input series h and its pre-activation series z; h of the last layer too."""
        inputs: list[Series] = []
        pre: list[Series] = []
        h = self._input(x, slope, derivatives)
        for depth, (weights, bias) in enumerate(self.layers(theta)[:-1]):
            inputs.append(h)
            if depth == 1:
                z = second_layer(self._f, weights, pre[0], derivatives)
            else:
                z = {of: product(weights, part) for of, part in h.items()}
            z[derivatives[0]] = z[derivatives[0]] + bias
            pre.append(z)
            h = _series(self._f, depth)(z, derivatives)
        return [*inputs, h], pre

    def _output(self, theta: Float[Array, "P"], h: Series, channels: tuple[Channel, ...]) -> Float[Array, "C N"]:
        weights, bias = self.layers(theta)[-1]
        found = []
        for component, derivative in channels:
            value = weights[component] @ h[derivative]
            found.append((value if derivative.order else value + bias[component]) * derivative.scale)
        return jnp.stack(found)

    def channels(
        self,
        theta: Float[Array, "P"],
        x: Float[Array, "d N"],
        slope: Float[Array, "d"],
        channels: tuple[Channel, ...],
    ) -> Float[Array, "C N"]:
        """Values and derivatives of the outputs at N points. `x` is scaled already; `slope` is d(scaled)/d(raw)."""
        derivatives = closure(derivative for _, derivative in channels)
        inputs, _ = self._forward(theta, x, slope, derivatives)
        return self._output(theta, inputs[-1], channels)

    def channels_and_pullback(
        self, theta: Float[Array, "P"], x: Float[Array, "d N"], slope: Float[Array, "d"], channels: tuple[Channel, ...]
    ) -> tuple[Float[Array, "C N"], Callable[[Float[Array, "C N"]], Float[Array, "P N"]]]:
        """The channels, and a function from cotangents (C, N) to Jacobian rows (P, N), one per point."""
        derivatives = closure(derivative for _, derivative in channels)
        inputs, pre = self._forward(theta, x, slope, derivatives)
        layers = self.layers(theta)

        def pullback(cotangents: Float[Array, "C N"]) -> Float[Array, "P N"]:
            delta = self._output_delta(cotangents, channels)
            rows = _outer(delta, inputs[-1], derivatives[0])
            sensitivity = {of: layers[-1][0].T @ part for of, part in delta.items()}
            for depth in reversed(range(len(pre))):
                shape = pre[depth][derivatives[0]].shape
                # The first layer's derivatives are the same at all points; a row belongs to one point alone.
                spread = {of: jnp.broadcast_to(part, shape) for of, part in pre[depth].items()}
                back = jax.vjp(partial(_series(self._f, depth), derivatives=derivatives), spread)[1]
                full = {of: sensitivity.get(of, jnp.zeros(shape, x.dtype)) for of in derivatives}
                (delta,) = back(full)
                rows = _outer(delta, inputs[depth], derivatives[0]) + rows
                if depth:
                    sensitivity = {of: layers[depth][0].T @ part for of, part in delta.items()}
            return jnp.concatenate(rows)

        return self._output(theta, inputs[-1], channels), pullback

    def _output_delta(self, cotangents: Float[Array, "C N"], channels: tuple[Channel, ...]) -> Series:
        """Cotangents of channels -> sensitivities of the output layer's series (outputs, N)."""
        delta: Series = {}
        for row, (component, derivative) in zip(cotangents, channels):
            part = jnp.zeros((self.outputs, 1), row.dtype).at[component].set(derivative.scale) * row
            delta[derivative] = delta[derivative] + part if derivative in delta else part
        return delta


def _outer(delta: Mapping[Derivative, Array], h: Series, zero: Derivative) -> list[Array]:
    """Jacobian rows of one layer: weights (sum over coefficients of outer products), then biases."""
    products = [part[:, None, :] * h[of][None, :, :] for of, part in delta.items() if of in h]
    n = max(part.shape[-1] for part in delta.values())
    weights = sum(products[1:], products[0])
    weights = jnp.broadcast_to(weights, (*weights.shape[:2], n))
    width = weights.shape[0]
    bias = jnp.broadcast_to(delta[zero], (width, n)) if zero in delta else jnp.zeros((width, n), weights.dtype)
    return [weights.reshape(-1, n), bias]
