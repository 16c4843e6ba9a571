"""A residual that sees second derivatives through their sum alone costs one channel; no other residual is touched."""

import jax
import jax.numpy as jnp
import numpy as np

import metalic as mt
from metalic.families.fields import SecondSum
from metalic.pinn.laws import System
from metalic.pinn.network import Network


class Diffusion(mt.Family):
    parameters = {"k": (0.5, 1.5)}  # 1 in the middle of the box: where k alone could be overlooked
    domain = mt.Box(x=(0, 1), y=(0, 2), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])

    def residual(self, u, p, k):
        return u.t - k * (u.xx + u.yy) * (1 + p.x)

    def boundary(self):
        return [mt.Dirichlet("t=0", 0.0)]


class Anisotropic(Diffusion):
    def residual(self, u, p, k):
        return u.t - (u.xx + k * u.yy)


class AtPoints(Diffusion):
    def residual(self, u, p, k):
        return u.t - p.x * u.xx - (1 - p.x) * u.yy


class Squares(Diffusion):
    def residual(self, u, p, k):
        return u.t - u.xx**2 - u.yy**2


def channels(family):
    return System(family, Network(3, 1, (4,))).residual.channels


def test_only_sums_are_merged():
    assert channels(Diffusion()) == ((0, (0, 0, 1)), (0, SecondSum((2, 2, 0))))
    for family in (Anisotropic(), AtPoints(), Squares()):
        assert set(channels(family)) == {(0, (0, 0, 1)), (0, (2, 0, 0)), (0, (0, 2, 0))}


def test_a_sum_is_no_plain_index():
    assert SecondSum((2, 2)) != (2, 2)
    assert SecondSum((2, 2)) != (2, 2)
    assert len({SecondSum((2, 2)), (2, 2), SecondSum((2, 2))}) == 2


def test_the_sum_channel_and_its_pullback(double):
    network = Network(3, 2, (5, 4))
    rng = np.random.default_rng(1)
    theta, x = jnp.asarray(network.init(rng) + 0.1), jnp.asarray(rng.normal(size=(3, 6)))
    slope = jnp.asarray([1.5, 0.5, 2.0])
    plain = ((1, (2, 0, 0)), (1, (0, 2, 0)), (0, (0, 0, 1)))
    merged = ((1, SecondSum((2, 2, 0))), (0, (0, 0, 1)))
    one = network.channels(theta, x, slope, plain)
    two, pull = network.channels_and_pullback(theta, x, slope, merged)
    np.testing.assert_allclose(two, jnp.stack([one[0] + one[1], one[2]]), rtol=1e-12, atol=1e-12)
    cotangents = jnp.asarray(rng.normal(size=two.shape))

    def total(weights):
        values = network.channels(weights, x, slope, plain)
        return cotangents[0] * (values[0] + values[1]) + cotangents[1] * values[2]

    np.testing.assert_allclose(pull(cotangents), jax.jacrev(total)(theta).T, rtol=1e-11, atol=1e-11)
