"""What is fixed for a whole solve: precision, sampling, scaling and weights; on a line that compiles in seconds."""

import numpy as np
import pytest
from small import line

from metalic.geometry.sampling import SAMPLINGS
from metalic.pinn.optimizers import advance


def test_single_precision(first):
    single = line(precision="float32")
    assert single.theta.dtype == np.float32
    assert first.theta.dtype == np.float64
    assert single.error < 0.05
    assert not single.diverged


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling(sampling, first):
    programs = advance._cache_size()
    solution = line(sampling=sampling)
    assert solution.error < 0.05
    assert advance._cache_size() == programs  # on a line they all give as many points as asked for


@pytest.mark.parametrize("scaling", ["none", "domain", "subdomain"])
def test_every_scaling(scaling):
    solution = line(scaling=scaling)
    assert solution.error < 0.05
    low, high = (0.0, 1.0) if scaling == "none" else (-1.0, 0.0) if scaling == "domain" else (-1.0, 1.0)
    ends = (np.array([[0.0], [0.5]]) - solution.centre[0]) * solution.slope[0]
    np.testing.assert_allclose(ends.ravel(), [low, high if scaling != "none" else 0.5])


def test_weights_of_the_loss():
    """Without boundary data nothing holds the ends; with much of it they are met."""
    free, held = (line(lambda_boundary=weight) for weight in (0.0, 1e4))
    assert abs(held(x=1.0) - 1) < 0.01
    assert abs(free(x=1.0) - 1) > 0.1
    loose, tight = (line(lambda_interface=weight).terms() for weight in (1e-6, 1e3))
    assert tight["u"] < 0.1 * loose["u"]
