"""The bandits as plain settings, to be kept with a study and read back: two of the paper, and one that plays in pairs.

Single: one set of conditions for the whole training, one reward model, target = the reward at the end. Sequential: a
set for each training phase and a reward model for each; the target of a phase is its own reward plus gamma times the
target of the phase after it (paper, eq. of r_1), and every phase but the first also sees the training loss.
Paired: one set for the whole training, played against a champion; the model learns the difference of their rewards.
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, final

from metalic.bandit.policies import UCB, Policy, TopTwo
from metalic.errors import BanditError
from metalic.validation import integer, real

if TYPE_CHECKING:
    from metalic.bandit.kernel import RewardKernel

LOSS_CONTEXTS = ("log", "raw", "none")
STANDARD, PLAIN = "standard", "plain"
DIFFERENCES = "differences"


@dataclass(frozen=True, kw_only=True)
class Settings(ABC):
    """What both bandits share: the policy, the kernel's name, and how a study begins: the sets `first`, one a play for
    all of its phases, then uniformly random sets up to play number `random_plays`.

    A set in `first` is an index; a study takes names as well, and 'textbook' for the sets that people use. `gp`:
    'standard' standardises the rewards and fits hyperparameters under priors, 'plain' does neither.
    """

    policy: Policy = field(default_factory=UCB)
    kernel: str | type["RewardKernel"] = "lean"
    random_plays: int = 5
    first: Sequence[Any] = ()
    gp: str = STANDARD

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise BanditError(f"policy must be UCB(), Thompson(), Random() or Greedy(), not {self.policy!r}")
        if not isinstance(self.kernel, str | type):
            raise BanditError(f"kernel must be a name such as 'lean' or 'paper', or a class, not {self.kernel!r}")
        if isinstance(self.kernel, str) and ":" in self.kernel:
            from metalic.bandit.kernel import find_kernel  # needs JAX, which plain settings do not need

            object.__setattr__(self, "kernel", find_kernel(self.kernel))
        if integer(self.random_plays) is None:
            raise BanditError(f"random_plays must be a whole number, zero or more, not {self.random_plays!r}")
        object.__setattr__(self, "random_plays", int(self.random_plays))
        if isinstance(self.first, str) or not isinstance(self.first, Sequence):
            raise BanditError(f"first must be a list of sets, such as ['u,c', 'all'], not {self.first!r}")
        object.__setattr__(self, "first", tuple(self.first))
        if self.gp not in (STANDARD, PLAIN):
            raise BanditError(f"gp must be '{STANDARD}' or '{PLAIN}', not {self.gp!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("first", "gp")}
        if self.first:  # ledgers older than these settings do not have them
            values["first"] = list(self.first)
        if self.gp != STANDARD:
            values["gp"] = self.gp
        kernel = self.kernel if isinstance(self.kernel, str) else self.kernel.name
        return {"name": self.name, **values, "kernel": kernel, "policy": self.policy.to_dict()}

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Settings":
        """The settings that `to_dict` wrote."""
        if not isinstance(values, dict):
            raise BanditError(f"a bandit is written as a mapping, not {values!r}")
        options = dict(values)
        name = options.pop("name", None)
        if not isinstance(name, str) or name not in SETTINGS:
            raise BanditError(f"no bandit {name!r}: allowed are {', '.join(SETTINGS)}")
        if ":" in str(options.get("kernel")):  # no code is loaded because a file says so
            raise BanditError(f"no kernel {options['kernel']!r}: pass one of your own")
        if "policy" in options:
            options["policy"] = Policy.from_dict(options["policy"])
        try:
            return SETTINGS[name](**options)
        except TypeError as error:
            raise BanditError(f"bandit {name!r} cannot be made from {options}: {error}") from error


@final
@dataclass(frozen=True, kw_only=True)
class Single(Settings):
    """One set of conditions for the whole training.

    Args:
        policy: `UCB()`, `Thompson()`, `Random()`, `Greedy()`, or one of your own.
        kernel: The kernel of the reward model: 'lean', 'paper', 'additive', or a class of your own.
        random_plays: Sets are random up to this play.
        first: Sets to begin with, one per play, as names or indices; 'textbook' stands for those that people use.
        gp: 'standard' standardises the rewards and fits hyperparameters under priors, 'plain' does neither.

    Raises:
        BanditError: A setting is not allowed.

    Example:
        >>> Single(policy=UCB(2.0), random_plays=3).to_dict()["policy"]
        {'name': 'ucb', 'c': 2.0, 'delta': 0.1}
    """

    name: ClassVar[str] = "single"


@final
@dataclass(frozen=True, kw_only=True)
class Sequential(Settings):
    """A set of conditions for each phase; later sets are chosen with the loss that was reached in view.

    Args:
        policy: `UCB()`, `Thompson()`, `Random()`, `Greedy()`, or one of your own.
        kernel: The kernel of the reward model: 'lean', 'paper', 'additive', or a class of your own.
        random_plays: Sets are random up to this play.
        first: Sets to begin with, one per play, as names or indices; 'textbook' stands for those that people use.
        gp: 'standard' standardises the rewards and fits hyperparameters under priors, 'plain' does neither.
        gamma: The discount of later phases in the reward of a phase.
        loss_context: How a decision sees the loss before it: 'log', 'raw' or 'none'.

    Raises:
        BanditError: A setting is not allowed.

    Example:
        >>> Sequential(first=["textbook", "u,c"]).first
        ('textbook', 'u,c')
    """

    gamma: float = 0.9
    loss_context: str = "log"

    name: ClassVar[str] = "sequential"

    def __post_init__(self) -> None:
        super().__post_init__()
        if real(self.gamma, least=0) is None:
            raise BanditError(f"gamma must be a finite number, zero or more, not {self.gamma!r}")
        if not isinstance(self.loss_context, str) or self.loss_context not in LOSS_CONTEXTS:
            raise BanditError(f"loss_context must be 'log', 'raw' or 'none', not {self.loss_context!r}")


@final
@dataclass(frozen=True, kw_only=True)
class Paired(Settings):
    """One set for the whole training, played in pairs with a champion: same PDE, same seed, same points.

    Args:
        policy: `TopTwo()`, or another policy.
        kernel: Only 'differences'; it has a model of its own.
        random_plays: Challengers are random up to this pair.
        first: Challengers to begin with, one per pair.
        gp: Only 'standard'.
        champion: The champion as a text such as 'u,c' or 'u,c strip=0.1', or the number of an arm; None for the default
            of the family.
        probability: How surely a challenger must beat the champion to be recommended.

    Raises:
        BanditError: A setting is not allowed.

    Example:
        >>> Paired(champion="u,c", probability=0.9).to_dict()["probability"]
        0.9
    """

    policy: Policy = field(default_factory=TopTwo)
    kernel: str | type["RewardKernel"] = DIFFERENCES
    champion: Any = None
    probability: float = 0.95

    name: ClassVar[str] = "paired"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel != DIFFERENCES or self.gp != STANDARD:
            raise BanditError(
                "a paired bandit has its own model of differences: a kernel is for the bandits 'seq' and 'single'"
            )
        if not 0.5 <= (real(self.probability) or 0) < 1:
            raise BanditError(f"probability is a number from 0.5 to below 1, not {self.probability!r}")

    @property
    def champion_number(self) -> int:
        """The number of the champion's arm."""
        if integer(self.champion) is None:
            raise BanditError(f"a champion is the number of an arm, not {self.champion!r}; a study also takes names")
        return int(self.champion)


SETTINGS: dict[str, type[Settings]] = {kind.name: kind for kind in (Single, Sequential, Paired)}
