"""A Laplacian in a residual is one channel; in conditions it is the sum of its terms, which they differentiate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import problem

import metalic as mt
from metalic.families.derivatives import Laplacian, Partial
from metalic.pinn.laws import Place, System
from metalic.pinn.network import Network
from metalic.pinn.problem import Problem

pytestmark = pytest.mark.usefixtures("double")


class Diffusion(mt.Family):
    parameters = {"k": (0.5, 1.5)}
    domain = mt.Box(x=(0, 1), y=(0, 2), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])
    conditions = ("r", "rc", "gr", "xx")

    def residual(self, u, p, k):
        return u.t - k * u.laplacian("x", "y") * (1 + p.x) + u * u.x

    def boundary(self):
        return [mt.Dirichlet("t=0", 0.0)]


class WrittenOut(Diffusion):
    """The same law, derivative by derivative."""

    def residual(self, u, p, k):
        return u.t - k * (u.xx + u.yy) * (1 + p.x) + u * u.x


def system(family):
    return System(family(), Network(3, 1, (4,)))


def channels(*orders):
    return {(0, Partial(one)) for one in orders}


def test_a_laplacian_is_one_channel_of_a_residual():
    first = channels((0, 0, 0), (1, 0, 0), (0, 0, 1))
    assert set(system(Diffusion).residual.channels) == first | {(0, Laplacian((2, 2, 0)))}
    assert set(system(WrittenOut).residual.channels) == first | channels((2, 0, 0), (0, 2, 0))


@pytest.mark.parametrize("name", ["poisson", "poisson-unit"])
def test_poisson_needs_one_channel(name):
    found = System(mt.find_family(name), Network(2, 1, (4,))).residual.channels
    assert found == ((0, Laplacian((2, 2))),)


def test_conditions_see_the_terms_of_a_laplacian():
    one, other = system(Diffusion), system(WrittenOut)
    for law, same in zip(one.conditions.values(), other.conditions.values(), strict=True):
        assert law.channels == same.channels
    gradient = one.conditions["gr"]
    raised = channels((3, 0, 0), (1, 2, 0), (2, 1, 0), (0, 3, 0), (2, 0, 1), (0, 2, 1))
    assert {c for c in gradient.channels if c[1].order == 3} == raised


def test_the_rows_of_a_law():
    law = system(Diffusion).residual
    at = Place(jnp.asarray([0.3, 0.7, 0.1]), (), None, {"k": 1.5})
    values = {Partial((0, 0, 0)): 2.0, Partial((1, 0, 0)): 3.0, Partial((0, 0, 1)): 5.0, Laplacian((2, 2, 0)): 11.0}
    vector = jnp.asarray([values[derivative] for _, derivative in law.channels])
    rows = jax.jit(lambda v: law.rows(law.channels, v, v, at, at))(vector)
    np.testing.assert_allclose(rows, [5 - 1.5 * 11 * 1.3 + 2 * 3])


def test_both_ways_of_writing_have_the_same_terms_and_gauss_newton_system():
    (one, theta), (other, _) = (problem(family, {"k": 0.8}, hidden=(4, 3)) for family in (Diffusion, WrittenOut))
    found, truth = (jax.jit(Problem.terms)(case, theta) for case in (one, other))
    for name, term in truth.items():
        assert float(found[name]) == pytest.approx(float(term), rel=1e-11), name
    found, truth = (jax.jit(Problem.normal_equations)(case, theta) for case in (one, other))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(truth), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


def test_a_flux_may_have_a_laplacian():
    flux = {"flux": lambda self, u, p, k: {"t": u.laplacian("x", "y")}, "conditions": ("c",)}
    family = type("WithFlux", (Diffusion,), flux)
    assert set(next(iter(system(family).conditions.values())).channels) == channels((2, 0, 0), (0, 2, 0))
