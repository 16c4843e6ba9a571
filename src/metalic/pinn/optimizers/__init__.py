"""Optimizers behind one small interface."""

from .adam import Adam
from .base import OPTIMIZERS, Optimizer, Progress, Status, advance, restart, start
from .gauss_newton import GaussNewton
from .lbfgs import LBFGS

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "Adam",
    "GaussNewton",
    "Optimizer",
    "Progress",
    "Status",
    "advance",
    "restart",
    "start",
]
