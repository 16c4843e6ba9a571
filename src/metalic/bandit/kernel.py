"""Kernels of the reward model: how alike two pairs of (context, set of conditions) are.

A context b is a point of [0, 1]^d (the bandit scales it), an arm a a 0/1 vector of length s. Any function of the arm
is a sum of Walsh functions of the signs h = 2a - 1: a constant, one h_i per condition, one h_i h_j per pair, and so
on. The paper's product kernel, exp(-tau1 |b - b'|^2) exp(tau2 * share of equal bits), spreads its variance over all
orders at one fixed rate and ties all of them to one context scale, so it must see a set near a context before it knows
anything there. `lean` adds what depends on the context alone and on the set alone. `additive` gives each order its own
amplitude and each condition its own weight: right where the reward is a few main effects, but it has many
hyperparameters, and on the plays measured so far it is no better than the paper's. All kernels here depend on two arms
only through the bits in which they differ. So before any data all arms have the same mean and deviation, and no set is
favoured for being large or small. Every hyperparameter is positive, with a log-normal prior; the reward is
standardised, so a variance of one is the natural size. To add a kernel, write one class: a `name`, its `priors`, and
the law `evaluate` for one pair of points.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
import tinygp
from jaxtyping import Array, Float

from metalic.errors import BanditError
from metalic.registry import Registry

AnyArray = Array | np.ndarray
Input = Any  # Inputs of one pair, or with a mask beside them; tinygp takes pytrees, but its types say array


class Inputs(NamedTuple):
    """Pairs of context and arm; one pair inside a kernel, n of them outside."""

    context: Float[AnyArray, "*n d"]
    arm: Float[AnyArray, "*n s"]


class Hyperprior(NamedTuple):
    """Log-normal prior of a positive hyperparameter: its median, the deviation of its logarithm, how many there are."""

    median: float
    spread: float
    size: int = 1


NOISE = "sigma0"
NOISE_PRIOR = Hyperprior(0.3, 1.2)


class RewardKernel(tinygp.kernels.Kernel):
    """A kernel on points whose hyperparameters have names and priors (abstract)."""

    name: ClassVar[str]
    values: dict[str, Float[Array, "size"]]

    @staticmethod
    @abstractmethod
    def priors(s: int, d: int) -> dict[str, Hyperprior]:
        """The hyperparameters for s conditions and d context dimensions, in a fixed order."""

    def __getitem__(self, name: str) -> Float[Array, "size"]:
        return self.values[name]


KERNELS: Registry[type[RewardKernel]] = Registry("kernel", RewardKernel, __name__, BanditError)


def find_kernel(given: str | type[RewardKernel]) -> type[RewardKernel]:
    """A kernel from its name, its place, or itself."""
    found = KERNELS.find(given) if isinstance(given, str) else given
    if not isinstance(found, type) or not issubclass(found, RewardKernel):
        raise BanditError(f"a kernel is a name such as 'lean' or a class that extends RewardKernel, not {given!r}")
    return found


def _radial(tau: Float[Array, "k"], b: Float[Array, "d"], c: Float[Array, "d"]) -> Float[Array, ""]:
    """exp(-sum_j tau_j (b_j - c_j)^2), expanded so that batching over pairs makes it a matrix product."""
    distance = jnp.sum(tau * b**2) + jnp.sum(tau * c**2) - 2 * jnp.dot(tau * b, c)
    return jnp.exp(-distance)


class Paper(RewardKernel):
    """exp(-tau1 |b - b'|^2) exp(tau2 * share of equal bits): the paper's, to the letter.

    There is no amplitude: the prior variance is exp(tau2). (The paper's proof divides by it: tau2 * (share - 1).)
    """

    name = "paper"

    @staticmethod
    def priors(s: int, d: int) -> dict[str, Hyperprior]:
        return {"tau1": Hyperprior(3.0, 1.0), "tau2": Hyperprior(2.0, 0.7)}

    def evaluate(self, X1: Input, X2: Input) -> Float[Array, ""]:
        (b, a), (c, e) = X1, X2
        share = 0.5 + 0.5 * jnp.dot(2 * a - 1, 2 * e - 1) / a.shape[-1]
        return _radial(self["tau1"], b, c) * jnp.exp(self["tau2"][0] * share)


class Lean(RewardKernel):
    """context R + main z + product R exp(-tau2 * share of bits that differ), z the mean of h_i h'_i.

    The paper's product with what it lacks: a part that depends on the context alone, and one that depends on the set
    alone and is learned from every play. Few hyperparameters, so that few plays suffice to fit them; the default,
    because on real plays it predicts best.
    """

    name = "lean"

    @staticmethod
    def priors(s: int, d: int) -> dict[str, Hyperprior]:
        return {
            "context": Hyperprior(0.3, 0.8),
            "main": Hyperprior(0.5, 0.8),
            "product": Hyperprior(0.5, 0.8),
            "tau1": Hyperprior(1.0, 0.8, d),
            "tau2": Hyperprior(2.0, 0.7),
        }

    def evaluate(self, X1: Input, X2: Input) -> Float[Array, ""]:
        (b, a), (c, e) = X1, X2
        z = jnp.dot(2 * a - 1, 2 * e - 1) / a.shape[-1]
        near = _radial(self["tau1"], b, c)
        alike = jnp.exp(-self["tau2"][0] * 0.5 * (1 - z))
        return self["context"][0] * near + self["main"][0] * z + self["product"][0] * near * alike


class Additive(RewardKernel):
    """Context alone + main effects + pairs, the two also varying with the context, + a product for all the rest.

    With the signs h, z = sum_i w_i h_i h'_i and R, R' radial with one rate per context dimension:
    context R + (1 + varying R') (z + pairs * sum_{i<j} w_i w_j h_i h_j h'_i h'_j)
    + rest R' exp(-tau2 * share of w that differs).
    One weight w_i per condition serves all orders: a pair of conditions that matter is likelier to matter than one of
    conditions that do not.
    """

    name = "additive"

    @staticmethod
    def priors(s: int, d: int) -> dict[str, Hyperprior]:
        return {
            "context": Hyperprior(0.5, 1.0),
            "weight": Hyperprior(0.8 / s, 0.9, s),
            "varying": Hyperprior(0.3, 1.0),
            "pairs": Hyperprior(1.0, 1.0),
            "rest": Hyperprior(0.2, 1.0),
            "tau_context": Hyperprior(3.0, 1.0, d),
            "tau_arm": Hyperprior(2.0, 1.0, d),
            "tau2": Hyperprior(2.0, 0.7),
        }

    def evaluate(self, X1: Input, X2: Input) -> Float[Array, ""]:
        (b, a), (c, e) = X1, X2
        w = self["weight"]
        near = _radial(self["tau_arm"], b, c)
        z = jnp.dot(w * (2 * a - 1), 2 * e - 1)
        pairs = 0.5 * (z**2 - jnp.sum(w**2))
        effects = (1 + self["varying"][0] * near) * (z + self["pairs"][0] * pairs)
        rest = self["rest"][0] * near * jnp.exp(-self["tau2"][0] * 0.5 * (1 - z / jnp.sum(w)))
        return self["context"][0] * _radial(self["tau_context"], b, c) + effects + rest


class Masked(tinygp.kernels.Kernel):
    """The kernel on padded data: a padded point (mask 0) is independent of all others and has no variance."""

    kernel: RewardKernel

    def evaluate(self, X1: Input, X2: Input) -> Float[Array, ""]:
        return X1[1] * X2[1] * self.kernel.evaluate(X1[0], X2[0])


@dataclass(frozen=True)
class Form:
    """A reward model's form: its kernel, s conditions, d context dimensions; and the vector theta of its logarithms.

    theta holds the logarithms of the kernel's hyperparameters in the order of `priors`, then that of sigma0.
    """

    kernel: type[RewardKernel]
    s: int
    d: int
    plain: bool = False  # rewards as they are, and hyperparameters by maximum likelihood alone

    @cached_property
    def priors(self) -> dict[str, Hyperprior]:
        return {**self.kernel.priors(self.s, self.d), NOISE: NOISE_PRIOR}

    @cached_property
    def center(self) -> Float[np.ndarray, "p"]:
        """The prior mean of theta."""
        return np.concatenate([np.full(p.size, np.log(p.median)) for p in self.priors.values()])

    @cached_property
    def spread(self) -> Float[np.ndarray, "p"]:
        """The prior deviation of theta."""
        return np.concatenate([np.full(p.size, p.spread) for p in self.priors.values()])

    def values(self, theta: Float[AnyArray, "p"]) -> dict[str, Array]:
        """The hyperparameters by name."""
        ends = np.cumsum([p.size for p in self.priors.values()])
        return {
            name: jnp.exp(theta[end - prior.size : end])
            for (name, prior), end in zip(self.priors.items(), ends, strict=True)
        }

    def build(self, theta: Float[AnyArray, "p"]) -> RewardKernel:
        """The kernel."""
        return self.kernel({name: value for name, value in self.values(theta).items() if name != NOISE})

    def noise(self, theta: Float[AnyArray, "p"]) -> Float[Array, ""]:
        """The noise variance sigma0^2."""
        return self.values(theta)[NOISE][0] ** 2
