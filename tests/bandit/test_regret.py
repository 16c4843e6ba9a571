"""Regret on functions of the prior: sub-linear, below the bound; random linear."""

import numpy as np
import pytest

from metalic.bandit import UCB, Random, Thompson, regret_curves, regret_figure
from metalic.bandit.regret import World, largest_gain, prior_covariance, theorem_bound
from metalic.errors import BanditError

LEARNING = ["theorem", "thompson"]


@pytest.fixture(scope="module")
def result():
    policies = {"theorem": UCB(c="theorem"), "thompson": Thompson(joint=True), "random": Random()}
    return regret_curves(plays=400, draws=4, conditions=3, grid=8, policies=policies, seed=1)


@pytest.mark.parametrize("name", LEARNING)
def test_regret_is_sub_linear(result, name):
    curve = result.regret[name].mean(axis=0)
    assert curve[-1] - curve[200] < 0.2 * curve[200]  # the second half adds little to the first
    assert curve[-1] < 0.2 * result.regret["random"].mean(axis=0)[-1]


def test_random_is_linear(result):
    curve = result.regret["random"].mean(axis=0)
    assert curve[-1] / curve[199] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("name", LEARNING)
def test_regret_is_below_the_bound(result, name):
    assert (result.regret[name] < result.played_bound[name]).all()
    assert (result.played_bound[name] <= result.bound + 1e-9).all()  # what is played gains no more than the most
    assert result.bound[-1] / 400 < result.bound[99] / 100  # the bound itself is sub-linear


def test_the_bound_by_hand():
    bound = theorem_bound(np.array([0.5, 0.8]), arms=8, sigma0=0.5, delta=0.1)
    c = 2 * np.log(8 * np.pi**2 * 4 / 0.6)
    assert bound[1] == pytest.approx(np.sqrt(8 * 2 * c * 0.8 / np.log(5.0)))


def test_greedy_gain_bounds_every_choice_of_points():
    K = prior_covariance(2, np.linspace(0, 1, 3)[:, None])
    bound, rng = largest_gain(K, 0.04, 5), np.random.default_rng(0)
    for _ in range(200):
        i = rng.integers(len(K), size=5)
        gain = 0.5 * np.linalg.slogdet(np.eye(5) + K[np.ix_(i, i)] / 0.04)[1]
        assert gain <= bound[-1]


def test_one_at_a_time_equals_the_formulas():
    K, noise, rng = prior_covariance(2, np.linspace(0, 1, 3)[:, None], "additive"), 0.1, np.random.default_rng(0)
    points, rewards = rng.integers(len(K), size=9), rng.standard_normal(9)
    world = World(np.zeros(len(K)), K.copy(), noise)
    gain = sum(world.observe(int(i), r) for i, r in zip(points, rewards, strict=True))
    inverse = np.linalg.inv(K[np.ix_(points, points)] + noise * np.eye(9))
    np.testing.assert_allclose(world.mean, K[:, points] @ inverse @ rewards, atol=1e-10)
    np.testing.assert_allclose(world.cov, K - K[:, points] @ inverse @ K[points], atol=1e-10)
    assert gain == pytest.approx(0.5 * np.linalg.slogdet(np.eye(9) + K[np.ix_(points, points)] / noise)[1])


def test_the_figure(result):
    left, right = regret_figure(result).axes
    assert {line.get_label() for line in left.get_lines()} == {"theorem", "thompson", "random"}
    assert right.get_xscale() == "log"


def test_the_same_seed_gives_the_same_curves():
    curves = [regret_curves(plays=15, draws=2, conditions=2, grid=4, seed=3) for _ in range(2)]
    for name, curve in curves[0].regret.items():
        np.testing.assert_array_equal(curve, curves[1].regret[name])


def test_bad_sizes_are_refused():
    with pytest.raises(BanditError, match="at least 1"):
        regret_curves(plays=0)
