"""Policies: from what is believed of every arm to the arm that is played.

A belief is a Gaussian over the rewards of all arms in one context, mean mu and deviation sigma. A policy gives each
arm a score, and the arm of the largest score is played; arms whose scores agree up to rounding are drawn from at
random. UCB: mu + sqrt(c_t) sigma, with a constant c (the paper's experiments: 1) or the theorem's c_t = 2 log(2^s
pi^2 t^2 / (6 delta)), under which the regret is sub-linear with probability 1 - delta. Thompson: a draw from the
belief, each arm on its own as the paper's algorithm prints it, or all arms jointly, which is what the paper's proof
speaks of. Top-two Thompson also plays the arm that is best in another draw. Greedy: mu, to recommend. While plays are
in flight UCB lets them lower sigma (GP-BUCB), so that a batch spreads; Thompson's draws spread by themselves. All
randomness comes from the generator passed in.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

from metalic.errors import BanditError
from metalic.registry import Registry
from metalic.validation import real

TIE = 1e-9  # scores closer than this share of the largest deviation are equal
JOINT = "joint"
LARGEST_JOINT = 2048  # arms whose joint covariance is still drawn from
DRAWS = 50  # tries to find a draw with another best arm

Vector = Float[np.ndarray, "m"]


@dataclass(frozen=True, eq=False)
class Belief:
    """The Gaussian posterior over all m arms in one context; the covariance is computed only if a policy asks."""

    mean: Vector
    std: Vector
    covariance: Callable[[], Float[np.ndarray, "m m"]]
    joint: Callable[[np.random.Generator], Vector] | None = None

    @classmethod
    def blank(cls, arms: int) -> Self:
        """An empty belief, for policies that use no model."""
        zeros = np.zeros(arms)
        return cls(zeros, zeros, lambda: np.zeros((arms, arms)))

    def draw(self, rng: np.random.Generator) -> Vector:
        """One draw of all arms: jointly, unless that would take too long."""
        if self.joint is not None:
            return self.joint(rng)
        normal = rng.standard_normal(len(self.mean))
        if len(self.mean) > LARGEST_JOINT:
            return self.mean + self.std * normal
        values, vectors = eigh(self.covariance(), driver="evd")
        return self.mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * normal)


class Policy(ABC):
    """A rule that scores arms; final subclasses are frozen dataclasses of plain values."""

    name: ClassVar[str]
    needs_model: ClassVar[bool] = True  # False: the scores do not look at the belief
    counts_pending: ClassVar[bool] = False  # True: plays in flight lower the deviation that it sees

    @abstractmethod
    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        """A score per arm for play number 1, 2, ...; the largest is played."""

    def choose(self, belief: Belief, play: int, rng: np.random.Generator) -> int:
        """The index of the arm to play; ties are broken at random."""
        scores = self.scores(belief, play, rng)
        best = np.flatnonzero(scores >= scores.max() - TIE * belief.std.max())
        return int(rng.choice(best))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Policy":
        """The policy that `to_dict` wrote."""
        if not isinstance(values, dict):
            raise BanditError(f"a policy is written as a mapping, not {values!r}")
        options = dict(values)
        kind = POLICIES.named(options.pop("name", None), " One of your own must be passed")
        try:
            return kind(**options)
        except TypeError as error:
            raise BanditError(f"policy '{kind.name}' cannot be made from {options}: {error}") from error

    @classmethod
    def with_option(cls, option: str) -> "Policy":
        """The policy of a text such as 'ucb:2', from the text after the colon; nothing unless a class allows it."""
        if option:
            raise BanditError(f"policy '{cls.name}' takes no option, not '{option}'")
        return POLICIES.make(cls)


@final
@dataclass(frozen=True)
class UCB(Policy):
    """Upper confidence bound: the set with the largest mean + sqrt(c) deviation.

    Args:
        c: A constant, or 'theorem' for the factor that grows as in the paper's theorem.
        delta: The probability that the theorem's bound fails; not used with a constant.

    Raises:
        BanditError: A number is not allowed.

    Example:
        >>> UCB("theorem").coefficient(play=1, arms=512) > UCB(4.0).coefficient(play=1, arms=512)
        True
    """

    c: float | str = 1.0
    delta: float = 0.1

    name: ClassVar[str] = "ucb"
    counts_pending: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.c, str):
            if self.c != "theorem":
                raise BanditError(f"UCB's c is a number or 'theorem', not {self.c!r}")
        elif real(self.c, least=0) is None:
            raise BanditError(f"UCB's c must be a finite number, zero or more, not {self.c!r}")
        if not 0 < (real(self.delta) or 0) < 1:
            raise BanditError(f"UCB's delta is a probability between 0 and 1, not {self.delta!r}")

    @classmethod
    def with_option(cls, option: str) -> "UCB":
        """Its c."""
        try:
            return cls(float(option)) if option else cls()
        except ValueError:
            return cls(option)

    def coefficient(self, play: int, arms: int) -> float:
        """c_t for play t and `arms` = 2^s arms."""
        if self.c == "theorem":
            return float(2 * np.log(arms * np.pi**2 * play**2 / (6 * self.delta)))
        return float(self.c)

    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        return belief.mean + np.sqrt(self.coefficient(play, len(belief.mean))) * belief.std


@final
@dataclass(frozen=True)
class Thompson(Policy):
    """Thompson sampling: the set with the largest draw from what is believed.

    Args:
        joint: One draw of the whole reward function instead of a draw for each set.

    Example:
        >>> Thompson(joint=True)
        Thompson(joint=True)
    """

    joint: bool = False

    name: ClassVar[str] = "thompson"

    @classmethod
    def with_option(cls, option: str) -> "Thompson":
        if option not in ("", JOINT):
            raise BanditError(f"policy '{cls.name}' takes no option but '{JOINT}', not '{option}'")
        return cls(joint=option == JOINT)

    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        m = len(belief.mean)
        normal = rng.standard_normal(m)
        if not self.joint:
            return belief.mean + belief.std * normal
        if m > LARGEST_JOINT:
            raise BanditError(
                f"joint Thompson sampling takes at most {LARGEST_JOINT} arms (11 conditions), not {m}; use joint=False"
            )
        values, vectors = eigh(belief.covariance(), driver="evd")
        return belief.mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * normal)


@final
@dataclass(frozen=True)
class Random(Policy):
    """Every set with the same probability: the baseline of a study.

    Example:
        >>> Random().needs_model
        False
    """

    name: ClassVar[str] = "random"
    needs_model: ClassVar[bool] = False

    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        return np.zeros_like(belief.mean)


@final
@dataclass(frozen=True)
class Greedy(Policy):
    """The set with the largest posterior mean: no exploration.

    Example:
        >>> belief = Belief(np.array([0.1, 0.7]), np.array([1.0, 0.1]), lambda: np.eye(2))
        >>> Greedy().choose(belief, play=1, rng=np.random.default_rng(0))
        1
    """

    name: ClassVar[str] = "greedy"

    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        return belief.mean


@final
@dataclass(frozen=True)
class TopTwo(Policy):
    """Top-two Thompson sampling, for recommending.

    The best arm of a joint draw is played, or, with probability 1 - `share`, the best of another draw in which a
    different arm is best, so that what could still beat the leader is played too.

    Args:
        share: How often the leader is played.

    Raises:
        BanditError: `share` is not a number above 0 and at most 1.

    Example:
        >>> TopTwo(share=0.5).to_dict()
        {'name': 'top-two', 'share': 0.5}
    """

    share: float = 0.5

    name: ClassVar[str] = "top-two"

    def __post_init__(self) -> None:
        share = real(self.share)
        if share is None or not 0 < share <= 1:
            raise BanditError(f"the share of the leader is a number above 0 and at most 1, not {self.share!r}")

    def scores(self, belief: Belief, play: int, rng: np.random.Generator) -> Vector:
        found = belief.draw(rng)
        leader = int(np.argmax(found))
        if rng.random() >= self.share:
            for _ in range(DRAWS):
                found = belief.draw(rng)
                if int(np.argmax(found)) != leader:
                    break
        return found


POLICIES: Registry[type[Policy]] = Registry("policy", Policy, __name__, BanditError)
SHORT = {"ts": Thompson.name}


def find_policy(text: str) -> Policy:
    """A policy as one writes it on a command line: 'ucb', 'ucb:2' and 'ucb:theorem' (its c), 'ts', 'ts:joint',
    'top-two', 'random', 'greedy', or 'file.py:Name' for one of your own."""
    name, colon, option = text.partition(":")
    found, option = POLICIES.find_with_option(f"{SHORT.get(name, name)}{colon}{option}")
    return found.with_option(option) if isinstance(found, type) else found
