"""Contextual bandits over sets of conditions and other choices; they know nothing of PDEs.

`Paired`, `Single` and `Sequential` are settings, `TopTwo`, `UCB`, `Thompson`, `Random` and `Greedy` policies: plain
values, no JAX. `Bandit(settings=..., conditions=names, low=..., high=..., phases=...)` says what can be played;
`Bandit.learn(history)` gives a `Knowledge`, which decides, recommends and explains: a `Learned` from rewards, a
`Compared` from pairs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metalic.bandit.history import Pair, Played, PlayedPhase
from metalic.bandit.policies import POLICIES, UCB, Greedy, Policy, Random, Thompson, TopTwo, find_policy
from metalic.bandit.settings import Paired, Sequential, Settings, Single

if TYPE_CHECKING:
    from metalic.bandit.bandit import Bandit, all_arms
    from metalic.bandit.choosers import BanditChooser, GreedyChooser
    from metalic.bandit.compared import Compared
    from metalic.bandit.kernel import KERNELS, RewardKernel, find_kernel
    from metalic.bandit.knowledge import Effects, Knowledge
    from metalic.bandit.learned import Learned
    from metalic.bandit.regret import regret_curves, regret_figure

_LAZY = {
    **dict.fromkeys(("Bandit", "all_arms"), "metalic.bandit.bandit"),
    **dict.fromkeys(("BanditChooser", "GreedyChooser"), "metalic.bandit.choosers"),
    "Compared": "metalic.bandit.compared",
    **dict.fromkeys(("KERNELS", "RewardKernel", "find_kernel"), "metalic.bandit.kernel"),
    **dict.fromkeys(("Effects", "Knowledge"), "metalic.bandit.knowledge"),
    "Learned": "metalic.bandit.learned",
    **dict.fromkeys(("regret_curves", "regret_figure"), "metalic.bandit.regret"),
}

__all__ = [
    "KERNELS",
    "POLICIES",
    "UCB",
    "Bandit",
    "BanditChooser",
    "Compared",
    "Effects",
    "Greedy",
    "GreedyChooser",
    "Knowledge",
    "Learned",
    "Pair",
    "Paired",
    "Played",
    "PlayedPhase",
    "Policy",
    "Random",
    "RewardKernel",
    "Sequential",
    "Settings",
    "Single",
    "Thompson",
    "TopTwo",
    "all_arms",
    "find_kernel",
    "find_policy",
    "regret_curves",
    "regret_figure",
]


def __getattr__(name: str) -> Any:
    """Load what needs JAX at its first use."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
