"""Levenberg-Marquardt on a `TorchPeer`'s loss, with `torch.func`.

The loss is a sum of squares |e|^2 of weighted residuals, one per point and term. A residual of the interior or the
boundary depends on one network, one of the interface on two; its row of the Jacobian is taken point by point (`vmap` of
`jacrev`), and the step solves the dense normal equations (J'J + mu I) d = -J'e.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

from .problems import LAMBDA_B, LAMBDA_I, Run
from .torch_laws import PointField, interface_residuals

if TYPE_CHECKING:
    from .torch_peer import TorchPeer

Rows = tuple[Tensor, Tensor]  # residuals (R,) and their Jacobian (R, P)


def _evaluate(network: nn.Module, theta: Tensor, point: Tensor) -> Tensor:
    """The network's value at one point, its parameters taken from one flat vector."""
    shapes = {name: p.shape for name, p in network.named_parameters()}
    parts = theta.split([shape.numel() for shape in shapes.values()])
    parameters = {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
    return functional_call(network, parameters, (point,))[0]


class LevenbergMarquardt:
    """The optimizer's state is the damping mu; the parameters live in the peer."""

    def __init__(self, peer: TorchPeer, damping: float = 1e-2):
        self.peer = peer
        self.damping = damping

    def run(self, iterations: int) -> Run:
        """This many accepted steps, or fewer if no damping helps; evaluations count the losses of the trial steps."""
        start = time.perf_counter()
        thetas = [nn.utils.parameters_to_vector(n.parameters()).detach() for n in self.peer.networks]
        loss, done, evaluations = float(self.peer.loss().detach()), 0, 0
        while done < iterations:
            residuals, jacobian = self._rows(thetas)
            normal, gradient = jacobian.T @ jacobian, jacobian.T @ residuals
            accepted = False
            while not accepted and self.damping < 1e12:
                trial = self._trial(thetas, normal, gradient)
                self._load(trial)
                trial_loss = float(self.peer.loss().detach())
                evaluations += 1
                accepted = trial_loss < loss
                self.damping = max(self.damping / 3, 1e-12) if accepted else self.damping * 4
            if not accepted:
                self._load(thetas)
                break
            thetas, loss, done = trial, trial_loss, done + 1
        return Run(time.perf_counter() - start, done, evaluations)

    def _trial(self, thetas: list[Tensor], normal: Tensor, gradient: Tensor) -> list[Tensor]:
        damped = normal + self.damping * torch.eye(len(normal), dtype=normal.dtype)
        # An indefinite matrix (rounding) gives a factor with NaN: the trial is rejected and the damping grows.
        factor, info = torch.linalg.cholesky_ex(damped)
        if info:
            return [torch.full_like(theta, torch.nan) for theta in thetas]
        step = torch.cholesky_solve(-gradient[:, None], factor)[:, 0]
        return [theta + part for theta, part in zip(thetas, step.split([len(t) for t in thetas]), strict=True)]

    def _load(self, thetas: list[Tensor]) -> None:
        with torch.no_grad():
            for network, theta in zip(self.peer.networks, thetas, strict=True):
                nn.utils.vector_to_parameters(theta, network.parameters())

    def _rows(self, thetas: list[Tensor]) -> Rows:
        blocks = [self._own_rows(k, theta) for k, theta in enumerate(thetas)]
        residuals = [e for e, _ in blocks]
        jacobians = [torch.block_diag(*(j for _, j in blocks))]
        if self.peer.conditions:
            e, j = self._interface_rows(thetas)
            residuals.append(e)
            jacobians.append(j)
        return torch.cat(residuals), torch.cat(jacobians)

    def _own_rows(self, k: int, theta: Tensor) -> Rows:
        """Interior and boundary of one subdomain."""
        peer, network = self.peer, self.peer.networks[k]
        interior, boundary = peer.tensors.collocation[k].detach(), peer.tensors.boundary[k]

        def pde(theta: Tensor, point: Tensor) -> tuple[Tensor, Tensor]:
            r = PointField(lambda z: _evaluate(network, theta, z), point, peer.residual).residual()
            return r, r

        def data(theta: Tensor, point: Tensor) -> tuple[Tensor, Tensor]:
            u = _evaluate(network, theta, point)
            return u, u

        j_r, r = vmap(jacrev(pde, has_aux=True), in_dims=(None, 0))(theta, interior)
        j_b, u = vmap(jacrev(data, has_aux=True), in_dims=(None, 0))(theta, boundary)
        scale_r, scale_b = len(interior) ** -0.5, (LAMBDA_B / len(boundary)) ** 0.5
        return torch.cat([scale_r * r, scale_b * (u - peer.tensors.data[k])]), torch.cat([scale_r * j_r, scale_b * j_b])

    def _interface_rows(self, thetas: list[Tensor]) -> Rows:
        peer, points = self.peer, self.peer.tensors.interface.detach()

        def jumps(theta_a: Tensor, theta_b: Tensor, point: Tensor) -> tuple[Tensor, Tensor]:
            functions = [
                lambda z, n=network, t=theta: _evaluate(n, t, z)
                for network, theta in zip(peer.networks, (theta_a, theta_b), strict=True)
            ]
            a, b = (PointField(function, point, peer.residual) for function in functions)
            e = torch.stack(interface_residuals(a, b, peer.conditions, peer.flux))
            return e, e

        (j_a, j_b), e = vmap(jacrev(jumps, argnums=(0, 1), has_aux=True), in_dims=(None, None, 0))(*thetas, points)
        scale = (2 * LAMBDA_I / len(points)) ** 0.5
        return scale * e.flatten(), scale * torch.cat([j_a, j_b], dim=-1).flatten(0, 1)
