"""Rows and their derivatives by the channels, against finite differences."""

import jax
import numpy as np
from small import Quad, untrained

from metalic.pinn.defect import Defect


def test_slopes_are_derivatives():
    with jax.enable_x64(True):
        defect = Defect(untrained(Quad))
        channels, rows = defect.channels, defect.rows
        rng, h = np.random.default_rng(0), 1e-6
        moves = [rng.normal(size=values.shape) for values in channels]
        there, back = (
            defect.linearised([values + sign * h * move for values, move in zip(channels, moves)]) for sign in (1, -1)
        )
    for here, plus, minus, move, block in zip(rows, there, back, moves, _blocks(defect)):
        for one, two, three in zip(here, plus, minus):
            n = len(one.r)
            slope = np.sum(one.by_a * move[:n], axis=1)
            if block.b:
                slope = slope + np.sum(one.by_b * move[n:], axis=1)
            np.testing.assert_allclose(slope, (two.r - three.r) / (2 * h), rtol=1e-6, atol=1e-6)


def _blocks(defect):
    problem = defect.problem
    return [problem.collocation, *problem.boundary, *[problem.interface] * len(problem.system.views)]


def test_what_is_left_without_the_unknown():
    """Of the boundary condition a = sin(x) at t = 0 that is -sin(x)."""
    with jax.enable_x64(True):
        defect = Defect(untrained(Quad))
        found, block = defect.rows[1][0], defect.problem.boundary[0]
    np.testing.assert_allclose(found.at_zero, -np.sin(np.asarray(block.x)[:, 0]), rtol=1e-12)
