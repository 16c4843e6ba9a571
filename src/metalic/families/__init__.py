"""What is solved: families of PDEs, their geometry, and their reference solutions."""

from .advection import Advection
from .base import Family
from .boundary import Dirichlet, Neumann, Periodic, Robin
from .burgers import Burgers
from .geometry import Box, Decomposition, split
from .heat import Heat
from .kdv import KdV
from .poisson import Poisson, PoissonUnit
from .reaction import Reaction
from .registry import BUILT_IN, find_family
from .sampling import Points

__all__ = [
    "BUILT_IN",
    "Advection",
    "Box",
    "Burgers",
    "Decomposition",
    "Dirichlet",
    "Family",
    "Heat",
    "KdV",
    "Neumann",
    "Periodic",
    "Points",
    "Poisson",
    "PoissonUnit",
    "Reaction",
    "Robin",
    "find_family",
    "split",
]
