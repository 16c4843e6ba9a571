"""What is solved: families of PDEs, their boundary conditions, and their reference solutions."""

from .advection import Advection
from .base import Family
from .boundary import Dirichlet, Neumann, Periodic, Robin
from .burgers import Burgers
from .heat import Heat
from .kdv import KdV
from .poisson import Poisson, PoissonUnit
from .reaction import Reaction
from .registry import BUILT_IN, find_family

__all__ = [
    "BUILT_IN",
    "Advection",
    "Burgers",
    "Dirichlet",
    "Family",
    "Heat",
    "KdV",
    "Neumann",
    "Periodic",
    "Poisson",
    "PoissonUnit",
    "Reaction",
    "Robin",
    "find_family",
]
