"""The laws of the loss in PyTorch: every family's residual and flux, and the interface conditions.

They ask a field for its value u, its derivatives and its residual. `BatchField` answers for a batch of points, which is
what the losses need; `PointField` for a single point, which is what a Jacobian row needs. Each derivative is computed
once, and only if a law asks for it. Axis 0 is x, axis 1 is y or t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import grad

Law = Callable[["Field"], Tensor]


class Field(ABC):
    """A network's value and derivatives at its points, on demand."""

    points: Tensor
    u: Tensor

    def __init__(self, residual: Law):
        self._residual = residual
        self._cache: dict[str, Tensor] = {}

    def _once(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def first(self, axis: int) -> Tensor:
        return self._once("gradient", self._gradient)[..., axis]

    def second(self, axis: int) -> Tensor:
        return self._once(f"second {axis}", lambda: self._second(axis))

    def residual(self) -> Tensor:
        return self._once("residual", lambda: self._residual(self))

    def residual_gradient(self, axis: int) -> Tensor:
        return self._once("residual gradient", self._residual_gradient)[..., axis]

    @abstractmethod
    def _gradient(self) -> Tensor: ...

    @abstractmethod
    def _second(self, axis: int) -> Tensor: ...

    @abstractmethod
    def _residual_gradient(self) -> Tensor: ...


class BatchField(Field):
    """A network on points (N, 2) that require gradients; derivatives by `torch.autograd.grad`."""

    def __init__(self, network: nn.Module, points: Tensor, residual: Law):
        super().__init__(residual)
        self.points = points
        self.u = network(points)[:, 0]

    def _differentiate(self, values: Tensor) -> Tensor:
        return torch.autograd.grad(values.sum(), self.points, create_graph=True)[0]

    def _gradient(self) -> Tensor:
        return self._differentiate(self.u)

    def _second(self, axis: int) -> Tensor:
        return self._differentiate(self.first(axis))[:, axis]

    def _residual_gradient(self) -> Tensor:
        return self._differentiate(self.residual())


class PointField(Field):
    """A function of one point (2,); derivatives by `torch.func.grad`, so that it can be mapped and differentiated."""

    def __init__(self, function: Callable[[Tensor], Tensor], point: Tensor, residual: Law):
        super().__init__(residual)
        self.points = point
        self.u = function(point)
        self._function = function

    def _gradient(self) -> Tensor:
        return grad(self._function)(self.points)

    def _second(self, axis: int) -> Tensor:
        return grad(lambda z: grad(self._function)(z)[axis])(self.points)[axis]

    def _residual_gradient(self) -> Tensor:
        return grad(lambda z: PointField(self._function, z, self._residual).residual())(self.points)


def poisson_source(points: Tensor, s: float) -> Tensor:
    """f / max f: a product of one bounded bump per coordinate, whose limit for s -> 0 is 1."""
    if s == 0:
        return torch.ones_like(points[..., 0])
    bumps = torch.erf((points - 0.25) * s) - torch.erf((points - 0.75) * s)
    return bumps.prod(-1) / (2 * torch.erf(torch.tensor(s / 4, dtype=points.dtype))) ** 2


def residual_law(family: str, parameter: float) -> Law:
    """r = F[u] - h of a family, from a field's values and derivatives."""
    laws: dict[str, Law] = {
        "poisson": lambda f: f.second(0) + f.second(1) - poisson_source(f.points, parameter),
        "advection": lambda f: f.first(1) + parameter * f.first(0),
        "reaction": lambda f: f.first(1) - parameter * f.u * (1 - f.u),
        "burgers": lambda f: f.first(1) + f.u * f.first(0) - parameter * f.second(0),
    }
    return laws[family]


def flux_law(family: str, parameter: float) -> Law:
    """The flux through the interface, for the two families whose flux is not u itself."""
    if family == "burgers":
        return lambda f: f.u**2 / 2 - parameter * f.first(0)
    return lambda f: f.first(1)


def interface_residuals(a: Field, b: Field, conditions: Sequence[str], flux: Law) -> list[Tensor]:
    """The residuals of every chosen condition on the interface, seen from side a."""
    laws: dict[str, Callable[[], list[Tensor]]] = {
        "u": lambda: [a.u - b.u],
        "uavg": lambda: [a.u - (a.u + b.u) / 2],
        "r": lambda: [a.residual(), b.residual()],
        "rc": lambda: [a.residual() - b.residual()],
        "gr": lambda: [side.residual_gradient(axis) for side in (a, b) for axis in (0, 1)],
        "c": lambda: [flux(a) - flux(b)],
        "x": lambda: [a.first(0) - b.first(0)],
        "t": lambda: [a.first(1) - b.first(1)],
        "xx": lambda: [a.second(0) - b.second(0)],
        "yy": lambda: [a.second(1) - b.second(1)],
        "tt": lambda: [a.second(1) - b.second(1)],
    }
    return [residual for name in conditions for residual in laws[name]()]
