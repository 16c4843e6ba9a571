"""Regret on functions drawn from the prior, compared with the bound of the paper's theorem.

A reward function f over a grid of contexts and all 2^s arms is drawn from a GP with known kernel (variance one, as in
the proof) and noise sigma0. In every play a context is drawn, a policy picks an arm from the exact posterior, and the
regret grows by f(b_t, a*_t) - f(b_t, a_t). The proof ends in R_T <= sqrt(8 T c_T gamma_T / log(1 + sigma0^-2)) with
probability 1 - delta for UCB with c_t = 2 log(2^s pi^2 t^2 / (6 delta)); for Thompson sampling the same expression
bounds the mean. gamma_T, the largest information gain 1/2 log|I + K / sigma0^2| of T points, is hard to compute, but
the gain is submodular: choosing greedily the point of largest variance reaches at least 1 - 1/e of it. So greedy gain
/ (1 - 1/e) is an upper bound of gamma_T, and the `bound` here is the theorem's with all its constants. Its step
before the last has the gain of the points really played instead of gamma_T, which is tighter: `played_bound`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from metalic.bandit.bandit import MOST_CONDITIONS, all_arms
from metalic.bandit.kernel import Form, Inputs, find_kernel
from metalic.bandit.policies import UCB, Belief, Policy, Random, Thompson
from metalic.errors import BanditError

Curve = Float[np.ndarray, "T"]
Curves = Float[np.ndarray, "draws T"]


@dataclass(frozen=True, eq=False)
class Regret:
    """Cumulative regret of each policy for every drawn function, and the bounds on it."""

    regret: Mapping[str, Curves]
    played_bound: Mapping[str, Curves]
    bound: Curve
    information: Curve  # the upper bound of gamma_T


@dataclass
class World:
    """The exact posterior over a finite set of points, updated in place by one observation at a time."""

    mean: Float[np.ndarray, "n"]
    cov: Float[np.ndarray, "n n"]
    noise: float

    def observe(self, point: int, reward: float) -> float:
        """Condition on a reward and return the information gained, 1/2 log(1 + variance / noise)."""
        column = self.cov[:, point].copy()
        gain = column / (column[point] + self.noise)
        self.mean += gain * (reward - self.mean[point])
        self.cov -= np.outer(gain, column)
        return 0.5 * float(np.log1p(max(column[point], 0.0) / self.noise))

    def belief(self, points: slice) -> Belief:
        std = np.sqrt(np.maximum(np.diag(self.cov)[points], 0.0))
        return Belief(self.mean[points], std, lambda: self.cov[points, points])


def prior_covariance(
    conditions: int,
    contexts: Float[np.ndarray, "c d"],
    kernel: str = "paper",
    hyperparameters: Mapping[str, float] | None = None,
) -> Float[np.ndarray, "n n"]:
    """The kernel over contexts x arms (arms run fastest), divided by its variance; prior medians unless given."""
    arms = all_arms(conditions)
    form = Form(find_kernel(kernel), conditions, contexts.shape[1])
    chosen = hyperparameters or {}
    theta = np.concatenate([np.full(p.size, np.log(chosen.get(name, p.median))) for name, p in form.priors.items()])
    points: Any = Inputs(np.repeat(contexts, len(arms), axis=0), np.tile(arms, (len(contexts), 1)))
    with jax.enable_x64(True):
        K = np.array(form.build(theta)(points, points))
    return K / K[0, 0]


def largest_gain(K: Float[np.ndarray, "n n"], noise: float, plays: int) -> Curve:
    """An upper bound of the largest information gain of 1, 2, ... plays: the greedy one over (1 - 1/e)."""
    world = World(np.zeros(len(K)), K.copy(), noise)
    gains = [world.observe(int(np.argmax(np.diag(world.cov))), 0.0) for _ in range(plays)]
    return np.cumsum(gains) / (1 - np.exp(-1))


def theorem_bound(gain: Float[np.ndarray, "*T"], arms: int, sigma0: float, delta: float) -> Float[np.ndarray, "*T"]:
    """sqrt(8 T c_T gain_T / log(1 + sigma0^-2)) along the last axis (paper, the step marked with a star)."""
    T = np.arange(1, gain.shape[-1] + 1)
    c = np.array([UCB(c="theorem", delta=delta).coefficient(t, arms) for t in T.tolist()])
    return np.sqrt(8 * T * c * gain / np.log1p(sigma0**-2))


def simulate(
    policy: Policy,
    K: Float[np.ndarray, "n n"],
    f: Float[np.ndarray, "n"],
    contexts: Int[np.ndarray, "T"],
    noise: Float[np.ndarray, "T"],
    sigma0: float,
    arms: int,
    rng: np.random.Generator,
) -> tuple[Curve, Curve]:
    """Play one function and return the cumulative regret and information gain."""
    world = World(np.zeros(len(K)), K.copy(), sigma0**2)
    regret, gain = np.empty(len(contexts)), np.empty(len(contexts))
    for t, context in enumerate(contexts.tolist()):
        points = slice(context * arms, (context + 1) * arms)
        point = points.start + policy.choose(world.belief(points), t + 1, rng)
        regret[t] = f[points].max() - f[point]
        gain[t] = world.observe(point, float(f[point] + noise[t]))
    return np.cumsum(regret), np.cumsum(gain)


def default_policies(delta: float) -> dict[str, Policy]:
    return {
        "UCB, theorem's c": UCB(c="theorem", delta=delta),
        "UCB, c = 1": UCB(),
        "Thompson, joint": Thompson(joint=True),
        "Thompson, per arm": Thompson(),
        "random": Random(),
    }


def _functions(
    K: Float[np.ndarray, "n n"], grid: int, plays: int, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Float[np.ndarray, "n"], Int[np.ndarray, "T"], Float[np.ndarray, "T"]]]:
    """For every draw: a function of the prior, the contexts' numbers and unit noise; shared by all policies."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    for _ in range(draws):
        yield root @ rng.standard_normal(len(K)), rng.integers(grid, size=plays), rng.standard_normal(plays)


def regret_curves(
    *,
    plays: int = 1000,
    draws: int = 10,
    conditions: int = 4,
    grid: int = 20,
    sigma0: float = 0.1,
    delta: float = 0.1,
    kernel: str = "paper",
    hyperparameters: Mapping[str, float] | None = None,
    policies: Mapping[str, Policy] | None = None,
    seed: int = 0,
) -> Regret:
    """Play functions drawn from the prior with every policy.

    Args:
        plays: The number of plays per function.
        draws: The number of functions.
        conditions: The number of conditions.
        grid: The number of contexts, evenly spaced in [0, 1].
        sigma0: The deviation of the noise.
        delta: The bound holds with probability 1 - delta.
        kernel: The name of the kernel.
        hyperparameters: Its hyperparameters; prior medians by default.
        policies: The policies by name; all of the paper by default.
        seed: Decides all that is random.

    Returns:
        The regret of every policy and the bounds on it.

    Raises:
        BanditError: A number is not allowed.

    Example:
        >>> result = regret_curves(plays=3, draws=2, conditions=2, grid=4)
        >>> result.regret["random"].shape
        (2, 3)
    """
    if min(plays, draws, grid) < 1 or not 1 <= conditions <= MOST_CONDITIONS or not sigma0 > 0:
        raise BanditError("plays, draws, grid and conditions must be at least 1, and sigma0 above 0")
    policies = default_policies(delta) if policies is None else policies
    rng, arms = np.random.default_rng(seed), 1 << conditions
    K = prior_covariance(conditions, np.linspace(0, 1, grid)[:, None], kernel, hyperparameters)
    runs: dict[str, list[tuple[Curve, Curve]]] = {name: [] for name in policies}
    for f, contexts, noise in _functions(K, grid, plays, draws, rng):
        for name, policy in policies.items():
            runs[name].append(simulate(policy, K, f, contexts, sigma0 * noise, sigma0, arms, rng))
    gain = largest_gain(K, sigma0**2, plays)
    return Regret(
        regret={name: np.array([run[0] for run in pairs]) for name, pairs in runs.items()},
        played_bound={
            name: theorem_bound(np.array([run[1] for run in pairs]), arms, sigma0, delta)
            for name, pairs in runs.items()
        },
        bound=theorem_bound(gain, arms, sigma0, delta),
        information=gain,
    )


def regret_figure(result: Regret) -> Figure:
    """Draw the cumulative regret with a band of one deviation over draws, and the regret per play with the bounds."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    T = np.arange(1, len(result.bound) + 1)
    for name, curves in result.regret.items():
        mean, std = curves.mean(axis=0), curves.std(axis=0)
        (line,) = left.plot(T, mean, label=name)
        left.fill_between(T, mean - std, mean + std, color=line.get_color(), alpha=0.15, lw=0)
        right.loglog(T, mean / T, color=line.get_color())
        if name.startswith("UCB, theorem"):
            played = result.played_bound[name].mean(axis=0) / T
            right.loglog(T, played, "--", color=line.get_color(), label="bound, points played")
    right.loglog(T, result.bound / T, "k--", label="bound, largest information gain")
    left.set(xlabel="plays T", ylabel="cumulative regret")
    right.set(xlabel="plays T", ylabel="regret per play")
    left.legend()
    right.legend()
    return figure
