"""The multi-domain PINN in eager PyTorch.

L = sum_k (lambda_b L_b^k + L_r^k + lambda_I sum_{k' next to k} sum_{n in S} I_n(u_k, u_k')),  every term a mean of
squares. There are two subdomains and every I_n is symmetric, so the sum over ordered pairs is twice one interface.
Inputs are not scaled. Derivatives come from `torch.autograd.grad(..., create_graph=True)`, each computed once and
only if a term of the loss asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .problems import (
    ADAM_RATE,
    CHANGE_TOLERANCE,
    GRADIENT_TOLERANCE,
    HISTORY,
    LAMBDA_B,
    LAMBDA_I,
    LINE_SEARCH_EVALUATIONS,
    Array,
    Points,
    draw_points,
    problem_of,
)

DTYPES = {"float64": torch.float64, "float32": torch.float32}
Law = Callable[["Field"], Tensor]


class LbfgsRun(NamedTuple):
    """What one call of `lbfgs` took."""

    seconds: float
    iterations: int
    evaluations: int


class Field:
    """A network on a batch of points, with its derivatives and the PDE's residual on demand."""

    def __init__(self, network: nn.Module, points: Tensor, residual: Law):
        self.points = points
        self.u = network(points)[:, 0]
        self._residual = residual
        self._cache: dict[str, Tensor] = {}

    def _once(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def _gradient(self, value: Tensor) -> Tensor:
        return torch.autograd.grad(value.sum(), self.points, create_graph=True)[0]

    def first(self, axis: int) -> Tensor:
        return self._once("gradient", lambda: self._gradient(self.u))[:, axis]

    def second(self, axis: int) -> Tensor:
        return self._once(f"second {axis}", lambda: self._gradient(self.first(axis))[:, axis])

    def residual(self) -> Tensor:
        return self._once("residual", lambda: self._residual(self))

    def residual_gradient(self, axis: int) -> Tensor:
        return self._once("residual gradient", lambda: self._gradient(self.residual()))[:, axis]


def poisson_source(points: Tensor, s: float) -> Tensor:
    """f / max f: a product of one bounded bump per coordinate, whose limit for s -> 0 is 1."""
    if s == 0:
        return torch.ones_like(points[..., 0])
    bumps = torch.erf((points - 0.25) * s) - torch.erf((points - 0.75) * s)
    return bumps.prod(-1) / (2 * torch.erf(torch.tensor(s / 4, dtype=points.dtype))) ** 2


def residual_law(family: str, parameter: float) -> Law:
    """r = F[u] - h of a family, from a field's values and derivatives; axis 0 is x, axis 1 is y or t."""
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


def make_network(generator: torch.Generator, dtype: torch.dtype) -> nn.Sequential:
    """Two hidden layers of 20 tanh units, Glorot normal, biases at zero."""
    network = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1)).to(dtype)
    for layer in network[::2]:
        nn.init.xavier_normal_(layer.weight, generator=generator)
        nn.init.zeros_(layer.bias)
    return network


class TorchPeer:
    """One problem, one set of conditions, one seed; `dtype` is "float64" or "float32"."""

    def __init__(self, family: str, parameter: float, conditions: Sequence[str], dtype: str = "float64", seed: int = 0):
        self.problem = problem_of(family)
        unknown = set(conditions) - set(self.problem.conditions)
        if unknown:
            raise ValueError(f"{family} has no condition {sorted(unknown)}: choose among {self.problem.conditions}")
        if dtype not in DTYPES:
            raise ValueError(f"no dtype {dtype!r}: choose one of {', '.join(DTYPES)}")
        self.parameter = float(parameter)
        self.conditions = tuple(conditions)
        self.dtype = DTYPES[dtype]
        self._residual = residual_law(family, self.parameter)
        self._flux = flux_law(family, self.parameter)
        generator = torch.Generator().manual_seed(seed)
        self.networks = nn.ModuleList(make_network(generator, self.dtype) for _ in self.problem.subdomains)
        self._parameters = list(self.networks.parameters())
        self._adam = torch.optim.Adam(self._parameters, lr=ADAM_RATE)
        self.points = draw_points(self.problem, seed)

    @property
    def points(self) -> Points:
        """The training points. Assign a new dictionary to replace them; the boundary's data follows."""
        return self._points

    @points.setter
    def points(self, points: Points) -> None:
        count = len(self.problem.subdomains)
        if len(points["collocation"]) != count or len(points["boundary"]) != count:
            raise ValueError(f"'collocation' and 'boundary' need one array for each of the {count} subdomains")
        self._points = points
        self._collocation = [self._tensor(p).requires_grad_() for p in points["collocation"]]
        self._boundary = [self._tensor(p) for p in points["boundary"]]
        self._data = [
            self._tensor(self.problem.boundary_value(np.asarray(p), self.parameter)) for p in points["boundary"]
        ]
        self._interface = self._tensor(points["interface"]).requires_grad_()

    def _tensor(self, values: Array) -> Tensor:
        return torch.tensor(np.asarray(values), dtype=self.dtype)

    def weights(self) -> list[list[Array]]:
        """Per subdomain the arrays of its layers: weight (out, in), bias (out,), weight, ..."""
        return [[p.detach().numpy().copy() for p in network.parameters()] for network in self.networks]

    def set_weights(self, weights: Sequence[Sequence[Array]]) -> None:
        """Load arrays in the order and the shapes of `weights()`; a matrix is (out, in)."""
        expected = [[tuple(p.shape) for p in network.parameters()] for network in self.networks]
        given = [[np.shape(array) for array in arrays] for arrays in weights]
        if given != expected:
            raise ValueError(f"weights have shapes {given}, expected {expected}")
        with torch.no_grad():
            for network, arrays in zip(self.networks, weights, strict=True):
                for parameter, array in zip(network.parameters(), arrays, strict=True):
                    parameter.copy_(self._tensor(array))

    def predict(self, subdomain: int, points: Array) -> Array:
        """The values of one subdomain's network."""
        with torch.no_grad():
            return self.networks[subdomain](self._tensor(points))[:, 0].numpy()

    def loss(self) -> Tensor:
        """The loss on the current points, still attached to its graph."""
        total = torch.zeros((), dtype=self.dtype)
        for network, interior, boundary, data in zip(
            self.networks, self._collocation, self._boundary, self._data, strict=True
        ):
            total = total + LAMBDA_B * ((network(boundary)[:, 0] - data) ** 2).mean()
            total = total + (Field(network, interior, self._residual).residual() ** 2).mean()
        if self.conditions:
            a, b = (Field(network, self._interface, self._residual) for network in self.networks)
            for residual in interface_residuals(a, b, self.conditions, self._flux):
                total = total + 2 * LAMBDA_I * (residual**2).mean()
        return total

    def _backward(self) -> Tensor:
        """The loss, with its gradient left in the parameters."""
        self.networks.zero_grad()
        loss = self.loss()
        # The points need gradients for the PDE, not for the optimizer.
        loss.backward(inputs=self._parameters)
        return loss

    def adam(self, steps: int) -> float:
        """Full-batch Adam for so many steps, carrying on from the last call; seconds."""
        start = time.perf_counter()
        for _ in range(steps):
            self._backward()
            self._adam.step()
        return time.perf_counter() - start

    def lbfgs(self, iterations: int) -> LbfgsRun:
        """L-BFGS with a strong Wolfe line search; it may stop early at its tolerances."""
        optimizer = torch.optim.LBFGS(
            self._parameters,
            max_iter=iterations,
            max_eval=LINE_SEARCH_EVALUATIONS * iterations,
            tolerance_grad=GRADIENT_TOLERANCE,
            tolerance_change=CHANGE_TOLERANCE,
            history_size=HISTORY,
            line_search_fn="strong_wolfe",
        )
        start = time.perf_counter()
        optimizer.step(self._backward)
        seconds = time.perf_counter() - start
        state = optimizer.state[self._parameters[0]]
        return LbfgsRun(seconds, state["n_iter"], state["func_evals"])
