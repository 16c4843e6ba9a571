"""Colour scales, and figures that show themselves."""

import numpy as np
import pytest
from matplotlib.colors import CenteredNorm, LogNorm

from metalic.look import DIVERGING, SEQUENTIAL, Drawing, error_scale, field_scale


def test_scales() -> None:
    name, scale = field_scale(np.array([-1.0, 3.0, np.nan]))
    assert name == DIVERGING
    assert isinstance(scale, CenteredNorm)
    assert scale(0.0) == pytest.approx(0.5)
    name, scale = field_scale(np.array([-0.001, 1.0]))
    assert (name, scale.vmin) == (SEQUENTIAL, -0.001)
    found = error_scale(np.logspace(-9, -3, 1000), np.array([0.0, np.nan, 1e-2]))
    assert isinstance(found, LogNorm)
    assert found.vmax == 1e-2
    assert found.vmin == pytest.approx(1e-8, rel=1e-6)  # six decades


def test_a_figure_shows_itself_without_pyplot() -> None:
    figure = Drawing(figsize=(2, 2))
    figure.subplots().plot([1, 2])
    assert figure._repr_png_().startswith(b"\x89PNG")
