"""The champion's reward over contexts."""

import numpy as np

from metalic.bandit.trend import Trend


def test_a_smooth_function_and_its_noise_are_found():
    rng = np.random.default_rng(0)
    z = rng.random((60, 1))
    found = Trend(z, 4 + 2 * z[:, 0] + np.sin(5 * z[:, 0]) + 0.2 * rng.standard_normal(60))
    for here in (0.1, 0.5, 0.9):
        mean, std = found.predict(np.array([here]))
        assert abs(mean - (4 + 2 * here + np.sin(5 * here))) < 0.15
        assert std < 0.15
    assert 0.14 < found.noise < 0.28


def test_a_constant_and_contexts_without_dimensions():
    found = Trend(np.zeros((5, 0)), np.array([1.0, 1.1, 0.9, 1.05, 0.95]))
    assert abs(found.predict(np.zeros(0))[0] - 1) < 0.05
