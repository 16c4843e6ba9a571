"""Contextual bandits with a Gaussian-process reward over sets of conditions; they know nothing of PDEs.

`Single` and `Sequential` are settings, `UCB`, `Thompson`, `Random` and `Greedy` policies: plain values, no JAX.
`Bandit(settings=..., conditions=names, low=..., high=..., phases=...)` says what can be played;
`Bandit.learn(history)` gives a `Learned`, which decides, recommends and explains.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metalic.bandit.history import Played, PlayedPhase
from metalic.bandit.policies import POLICIES, UCB, Greedy, Policy, Random, Thompson, find_policy
from metalic.bandit.settings import Sequential, Settings, Single

if TYPE_CHECKING:
    from metalic.bandit.bandit import Bandit, Effects, Learned, all_arms
    from metalic.bandit.choosers import BanditChooser, GreedyChooser
    from metalic.bandit.kernel import KERNELS, RewardKernel, find_kernel
    from metalic.bandit.regret import regret_curves, regret_figure

_LAZY = {
    **dict.fromkeys(("Bandit", "Effects", "Learned", "all_arms"), "metalic.bandit.bandit"),
    **dict.fromkeys(("BanditChooser", "GreedyChooser"), "metalic.bandit.choosers"),
    **dict.fromkeys(("KERNELS", "RewardKernel", "find_kernel"), "metalic.bandit.kernel"),
    **dict.fromkeys(("regret_curves", "regret_figure"), "metalic.bandit.regret"),
}

__all__ = [
    "KERNELS",
    "POLICIES",
    "UCB",
    "Bandit",
    "BanditChooser",
    "Effects",
    "Greedy",
    "GreedyChooser",
    "Learned",
    "Played",
    "PlayedPhase",
    "Policy",
    "Random",
    "RewardKernel",
    "Sequential",
    "Settings",
    "Single",
    "Thompson",
    "all_arms",
    "find_kernel",
    "find_policy",
    "regret_curves",
    "regret_figure",
]


def __getattr__(name: str) -> Any:
    """Load what stands on JAX when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
