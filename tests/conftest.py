"""What all tests share."""

import jax
import pytest
from hypothesis import settings

# Seconds never decide a test, and a failure found today is found again tomorrow.
settings.register_profile("metalic", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("metalic")


@pytest.fixture
def double():
    """float64 inside one test, as `solve` does it; the process stays as it was."""
    with jax.enable_x64(True):
        yield
