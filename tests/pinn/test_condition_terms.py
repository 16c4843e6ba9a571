"""Each of the nine conditions of each benchmark family, on random networks, against finite differences of plain ones.

Agreement to 1e-6 relative is the demand; the differences themselves are good to about 1e-9.
"""

import functools

import jax
import numpy as np
import plain
import pytest
from small import problem

from metalic.conditions import Catalogue
from metalic.families import find_family
from metalic.geometry import Points
from metalic.pinn.problem import Problem

HIDDEN = (6, 4)
AGREE = 1e-6
VALUES = {"poisson": {"s": 12.0}, "advection": {"beta": 9.0}, "reaction": {"rho": 5.0}, "burgers": {"nu": 0.02}}
NAMES = {name: Catalogue(find_family(name)).names for name in VALUES}


@functools.cache
def measured(family):
    """The problem, its random networks as plain functions, and all terms of its loss."""
    with jax.enable_x64(True):
        one, theta = problem(family, VALUES[family], HIDDEN, Points(30, 20, 14))
        found = {name: float(term) for name, term in jax.jit(Problem.terms)(one, theta).items()}
    networks = [
        plain.network(weights, centre, slope, HIDDEN)
        for weights, centre, slope in zip(theta, one.centre, one.slope, strict=True)
    ]
    return one, theta, networks, found


def points(block, row=0):
    return np.asarray(block.x[row]).T


@pytest.mark.parametrize(("family", "name"), [(family, name) for family in VALUES for name in NAMES[family]])
def test_a_condition_is_what_finite_differences_say(family, name):
    one, _, (first, second), found = measured(family)
    assert one.interface.a == (0,)
    assert one.interface.b == (1,)
    truth = plain.term(name, family, first, second, points(one.interface), VALUES[family])
    assert truth > 1e-4  # random networks do not meet: there is something to agree on
    assert found[name] == pytest.approx(truth, rel=AGREE)


def test_the_average_is_a_quarter_of_continuity():
    *_, found = measured("poisson")
    assert found["uavg"] == pytest.approx(found["u"] / 4, rel=1e-12)


@pytest.mark.parametrize("family", ["poisson", "burgers"])
def test_the_loss_is_its_formula(family):
    """L = sum_k [20 L_b^k + L_r^k + 5 sum over neighbours and conditions of I], recomputed point by point."""
    one, theta, networks, found = measured(family)
    values = VALUES[family]
    residual = [plain.RESIDUALS[family](u, points(one.collocation, k), **values) for k, u in enumerate(networks)]
    boundary = []
    for row, k in enumerate(one.boundary[0].a):
        x = points(one.boundary[0], row)[np.asarray(one.boundary[0].weight[row]) > 0]
        boundary.append(networks[k](x) - plain.BOUNDARY[family](x, **values))
    fixed = [sum(np.mean(r**2) for r in residual), sum(np.mean(r**2) for r in boundary)]
    assert [found["residual"], found["boundary"]] == pytest.approx(fixed, rel=AGREE)
    bare = fixed[0] + 20 * fixed[1]
    names = NAMES[family]
    shared = {name: plain.term(name, family, *networks, points(one.interface), values) for name in names}
    with jax.enable_x64(True):
        measure = jax.jit(Problem.value)
        programs = measure._cache_size()
        for chosen in [(), *((name,) for name in names), names[:2], names[3:7], names]:
            truth = bare + 5 * sum(shared[name] for name in chosen)
            assert float(measure(one.with_conditions(chosen), theta)) == pytest.approx(truth, rel=AGREE)
        assert measure._cache_size() == programs + 1  # one program serves every set
