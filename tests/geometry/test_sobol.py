"""Sobol points: those of SciPy, to the last bit."""

import warnings

import numpy as np
import pytest
from scipy.stats import qmc

from metalic.geometry.sobol import MOST, sobol


@pytest.mark.parametrize("d", range(1, MOST + 1))
@pytest.mark.parametrize("n", [1, 2, 101, 1000, 4097])
def test_points_are_those_of_scipy(n, d):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = qmc.Sobol(d, rng=np.random.default_rng([7, n])).random(n)
    np.testing.assert_array_equal(sobol(n, d, np.random.default_rng([7, n])), theirs)


def test_what_is_drawn_next_is_the_same_too():
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_array_equal(sobol(64, 2, ours), qmc.Sobol(2, rng=theirs).random(64))
    assert ours.random() == theirs.random()
