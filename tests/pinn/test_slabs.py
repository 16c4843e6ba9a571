"""Slabs: what they are cut into, and what their initial conditions ask for."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from small import untrained

import metalic as mt
from metalic.pinn.laws import system_of
from metalic.pinn.network import Network
from metalic.pinn.problem import Problem, channel_values, law_rows
from metalic.pinn.sampler import Sampler, scale
from metalic.pinn.slabs import Carried, Slab, joined, slab_times

HIDDEN = (5,)


class Strings(mt.Family):
    """A string in two parts, plucked; the equation is not needed here."""

    parameters = {"c": (0.5, 2.0)}
    domain = mt.Box(x=(0, 2), t=(1, 3))
    decomposition = mt.split(domain, x=[0.75], t=[2])
    conditions = ("u",)

    def residual(self, u, p, c):
        return u.tt - c * u.xx

    def boundary(self):
        return [
            mt.Dirichlet("x=0", "t=1", "x=2", lambda p, c: c * p.x),
            mt.Robin("t=1", lambda p: p.x**2, alpha=2.0, beta=3.0),
            mt.Neumann("x=2", 0.5),
        ]


def test_the_joined_family_is_cut_as_the_family_is_in_every_slab():
    family = joined(Strings(), 4)
    assert slab_times(Strings(), 4).tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert family.decomposition.names[4:8] == ("1@2", "2@2", "3@2", "4@2")
    assert family.decomposition.subdomains["4@2"] == mt.Box(x=(0.75, 2), t=(1.75, 2.0))
    assert family.domain == Strings.domain


def test_slabs_share_their_programs():
    network = Network(2, 1, HIDDEN)
    first, second = (system_of(Slab(Strings(), low, low + 0.5, network), network) for low in (1.0, 1.5))
    assert first == second
    assert hash(first) == hash(second)


def rows_of(slab, theta, carried):
    """The rows of every boundary condition, with the points where they hold, (N, d) and (N,)."""
    points = Sampler(slab, mt.Points(8, 12, 4), "random").draw(0).blocks("float64")
    values = {"c": np.asarray(1.5), **carried}
    system = system_of(slab, slab.network)
    arrays = (*scale(slab, "subdomain"), slab.coefficient_table())
    problem = Problem(
        *points,
        *map(jnp.asarray, arrays),
        {name: jnp.asarray(value) for name, value in values.items()},
        jnp.zeros(1, bool),
        jnp.asarray(1.0),
        jnp.ones(1),
        system,
    )
    found = []
    for law, block in zip(system.boundary, problem.boundary):
        sides = block.split(channel_values(problem, jnp.asarray(theta), *block.sides(), law.channels))
        rows = np.asarray(law_rows(problem, block, law, law.channels, *sides))[:, 0]
        real = np.asarray(block.weight) > 0
        found.append((np.moveaxis(np.asarray(block.x), 1, 2)[real], rows[real]))
    return found


@pytest.mark.usefixtures("double")
def test_the_end_of_the_slab_before_takes_the_place_of_the_initial_data():
    network = Network(2, 1, HIDDEN)
    first, second = (Slab(Strings(), low, low + 0.5, network) for low in (1.0, 1.5))
    before, now = (untrained(slab, {"c": 1.5}, HIDDEN, seed) for seed, slab in enumerate((first, second)))
    (x, found), (_, sides), (y, robin), (_, neumann) = rows_of(second, now.theta, Carried.of(before, second))
    np.testing.assert_allclose(x[:, 1], 1.5)
    np.testing.assert_allclose(found, (now.values(x) - before.values(x))[:, 0], atol=1e-12)
    law = 2 * (now.values(y) - before.values(y))[:, 0] + 3 * (now.d("t")(y) - before.d("t")(y))
    np.testing.assert_allclose(robin, law, atol=1e-12)
    same = replace(now, centre=before.centre, slope=before.slope, theta=before.theta)
    assert np.abs(same.values(x) - now.values(x)).max() > 0.1  # else zero would mean nothing

    (x0, start), (_, first_sides), *_, (_, first_neumann) = rows_of(first, before.theta, Carried.of(None, first))
    np.testing.assert_allclose(start, before.values(x0)[:, 0] - 1.5 * x0[:, 0], atol=1e-12)
    assert len(sides) == len(first_sides)
    assert len(neumann) == len(first_neumann)
