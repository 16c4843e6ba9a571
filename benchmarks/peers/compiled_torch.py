"""The same peer with its loss and gradient compiled by `torch.compile`.

Compiling only the loss fails in the default setting ("torch.compile with aot_autograd does not currently support
double backward"). It works when the inner `torch.autograd.grad` calls are traced too, and the outer gradient with
them, as one graph. A C++ compiler is needed, and the first step takes one to three minutes.
"""

from __future__ import annotations

import torch
import torch._dynamo
from torch import Tensor

from .torch_peer import TorchPeer


class CompiledTorchPeer(TorchPeer):
    """A `TorchPeer` whose loss and gradient are one compiled graph; `loss()` itself stays eager."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._compiled = torch.compile(self._loss_and_gradient, fullgraph=True)

    def _loss_and_gradient(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        loss = self.loss()
        return loss.detach(), torch.autograd.grad(loss, self._parameters)

    def _backward(self) -> Tensor:
        with torch._dynamo.config.patch(trace_autograd_ops=True):
            loss, gradients = self._compiled()
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        return loss
