"""Optimizers behind one small interface."""

from .adam import Adam
from .ahead import Ahead, compiled
from .base import OPTIMIZERS, Optimizer, Progress, Status, advance, restart, start
from .gauss_newton import GaussNewton
from .lbfgs import LBFGS

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "Adam",
    "Ahead",
    "GaussNewton",
    "Optimizer",
    "Progress",
    "Status",
    "advance",
    "compiled",
    "restart",
    "start",
]
