"""The model of differences: against scikit-learn's ridge regression in weight space, and on invented effects."""

import numpy as np
import pytest

from metalic.bandit.differences import LARGEST, Differences, features, root
from metalic.choices import Arms, Choice

ARMS = Arms(("u", "c", "x"), (Choice("cut", (0.3, 0.5, 0.7)),))
CHAMPION = ARMS.number(ARMS.decision(3 + 8))  # {u, c} with the cut 0.5


def truth(z, number):
    vector = ARMS.vectors[number]
    return 0.5 * vector[2] - 0.4 * (1 - vector[1]) + (0.6 if vector[3] else 0.0) * (1 - 2 * z)


def model(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    z, played = rng.random((n, 1)), rng.integers(len(ARMS), size=n)
    y = np.array([truth(*pair) for pair in zip(z[:, 0], played)]) - truth(0.5, CHAMPION)
    return Differences(ARMS, CHAMPION, z, played, y + noise * rng.standard_normal(n))


def weight_space(found, z):
    """The same posterior by normal equations over explicit features, own numbers of arms included."""
    *taus, rest, rho, sigma = found.fitted.theta
    scale = np.array([dict(zip(found.groups, taus))[group] for group in features(ARMS)[1]])

    def rows(contexts, numbers):
        H = (features(ARMS)[0][numbers] - features(ARMS)[0][CHAMPION]) * scale
        t = 2 * np.asarray(contexts) - 1
        g = np.stack([np.ones_like(t), rho * t, rho * t**2], axis=1)
        own = rest * np.eye(len(ARMS))[numbers]
        return np.hstack([(H[:, :, None] * g[:, None, :]).reshape(len(H), -1), own])

    A, B = rows(found.contexts[:, 0], found.played), rows(np.full(len(ARMS), z), np.arange(len(ARMS)))
    precision = A.T @ A / sigma**2 + np.eye(A.shape[1])
    mean = B @ np.linalg.solve(precision, A.T @ found.y / sigma**2)
    return mean, np.sqrt(np.sum(B * np.linalg.solve(precision, B.T).T, axis=1))


def test_predictions_are_those_of_weight_space():
    found = model(30)
    mean, std = found.predict(np.array([0.3]))
    expected, spread = weight_space(found, 0.3)
    others = np.arange(len(ARMS)) != CHAMPION
    np.testing.assert_allclose(mean[others], expected[others], atol=1e-8)
    np.testing.assert_allclose(std[others], spread[others], atol=1e-7)
    assert mean[CHAMPION] == std[CHAMPION] == 0


@pytest.mark.parametrize("z", [0.1, 0.9])
def test_effects_that_depend_on_the_context_are_found(z):
    found = model(120)
    mean, std = found.predict(np.array([z]))
    expected = np.array([truth(z, i) for i in range(len(ARMS))]) - truth(z, CHAMPION)
    assert np.sqrt(np.mean((mean - expected) ** 2)) < 0.12
    assert np.mean(np.abs(mean - expected) < 3 * std + 0.05) > 0.95


def test_effects_are_averages_over_arms():
    found = model(60)
    arms, z = ARMS.vectors, np.array([0.4])
    weights = arms / arms.sum(axis=0) - (1 - arms) / (1 - arms).sum(axis=0)
    mean, _ = found.effects(z, weights)
    assert mean[2] == pytest.approx(0.5, abs=0.15)
    assert mean[1] == pytest.approx(0.4, abs=0.15)
    assert abs(mean[0]) < 0.15


def test_draws_have_the_mean_and_deviation_of_the_posterior():
    found = model(25)
    z, rng = np.array([0.6]), np.random.default_rng(1)
    draw = found.drawer(z)
    draws = np.array([draw(rng) for _ in range(1500)])
    mean, std = found.predict(z)
    tried = np.setdiff1d(found.played, [CHAMPION])  # the own numbers of others are left out of draws
    np.testing.assert_allclose(draws.mean(axis=0)[tried], mean[tried], atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0)[tried], std[tried], rtol=0.1)
    assert np.all(draws[:, CHAMPION] == 0)


def test_large_differences_are_cut_off():
    far = Differences(ARMS, CHAMPION, np.full((1, 1), 0.5), np.array([0]), np.array([-9.0]))
    near = Differences(ARMS, CHAMPION, np.full((1, 1), 0.5), np.array([0]), np.array([-LARGEST]))
    np.testing.assert_array_equal(far.predict(np.array([0.5])), near.predict(np.array([0.5])))


def test_levels_that_are_close_have_effects_that_are_close():
    R = root(Choice("cut", (0.1, 0.2, 0.3, "undivided")))
    K = R @ R.T
    assert K[0, 1] > K[0, 2] > K[0, 3]
    assert abs(K[0, 3]) < 1e-12
    np.testing.assert_allclose(np.diag(K), 1.0, atol=1e-8)


def test_without_pairs_every_arm_is_as_good_as_the_champion():
    empty = Differences(ARMS, CHAMPION, np.zeros((0, 1)), np.zeros(0, int), np.zeros(0))
    mean, std = empty.predict(np.array([0.5]))
    np.testing.assert_array_equal(mean, 0)
    assert np.sum(std == 0) == 1
