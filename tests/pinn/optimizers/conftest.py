"""One problem for all optimizers."""

import pytest
from small import Line, problem


@pytest.fixture
def line(double):
    return problem(Line, {"k": 2.0})
