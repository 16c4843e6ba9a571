"""How one PDE is solved: networks, loss, optimizers, schedules."""

from .check import Check
from .optimizers import LBFGS, Adam, GaussNewton
from .schedule import SCHEDULES, Continue, Phase, Schedule, find_schedule
from .solution import Solution
from .solver import Report, train

__all__ = [
    "LBFGS",
    "SCHEDULES",
    "Adam",
    "Check",
    "Continue",
    "GaussNewton",
    "Phase",
    "Report",
    "Schedule",
    "Solution",
    "find_schedule",
    "train",
]
