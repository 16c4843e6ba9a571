"""Bayesian regression against scikit-learn, and numbers that are found again."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from metalic.bandit.regression import fit

RNG = np.random.default_rng(0)
X = np.sort(RNG.random(40))
Y = np.sin(6 * X) + 0.1 * RNG.standard_normal(40)


def kernel(theta, a, b):
    return theta[0] ** 2 * np.exp(-0.5 * ((a[:, None] - b) / theta[1]) ** 2)


def covariance(theta):
    return kernel(theta, X, X) + theta[2] ** 2 * np.eye(len(X))


def test_predictions_are_those_of_scikit_learn():
    found = fit(covariance, Y, np.array([1.0, 0.2, 0.2]))
    amplitude, length, noise = found.theta
    other = ConstantKernel(amplitude**2, "fixed") * RBF(length, "fixed") + WhiteKernel(noise**2, "fixed")
    theirs = GaussianProcessRegressor(other, optimizer=None).fit(X[:, None], Y)
    new = np.linspace(0, 1, 7)
    mean, std = found.predict(kernel(found.theta, X, new), np.full(7, amplitude**2))
    expected, total = theirs.predict(new[:, None], return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(np.hypot(std, noise), total, atol=1e-8)


def test_the_noise_is_found():
    assert 0.07 < fit(covariance, Y, np.array([1.0, 0.2, 0.5])).theta[2] < 0.14


def test_without_data_theta_is_the_prior_median():
    found = fit(lambda theta: np.zeros((0, 0)), np.zeros(0), np.array([1.0, 2.0]))
    np.testing.assert_allclose(found.theta, [1.0, 2.0])
    mean, std = found.predict(np.zeros((0, 2)), np.array([4.0, 9.0]))
    np.testing.assert_allclose((mean, std), [(0, 0), (2, 3)])
