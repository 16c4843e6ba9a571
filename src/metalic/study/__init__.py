"""How plays are run and kept: a study plays, remembers in a ledger (one SQLite file) and recommends.

`Study` is the whole interface; `Ledger` reads a file without it. Names are loaded when first used: a ledger can be
shown or exported without starting JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metalic.study.ledger import Ledger
    from metalic.study.library import Library
    from metalic.study.reading import Reading
    from metalic.study.recommendation import Recommendation
    from metalic.study.rewards import Reward
    from metalic.study.rows import PhaseRow, PlayRow
    from metalic.study.study import Study
    from metalic.study.sweeping import Sweep, prepare, sweep

_HOME = {
    "Ledger": "ledger",
    "Library": "library",
    "PhaseRow": "rows",
    "PlayRow": "rows",
    "Reading": "reading",
    "Recommendation": "recommendation",
    "Reward": "rewards",
    "Study": "study",
    "Sweep": "sweeping",
    "prepare": "sweeping",
    "sweep": "sweeping",
}

__all__ = [
    "Ledger",
    "Library",
    "PhaseRow",
    "PlayRow",
    "Reading",
    "Recommendation",
    "Reward",
    "Study",
    "Sweep",
    "prepare",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
