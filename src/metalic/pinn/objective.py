"""What an optimizer minimizes: a sum of squares L(theta) = |r(theta)|^2 of K vectors of P weights."""

from __future__ import annotations

import abc

import equinox as eqx
from jaxtyping import Array, Float

from .normal_equations import NormalEquations


class Objective(eqx.Module):
    """The interface; a pytree, so that compiled programs take it as an argument.

    First-order methods need `value` and `value_and_gradient`, Gauss-Newton methods all four.
    """

    @abc.abstractmethod
    def value(self, theta: Float[Array, "K P"]) -> Float[Array, ""]:
        """L."""

    @abc.abstractmethod
    def value_and_gradient(self, theta: Float[Array, "K P"]) -> tuple[Float[Array, ""], Float[Array, "K P"]]:
        """L and its gradient."""

    @abc.abstractmethod
    def normal_equations(self, theta: Float[Array, "K P"]) -> NormalEquations:
        """L, J^T r and J^T J."""

    @abc.abstractmethod
    def curvature(self, theta: Float[Array, "K P"], direction: Float[Array, "K P"]) -> Float[Array, "K P"]:
        """J^T r_vv, with r_vv the second derivative of r along a direction v."""
