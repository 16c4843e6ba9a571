"""What each policy picks from a known belief."""

import json

import numpy as np
import pytest
from jaxtyping import TypeCheckError
from scipy.stats import chisquare

from metalic.bandit import (
    POLICIES,
    UCB,
    Greedy,
    Policy,
    Random,
    Single,
    Thompson,
    find_policy,
)
from metalic.bandit.policies import Belief
from metalic.errors import BanditError

RNG = np.random.default_rng


def belief(mean, std, cov=None) -> Belief:
    mean, std = np.asarray(mean, float), np.asarray(std, float)
    return Belief(mean, std, lambda: np.diag(std**2) if cov is None else np.asarray(cov, float))


def test_ucb_adds_deviation():
    unsure = belief([0.0, 1.0, 0.5], [0.1, 0.1, 0.7])
    assert UCB(c=0.0).choose(unsure, 1, RNG(0)) == 1
    assert UCB().choose(unsure, 1, RNG(0)) == 2
    np.testing.assert_allclose(UCB(c=4.0).scores(unsure, 1, RNG(0)), [0.2, 1.2, 1.9])  # sqrt(c) = 2


def test_the_theorems_coefficient():
    # 2 log(2^9 pi^2 t^2 / (6 delta)) at t = 7, delta = 0.05, with logarithms taken apart
    expected = 2 * (9 * np.log(2) + 2 * np.log(np.pi) + 2 * np.log(7) - np.log(0.3))
    policy = UCB(c="theorem", delta=0.05)
    assert policy.coefficient(7, 2**9) == pytest.approx(expected, rel=1e-14)
    wide = belief(np.zeros(512), np.ones(512))
    np.testing.assert_allclose(policy.scores(wide, 7, RNG(0)), np.sqrt(expected))
    assert policy.coefficient(8, 512) > policy.coefficient(7, 512)


def test_greedy_takes_the_mean():
    assert Greedy().choose(belief([0.0, 1.0, 0.5], [9, 0, 9]), 1, RNG(0)) == 1


def test_thompson_draws_from_the_marginals():
    draws = np.array([Thompson().scores(belief([1.0, -2.0], [0.5, 3.0]), 1, RNG(i)) for i in range(4000)])
    np.testing.assert_allclose(draws.mean(0), [1.0, -2.0], atol=4 * 3.0 / 4000**0.5)
    np.testing.assert_allclose(draws.std(0), [0.5, 3.0], rtol=0.05)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.06


def test_joint_thompson_draws_from_the_covariance():
    cov = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.25]])
    sure = belief([0, 0, 0], np.sqrt(np.diag(cov)), cov)
    draws = np.array([Thompson(joint=True).scores(sure, 1, RNG(i)) for i in range(4000)])
    np.testing.assert_allclose(np.cov(draws.T), cov, atol=0.08)


def test_joint_thompson_refuses_what_does_not_fit_in_memory():
    with pytest.raises(BanditError, match="at most 2048 arms"):
        Thompson(joint=True).scores(belief(np.zeros(4096), np.ones(4096)), 1, RNG(0))


def test_random_is_uniform():
    picks = [Random().choose(belief(np.arange(16.0), np.ones(16)), 1, RNG([7, i])) for i in range(3200)]
    assert chisquare(np.bincount(picks, minlength=16)).pvalue > 0.01


def test_ties_are_broken_at_random_and_only_ties():
    tied = belief([1.0, 1.0 + 1e-13, 0.0, 1.0 - 1e-13], [1.0, 1.0, 1.0, 1.0])
    picks = [UCB().choose(tied, 1, RNG(i)) for i in range(300)]
    assert set(picks) == {0, 1, 3}
    assert min(np.bincount(picks)[[0, 1, 3]]) > 70
    assert {UCB().choose(belief([1.0, 1.0 + 1e-6], [1, 1]), 1, RNG(i)) for i in range(20)} == {1}


def test_the_same_key_gives_the_same_arm():
    broad = belief(np.zeros(64), np.ones(64))
    for policy in (UCB(), Thompson(), Thompson(joint=True), Random(), Greedy()):
        assert policy.choose(broad, 1, RNG([3, 1])) == policy.choose(broad, 1, RNG([3, 1]))
        assert len({policy.choose(broad, 1, RNG([3, i])) for i in range(30)}) > 10


def test_a_policy_is_not_its_name():
    with pytest.raises((BanditError, TypeCheckError)):  # the latter when the tests check types at run time
        Single(policy="ucb")


@pytest.mark.parametrize("policy", [UCB(), UCB(c="theorem", delta=0.2), Thompson(joint=True), Random(), Greedy()])
def test_conformance(policy):
    """Every policy: a finite score per arm, its scores do not change the belief, a JSON round trip."""
    seen = belief(np.linspace(-1, 1, 8), np.full(8, 0.3))
    scores = policy.scores(seen, 5, RNG(0))
    assert scores.shape == (8,)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(seen.mean, np.linspace(-1, 1, 8))
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy
    assert POLICIES[policy.name] is type(policy)


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("ucb", UCB()),
        ("ucb:2.5", UCB(2.5)),
        ("ucb:theorem", UCB("theorem")),
        ("ts", Thompson()),
        ("thompson", Thompson()),
        ("ts:joint", Thompson(joint=True)),
        ("random", Random()),
        ("greedy", Greedy()),
    ],
)
def test_policies_as_one_writes_them(text, policy):
    assert find_policy(text) == policy


@pytest.mark.parametrize("text", ["", "x", "ts:x", "greedy:1", "ucb:x", "ucb:-1", "ucb:nan", ":joint"])
def test_what_is_no_policy(text):
    with pytest.raises(BanditError, match=r"policy|UCB's c"):
        find_policy(text)
