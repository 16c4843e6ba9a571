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

if TYPE_CHECKING:  # `as` says that a name is passed on, which strict checkers ask for
    from .bandit import (
        UCB as UCB,
        Greedy as Greedy,
        Paired as Paired,
        Random as Random,
        Sequential as Sequential,
        Single as Single,
        Thompson as Thompson,
        TopTwo as TopTwo,
    )
    from .conditions import Catalogue as Catalogue, Condition as Condition
    from .errors import MetalicError as MetalicError, MetalicWarning as MetalicWarning
    from .families import (
        Dirichlet as Dirichlet,
        Family as Family,
        Neumann as Neumann,
        Periodic as Periodic,
        Robin as Robin,
        find_family as find_family,
    )
    from .families.tabulated import Reference as Reference
    from .geometry import (
        Box as Box,
        Decomposition as Decomposition,
        Points as Points,
        Region as Region,
        Union as Union,
        split as split,
    )
    from .marching import march as march
    from .pinn import (
        LBFGS as LBFGS,
        Adam as Adam,
        Check as Check,
        Continue as Continue,
        GaussNewton as GaussNewton,
        Phase as Phase,
        Schedule as Schedule,
        Solution as Solution,
    )
    from .solving import solve as solve
    from .study import (
        Library as Library,
        Recommendation as Recommendation,
        Study as Study,
        prepare as prepare,
        sweep as sweep,
    )


if not TYPE_CHECKING:  # a type checker must not believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        raise AttributeError(f"module 'metalic' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
