"""Derivatives: which one a law asks for, and how a network carries it through its layers.

A `Partial` is d^alpha for a multi-index alpha, the orders per coordinate: with coordinates (x, t), u_xxt is
Partial((2, 1)). A `Laplacian` is a sum of pure second derivatives, carried as one array instead of one per axis.

For each derivative D a network carries the *coefficient* D u / D.scale; those of the partial derivatives are the
Taylor coefficients d^alpha u / alpha!. A layer y = f(z) of one variable with slope w = f'(z) obeys d_i y = w d_i z.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

MultiIndex = tuple[int, ...]


@dataclass(frozen=True)
class Derivative(abc.ABC):
    """One derivative; they are ordered by total order, sums last."""

    orders: MultiIndex

    def __lt__(self, other: Derivative) -> bool:
        return self._rank < other._rank

    @property
    def _rank(self) -> tuple[bool, int, MultiIndex]:
        return len(self.terms) > 1, self.order, self.orders

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """The total order."""

    @property
    @abc.abstractmethod
    def scale(self) -> int:
        """The derivative divided by the coefficient that is carried for it."""

    @property
    @abc.abstractmethod
    def terms(self) -> tuple[Partial, ...]:
        """The partial derivatives whose sum it is."""

    @abc.abstractmethod
    def lower(self) -> list[Derivative]:
        """What is carried along with it, itself included."""

    @abc.abstractmethod
    def symbol(self, slopes: Mapping[Derivative, Any]) -> Any:
        """The coefficient of exp(c . x) at 0, with c_i = d_i of `slopes`."""

    @abc.abstractmethod
    def chain(self, z: Mapping[Derivative, Any], slope: Callable[[Partial], Any], bend: Any) -> Any:
        """The coefficient of y = f(z), from those of z and of w = f'(z) (`slope`), and from f''(z) (`bend`)."""

    def first(self, axis: int) -> Partial:
        """The first derivative along an axis."""
        return Partial(tuple(int(i == axis) for i in range(len(self.orders))))


@dataclass(frozen=True)
class Partial(Derivative):
    """d^alpha; `orders` is alpha."""

    @property
    def order(self) -> int:
        return sum(self.orders)

    @property
    def scale(self) -> int:
        return math.prod(math.factorial(order) for order in self.orders)

    @property
    def terms(self) -> tuple[Partial, ...]:
        return (self,)

    def lower(self) -> list[Derivative]:
        return list(self.below())

    def below(self) -> list[Partial]:
        """All b <= alpha, componentwise."""
        return [Partial(orders) for orders in itertools.product(*(range(order + 1) for order in self.orders))]

    def __sub__(self, other: Partial) -> Partial:
        return Partial(tuple(i - j for i, j in zip(self.orders, other.orders)))

    def raised(self, axis: int) -> Partial:
        """The derivative of this one along an axis."""
        return Partial(tuple(order + (i == axis) for i, order in enumerate(self.orders)))

    def symbol(self, slopes: Mapping[Derivative, Any]) -> Any:
        powers = [slopes[self.first(i)] ** order for i, order in enumerate(self.orders) if order]
        return reduce(mul, powers) / self.scale

    def chain(self, z: Mapping[Derivative, Any], slope: Callable[[Partial], Any], bend: Any) -> Any:
        """alpha_i y_alpha = sum_b w_b (alpha_i - b_i) z_(alpha-b) over b <= alpha - e_i, i the axis with fewest b."""
        axis = min((i for i, order in enumerate(self.orders) if order), key=lambda i: self.orders[i])
        own = self.orders[axis]
        return reduce(
            add, [(own - b.orders[axis]) / own * slope(b) * z[self - b] for b in (self - self.first(axis)).below()]
        )


@dataclass(frozen=True)
class Laplacian(Derivative):
    """sum_i d_ii over the axes whose entry of `orders` is 2; the others are 0."""

    order = 2
    scale = 1

    @property
    def axes(self) -> list[int]:
        return [axis for axis, order in enumerate(self.orders) if order]

    @property
    def terms(self) -> tuple[Partial, ...]:
        return tuple(self.first(axis).raised(axis) for axis in self.axes)

    def lower(self) -> list[Derivative]:
        return [self, *(b for axis in self.axes for b in self.first(axis).below())]

    def symbol(self, slopes: Mapping[Derivative, Any]) -> Any:
        return reduce(add, [slopes[self.first(axis)] ** 2 for axis in self.axes])

    def chain(self, z: Mapping[Derivative, Any], slope: Callable[[Partial], Any], bend: Any) -> Any:
        """sum_i d_ii f(z) = f'(z) sum_i d_ii z + f''(z) sum_i (d_i z)^2."""
        zero = Partial((0,) * len(self.orders))
        return slope(zero) * z[self] + bend * self.symbol(z)


def closure(derivatives: Iterable[Derivative]) -> tuple[Derivative, ...]:
    """All that is carried for these derivatives, in order; the value comes first."""
    return tuple(sorted({lower for derivative in derivatives for lower in derivative.lower()}))
