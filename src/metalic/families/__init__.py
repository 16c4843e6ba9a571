"""What is solved: families of PDEs, their boundary conditions, and their reference solutions."""

from .advection import Advection
from .base import Family
from .boundary import Dirichlet, Neumann, Periodic, Robin
from .burgers import Burgers
from .heat import Heat
from .kdv import KdV
from .layer import Layer
from .materials import Materials
from .oscillator import Oscillator
from .poisson import Poisson, PoissonUnit
from .reaction import Reaction
from .registry import BUILT_IN, find_family
from .turning import Turning

__all__ = [
    "BUILT_IN",
    "Advection",
    "Burgers",
    "Dirichlet",
    "Family",
    "Heat",
    "KdV",
    "Layer",
    "Materials",
    "Neumann",
    "Oscillator",
    "Periodic",
    "Poisson",
    "PoissonUnit",
    "Reaction",
    "Robin",
    "Turning",
    "find_family",
]
