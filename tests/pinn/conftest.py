import pytest
from small import line


@pytest.fixture(scope="module")
def first():
    """The solve of the line with all defaults of the tests."""
    return line()
