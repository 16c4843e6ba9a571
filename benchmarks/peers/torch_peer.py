"""The multi-domain PINN in eager PyTorch.

L = sum_k (lambda_b L_b^k + L_r^k + lambda_I sum_{k' next to k} sum_{n in S} I_n(u_k, u_k')),  every term a mean of
squares. There are two subdomains and every I_n is symmetric, so the sum over ordered pairs is twice one interface.
Inputs are not scaled. Derivatives come from `torch.autograd.grad(..., create_graph=True)`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .levenberg import LevenbergMarquardt
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
    Run,
    draw_points,
    problem_of,
)
from .torch_laws import BatchField, flux_law, interface_residuals, residual_law

DTYPES = {"float64": torch.float64, "float32": torch.float32}


class Tensors(NamedTuple):
    """The training points in the peer's precision; the first and the last require gradients."""

    collocation: list[Tensor]
    boundary: list[Tensor]
    data: list[Tensor]
    interface: Tensor


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
        self.residual = residual_law(family, self.parameter)
        self.flux = flux_law(family, self.parameter)
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
        self.tensors = Tensors(
            collocation=[self._tensor(p).requires_grad_() for p in points["collocation"]],
            boundary=[self._tensor(p) for p in points["boundary"]],
            data=[self._tensor(self.problem.boundary_value(p, self.parameter)) for p in points["boundary"]],
            interface=self._tensor(points["interface"]).requires_grad_(),
        )

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
        collocation, boundaries, values, interface = self.tensors
        for network, interior, boundary, data in zip(self.networks, collocation, boundaries, values, strict=True):
            total = total + LAMBDA_B * ((network(boundary)[:, 0] - data) ** 2).mean()
            total = total + (BatchField(network, interior, self.residual).residual() ** 2).mean()
        if self.conditions:
            a, b = (BatchField(network, interface, self.residual) for network in self.networks)
            for residual in interface_residuals(a, b, self.conditions, self.flux):
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
        """Full-batch Adam for this many steps, carrying on from the last call; seconds."""
        start = time.perf_counter()
        for _ in range(steps):
            self._backward()
            self._adam.step()
        return time.perf_counter() - start

    def lbfgs(self, iterations: int) -> Run:
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
        return Run(seconds, state["n_iter"], state["func_evals"])

    def gauss_newton(self, iterations: int) -> Run:
        """Levenberg-Marquardt with a dense solve; its damping starts afresh in every call."""
        return LevenbergMarquardt(self).run(iterations)
