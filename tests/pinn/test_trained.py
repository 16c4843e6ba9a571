"""Networks on subdomains: their average on interfaces; the rest is tested with solutions and starts."""

import numpy as np
import pytest
from small import Line, Quad, untrained

from metalic.errors import GeometryError
from metalic.pinn.start import Start
from metalic.pinn.trained import holders


def test_a_start_has_the_values_of_its_solution():
    solution = untrained(Quad)
    points = np.random.default_rng(0).uniform([0, 0], [1, 2], (20, 2))
    np.testing.assert_array_equal(Start.of(solution).values(points), solution.values(points))
    assert Start.of(solution).network == solution.network


def test_who_holds_a_point():
    assert holders(Line(), np.array([[0.2], [0.5], [1.0]])).tolist() == [[True, True, False], [False, True, True]]
    with pytest.raises(GeometryError, match="outside the domain"):
        holders(Line(), np.array([[1.2]]))


def test_inputs_are_scaled_to_the_subdomain():
    np.testing.assert_allclose(untrained(Line).scaled(1, np.array([[0.5], [0.75], [1.0]])), [[-1, 0, 1]])
