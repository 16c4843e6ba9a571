"""The functions between the layers of a network, with their derivatives.

A layer y = f(z) carries the coefficients of its units (see `families.derivatives`). d_i y = w d_i z with the slope
w = f'(z) gives the coefficients of y from those of z and of w:
- tanh: w = 1 - y^2 and f'' = -2 y w, so that w_b = -(y^2)_b, a convolution;
- sine: w = cos(z) and f'' = -y, so that w_b follows from those of -y in the same way as y_b from those of w.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, final

import jax.numpy as jnp
from jaxtyping import Array
from numpy.polynomial import Polynomial

from ..families.derivatives import Derivative, Partial

Series = dict[Derivative, Array]  # coefficients, (features, points) each; a missing one is zero
Slope = Callable[[Partial], Array]


class Activation(ABC):
    """A function of one number."""

    @abstractmethod
    def value(self, z: Any, xp: Any) -> Any:
        """f(z), by the functions of `xp`: numpy or jax.numpy."""

    @abstractmethod
    def slope(self, z: Any, y: Any, xp: Any) -> Any:
        """f'(z); y is f(z)."""

    @abstractmethod
    def derivatives(self, z: Array, order: int) -> list[Array]:
        """f and its derivatives up to an order."""

    @abstractmethod
    def slopes(self, z: Series, y: Series) -> tuple[Slope, Array]:
        """The coefficients of f'(z), and f''(z). `y` holds f(z), and later the coefficients that were computed."""

    def series(self, z: Series, derivatives: tuple[Derivative, ...]) -> Series:
        """The coefficients of y = f(z) from those of z."""
        zero = derivatives[0]
        y: Series = {zero: self.value(z[zero], jnp)}
        slope, bend = self.slopes(z, y)
        for derivative in derivatives[1:]:
            y[derivative] = derivative.chain(z, slope, bend)
        return y


@final
class Tanh(Activation):
    def value(self, z: Any, xp: Any) -> Any:
        return xp.tanh(z)

    def slope(self, z: Any, y: Any, xp: Any) -> Any:
        return 1 - y * y

    def derivatives(self, z: Array, order: int) -> list[Array]:
        """The k-th is (1 - y^2) q_k(y), q_(k+1) = (1 - y^2) q_k' - 2 y q_k."""
        y = jnp.tanh(z)
        w, q, found = 1 - y * y, Polynomial([1.0]), [y]
        for _ in range(order):
            terms = [float(a) * y**power for power, a in enumerate(q.coef) if a]
            found.append(w * sum(terms[1:], terms[0]))
            q = Polynomial([1.0, 0.0, -1.0]) * q.deriv() - Polynomial([0.0, 2.0]) * q
        return found

    def slopes(self, z: Series, y: Series) -> tuple[Slope, Array]:
        (zero, value), *_ = y.items()
        w: Series = {zero: self.slope(z[zero], value, jnp)}

        def slope(b: Partial) -> Array:
            """w_b = -(y^2)_b for b != 0, each pair (g, b - g) once."""
            if b not in w:
                pairs = [(g, b - g) for g in b.below() if g.orders <= (b - g).orders]
                w[b] = -reduce(add, [(1 if g == h else 2) * y[g] * y[h] for g, h in pairs])
            return w[b]

        return slope, -2 * value * w[zero]


@final
class Sine(Activation):
    def value(self, z: Any, xp: Any) -> Any:
        return xp.sin(z)

    def slope(self, z: Any, y: Any, xp: Any) -> Any:
        return xp.cos(z)

    def derivatives(self, z: Array, order: int) -> list[Array]:
        y, w = jnp.sin(z), jnp.cos(z)
        return [(y, w, -y, -w)[k % 4] for k in range(order + 1)]

    def slopes(self, z: Series, y: Series) -> tuple[Slope, Array]:
        (zero, value), *_ = y.items()
        w: Series = {zero: self.slope(z[zero], value, jnp)}

        def slope(b: Partial) -> Array:
            if b not in w:
                w[b] = b.chain(z, lambda g: -y[g], None)
            return w[b]

        return slope, -value


ACTIVATIONS: dict[str, Activation] = {"tanh": Tanh(), "sine": Sine()}
