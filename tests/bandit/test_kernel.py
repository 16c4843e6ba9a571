"""Kernels: a new one is one class, and the additive one learns an additive reward from fewer plays."""

import numpy as np
import pytest
from problems import history, single

from metalic.bandit import (
    Bandit,
    Played,
    PlayedPhase,
    Single,
    all_arms,
)
from metalic.bandit.kernel import Hyperprior, RewardKernel
from metalic.bandit.regret import prior_covariance
from metalic.errors import BanditError

NAMES = ["paper", "lean", "additive"]


def test_a_kernel_is_added_by_one_class():
    class Flat(RewardKernel):
        name = "flat"

        @staticmethod
        def priors(s, d):
            return {"amplitude": Hyperprior(1.0, 1.0)}

        def evaluate(self, X1, X2):
            return self["amplitude"][0]

    choice = single(kernel=Flat).learn(history(10)).recommend((1.0, 0.0), top=16)[0]
    np.testing.assert_allclose([c.mean for c in choice], choice[0].mean)
    with pytest.raises(BanditError, match=r"no kernel 'flat': allowed are paper, lean, additive"):
        single(kernel="flat")


def additive_truth(b: float, weights: np.ndarray) -> np.ndarray:
    """Rewards of all arms: much is the context's alone, some conditions matter, one of them by context."""
    h = 2 * all_arms(len(weights)) - 1
    return 3 * np.sin(15 * b) + h @ weights + 0.5 * (2 * b - 1) * h[:, 0]


def regret_after_60_plays(kernel: str, seed: int) -> float:
    """Of the recommended arm, over contexts, after 60 random plays."""
    rng = np.random.default_rng(seed)
    weights = 0.8 * rng.standard_normal(9) * (rng.random(9) < 0.5)
    arms, plays = all_arms(9).astype(int), []
    for _ in range(60):
        b, i = rng.random(), rng.integers(512)
        reward = additive_truth(b, weights)[i] + 0.3 * rng.standard_normal()
        plays.append(Played((b,), (PlayedPhase(arms[i].tolist(), float(reward)),)))
    learned = Bandit(settings=Single(kernel=kernel), conditions=tuple("abcdefghi"), low=(0.0,), high=(1.0,)).learn(
        plays
    )
    losses = []
    for b in np.linspace(0.05, 0.95, 10).tolist():
        truth = additive_truth(b, weights)
        losses.append(truth.max() - truth[learned.recommend((b,), top=1)[0][0].conditions.index])
    return float(np.mean(losses))


def test_additive_learns_an_additive_reward_from_fewer_plays():
    regrets = {name: np.mean([regret_after_60_plays(name, seed) for seed in range(4)]) for name in NAMES}
    assert regrets["additive"] < 0.5 * regrets["paper"]


@pytest.mark.parametrize("kernel", ["paper", "lean", "additive"])
def test_the_prior_has_variance_one(kernel):
    K = prior_covariance(3, np.linspace(0, 1, 4)[:, None], kernel)
    np.testing.assert_allclose(np.diag(K), 1.0)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    opposite = prior_covariance(3, np.zeros((1, 1)), hyperparameters={"tau2": 1.5})[0, 7]
    assert opposite == pytest.approx(np.exp(-1.5))  # the proof's exp(-tau2 / s |a - a'|_1)
