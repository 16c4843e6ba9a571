"""DeepXDE with its PyTorch backend, on the undivided problem of the same size.

One network of two hidden layers of 20 tanh units, 2000 collocation points, 200 points with data of weight 20: the
union of the points of the subdomains. They are given as `anchors` and as a `PointSetBC`, which is the smallest batch
DeepXDE can be asked for: with `num_domain` and `num_boundary` the boundary points would be collocation points too.
DeepXDE keeps its precision in a global setting, so every call sets it again.
"""

from __future__ import annotations

import contextlib
import io
import os
import time

import numpy as np
import torch

from .problems import (
    ADAM_RATE,
    CHANGE_TOLERANCE,
    HISTORY,
    LAMBDA_B,
    LINE_SEARCH_EVALUATIONS,
    Array,
    Run,
    draw_points,
    problem_of,
)
from .torch_laws import poisson_source

os.environ.setdefault("DDE_BACKEND", "pytorch")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import deepxde as dde


def _first(x, u, axis: int):
    return dde.grad.jacobian(u, x, i=0, j=axis)


def _second(x, u, axis: int):
    return dde.grad.hessian(u, x, i=axis, j=axis)


def equation(family: str, parameter: float):
    """The PDE's residual in DeepXDE's form, a function of inputs x (N, 2) and outputs u (N, 1)."""
    laws = {
        "poisson": lambda x, u: _second(x, u, 0) + _second(x, u, 1) - poisson_source(x, parameter)[:, None],
        "advection": lambda x, u: _first(x, u, 1) + parameter * _first(x, u, 0),
        "reaction": lambda x, u: _first(x, u, 1) - parameter * u * (1 - u),
        "burgers": lambda x, u: _first(x, u, 1) + u * _first(x, u, 0) - parameter * _second(x, u, 0),
    }
    return laws[family]


class DeepXDEPeer:
    """One problem on its whole domain, one seed; `dtype` is "float64" or "float32"."""

    def __init__(self, family: str, parameter: float, dtype: str = "float64", seed: int = 0):
        problem = problem_of(family)
        points = draw_points(problem, seed)
        boundary = np.concatenate(points["boundary"])
        self.dtype = dtype
        with self._settings():
            dde.config.set_random_seed(seed)
            data = dde.data.PDE(
                dde.geometry.Rectangle(*map(list, problem.bounds)),
                equation(family, float(parameter)),
                dde.icbc.PointSetBC(boundary, problem.boundary_value(boundary, parameter)[:, None]),
                anchors=np.concatenate(points["collocation"]),
            )
            self.model = dde.Model(data, dde.nn.FNN([2, 20, 20, 1], "tanh", "Glorot normal"))

    @contextlib.contextmanager
    def _settings(self):
        """DeepXDE's global precision, and silence; torch's own default precision is put back afterwards."""
        default = torch.get_default_dtype()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                dde.config.set_default_float(self.dtype)
                yield
        finally:
            torch.set_default_dtype(default)

    def loss(self) -> float:
        """The weighted loss after the last step of training."""
        return float(np.sum(self.model.train_state.loss_train))

    def predict(self, points: Array) -> Array:
        with self._settings():
            return self.model.predict(np.asarray(points, dtype=self.dtype))[:, 0]

    def adam(self, steps: int) -> float:
        """Full-batch Adam for this many steps; seconds."""
        with self._settings():
            if self.model.opt_name != "adam":
                self.model.compile("adam", lr=ADAM_RATE, loss_weights=[1, LAMBDA_B])
            return self._train(iterations=steps, display_every=steps)

    def lbfgs(self, iterations: int) -> Run:
        """L-BFGS with a strong Wolfe line search; it may stop early at its tolerances."""
        with self._settings():
            # No gradient tolerance: DeepXDE 1.15 calls the optimizer for ever once it is met.
            dde.optimizers.set_LBFGS_options(maxcor=HISTORY, ftol=CHANGE_TOLERANCE, gtol=0, maxiter=iterations)
            # `set_LBFGS_options` leaves the size of one call of torch's optimizer at its default of 1000 iterations.
            dde.optimizers.LBFGS_options["iter_per_step"] = iterations
            dde.optimizers.LBFGS_options["fun_per_step"] = LINE_SEARCH_EVALUATIONS * iterations
            self.model.compile("L-BFGS", loss_weights=[1, LAMBDA_B])
            seconds = self._train(display_every=iterations)
        state = self.model.opt.state_dict()["state"][0]
        return Run(seconds, state["n_iter"], state["func_evals"])

    def _train(self, **options) -> float:
        start = time.perf_counter()
        self.model.train(verbose=0, **options)
        return time.perf_counter() - start
