"""METALIC: multi-domain physics-informed neural networks that learn their interface conditions.

    import metalic as mt
    solution = mt.solve("poisson", "u,c", s=20)      # one PDE, one set of interface conditions
    solution.error, solution(x=0.3, y=0.8)

Names are imported when first used, so that `import metalic` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    # what is solved
    "Family": "families",
    "Box": "geometry",
    "Region": "geometry",
    "Union": "geometry",
    "Decomposition": "geometry",
    "split": "geometry",
    "Dirichlet": "families",
    "Neumann": "families",
    "Robin": "families",
    "Periodic": "families",
    "Points": "geometry",
    "find_family": "families",
    "Reference": "families.tabulated",
    # how neighbours are stitched
    "Condition": "conditions",
    "Catalogue": "conditions",
    # how one PDE is solved
    "solve": "solving",
    "march": "marching",
    "Solution": "pinn",
    "Check": "pinn",
    "Schedule": "pinn",
    "Phase": "pinn",
    "Continue": "pinn",
    "Adam": "pinn",
    "LBFGS": "pinn",
    "GaussNewton": "pinn",
    # how conditions are chosen
    "Single": "bandit",
    "Sequential": "bandit",
    "Paired": "bandit",
    "TopTwo": "bandit",
    "UCB": "bandit",
    "Thompson": "bandit",
    "Random": "bandit",
    "Greedy": "bandit",
    # how plays are run and kept
    "Study": "study",
    "Library": "study",
    "prepare": "study",
    "sweep": "study",
    "Recommendation": "study",
    # errors
    "MetalicError": "errors",
    "MetalicWarning": "errors",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from .bandit import UCB, Greedy, Paired, Random, Sequential, Single, Thompson, TopTwo
    from .conditions import Catalogue, Condition
    from .errors import MetalicError, MetalicWarning
    from .families import Dirichlet, Family, Neumann, Periodic, Robin, find_family
    from .families.tabulated import Reference
    from .geometry import Box, Decomposition, Points, Region, Union, split
    from .marching import march
    from .pinn import LBFGS, Adam, Check, Continue, GaussNewton, Phase, Schedule, Solution
    from .solving import solve
    from .study import Library, Recommendation, Study, prepare, sweep


if not TYPE_CHECKING:  # a type checker must not believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        raise AttributeError(f"module 'metalic' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
