"""Taylor-propagated derivatives against nested automatic differentiation, Jacobian rows against reverse mode."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import plain
import pytest

from metalic.errors import ScheduleError
from metalic.families.derivatives import Laplacian, Partial
from metalic.pinn.network import Network

pytestmark = pytest.mark.usefixtures("double")

EXACT = 1e-12  # two exact methods in float64, derivatives up to third order


def indices(d, order):
    return [index for index in itertools.product(range(order + 1), repeat=d) if sum(index) <= order]


def setting(d, m, hidden, n=5, seed=0, activation="tanh"):
    network = Network(d, m, hidden, activation)
    rng = np.random.default_rng(seed)
    theta = jnp.asarray(rng.normal(size=network.size))
    return network, theta, jnp.asarray(rng.uniform(-1, 1, (d, n))), jnp.asarray(rng.uniform(0.5, 3, d))


def nested(network, theta, z, slope, channel):
    """A derivative by nested jax.grad of a plain network as a function of the raw coordinates (centre 0)."""
    component, derivative = channel
    layers, start = [], 0
    for b, a in network.shapes:
        layers.append((theta[start : start + b * a].reshape(b, a), theta[start + b * a : start + b * a + b]))
        start += b * a + b

    def output(*raw):
        h = jnp.stack(raw) * slope
        for weights, bias in layers[:-1]:
            h = {"tanh": jnp.tanh, "sine": jnp.sin}[network.activation](weights @ h + bias)
        return (layers[-1][0] @ h + layers[-1][1])[component]

    def differentiated(orders):
        function = output
        for axis, order in enumerate(orders):
            for _ in range(order):
                function = jax.grad(function, argnums=axis)
        return jax.vmap(function)(*(z / slope[:, None]))

    return sum(differentiated(term.orders) for term in derivative.terms)


BOTH = pytest.mark.parametrize("activation", ["tanh", "sine"])


@BOTH
@pytest.mark.parametrize(("d", "m", "hidden"), [(1, 1, (4, 3, 2)), (2, 2, (5, 3)), (3, 1, (4,))])
def test_channels_are_nested_derivatives(d, m, hidden, activation):
    network, theta, z, slope = setting(d, m, hidden, activation=activation)
    channels = tuple((i, Partial(index)) for i in range(m) for index in indices(d, 3))
    found = jax.jit(lambda t: network.channels(t, z, slope, channels))(theta)
    truth = jax.jit(lambda t: jnp.stack([nested(network, t, z, slope, channel) for channel in channels]))(theta)
    np.testing.assert_allclose(found, truth, rtol=EXACT, atol=EXACT * np.abs(truth).max())


def test_a_fourth_mixed_derivative():
    """What the gradient of a third-order residual needs."""
    network, theta, z, slope = setting(2, 1, (4,))
    channels = ((0, Partial((4, 0))), (0, Partial((3, 1))), (0, Partial((2, 2))))
    truth = jax.jit(lambda t: jnp.stack([nested(network, t, z, slope, channel) for channel in channels]))(theta)
    found = jax.jit(lambda t: network.channels(t, z, slope, channels))(theta)
    np.testing.assert_allclose(found, truth, rtol=1e-11, atol=1e-11)


@BOTH
@pytest.mark.parametrize("hidden", [(4,), (5, 3), (4, 3, 2)])
def test_a_laplacian_is_the_sum_of_nested_derivatives(hidden, activation):
    network, theta, z, slope = setting(3, 2, hidden, activation=activation)
    channels = ((1, Laplacian((2, 2, 0))), (0, Laplacian((2, 2, 2))), (0, Partial((0, 0, 1))), (1, Partial((2, 0, 0))))
    truth = jax.jit(lambda t: jnp.stack([nested(network, t, z, slope, channel) for channel in channels]))(theta)
    found = jax.jit(lambda t: network.channels(t, z, slope, channels))(theta)
    np.testing.assert_allclose(found, truth, rtol=EXACT, atol=EXACT * np.abs(truth).max())


def test_channels_come_alone_and_in_any_order():
    network, theta, z, slope = setting(2, 2, (4,))
    together = network.channels(theta, z, slope, ((1, Partial((0, 1))), (0, Partial((2, 0))), (0, Partial((0, 0)))))
    for i, channel in enumerate([(1, Partial((0, 1))), (0, Partial((2, 0))), (0, Partial((0, 0)))]):
        np.testing.assert_allclose(network.channels(theta, z, slope, (channel,))[0], together[i], rtol=1e-14)


@BOTH
@pytest.mark.parametrize(
    ("d", "m", "hidden", "channels"),
    [
        (1, 1, (4,), ((0, Partial((0,))), (0, Partial((2,))))),
        (2, 2, (4, 3), ((0, Partial((0, 0))), (1, Partial((1, 1))), (0, Partial((3, 0))), (1, Partial((0, 0))))),
        (2, 1, (4,), ((0, Partial((2, 0))),)),
        (3, 2, (3,), ((1, Partial((1, 0, 0))), (0, Partial((0, 1, 1))))),
        (2, 1, (4, 3, 2), ((0, Laplacian((2, 2))),)),
        (3, 2, (5, 4), ((1, Laplacian((2, 2, 0))), (0, Partial((0, 0, 1))), (1, Partial((2, 0, 0))))),
    ],
)
def test_pullback_gives_the_rows_of_the_jacobian(d, m, hidden, channels, activation):
    network, theta, z, slope = setting(d, m, hidden, activation=activation)
    cotangents = jnp.asarray(np.random.default_rng(9).normal(size=(len(channels), z.shape[1])))

    def pulled(t):
        values, pullback = network.channels_and_pullback(t, z, slope, channels)
        return values, pullback(cotangents)

    def row(t, point, cotangent):
        return jnp.sum(network.channels(t, point[:, None], slope, channels)[:, 0] * cotangent)

    values, rows = jax.jit(pulled)(theta)
    truth = jax.jit(jax.vmap(jax.jacrev(row), in_axes=(None, 1, 1), out_axes=1))(theta, z, cotangents)
    expected = jax.jit(lambda t: network.channels(t, z, slope, channels))(theta)
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(rows, truth, rtol=EXACT, atol=EXACT * np.abs(truth).max())


@pytest.mark.parametrize(("d", "m", "hidden"), [(1, 1, (4,)), (2, 2, (5, 3)), (4, 3, (2, 2, 2))])
def test_numpy_evaluation_is_the_value_channel_and_the_plain_network(d, m, hidden):
    network, theta, z, slope = setting(d, m, hidden)
    values = network.evaluate(np.asarray(theta), np.asarray(z))
    channels = tuple((i, Partial((0,) * d)) for i in range(m))
    np.testing.assert_allclose(values, network.channels(theta, z, slope, channels), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(values, plain.forward(np.asarray(theta), np.asarray(z).T, hidden, m).T, rtol=1e-13)


@pytest.mark.parametrize("activation", ["tanh", "sine"])
def test_a_change_of_the_weights_changes_the_outputs(activation):
    network, theta, z, _ = setting(2, 2, (5, 3), activation=activation)
    direction = np.random.default_rng(3).normal(size=network.size)
    truth = jax.jvp(lambda t: network.outputs_at(t, z), (theta,), (jnp.asarray(direction),))[1]
    np.testing.assert_allclose(network.change(np.asarray(theta), direction, np.asarray(z)), truth, rtol=1e-12)


def test_sizes():
    assert Network(2, 1, (20, 20)).size == 2 * 20 + 20 + 20 * 20 + 20 + 20 + 1
    assert Network(3, 2, (4,)).shapes == ((4, 3), (2, 4))


def test_glorot_normal():
    """Variance 2 / (inputs + outputs), biases zero; standard error of a variance from n numbers is sqrt(2 / n)."""
    network = Network(2, 1, (200, 300))
    theta = network.init(np.random.default_rng(0))
    first, inner, last = network.layers(theta)
    for weights, bias in (first, inner, last):
        assert not bias.any()
        b, a = weights.shape
        assert np.var(weights) * (a + b) / 2 == pytest.approx(1, abs=5 * np.sqrt(2 / (a * b)))


@pytest.mark.parametrize("activation", ["relu", "", None, 3, ["tanh"]])
def test_activations_have_names(activation):
    with pytest.raises(ScheduleError, match="allowed are tanh, sine"):
        Network(2, 1, (3,), activation)


@pytest.mark.parametrize("hidden", [(), (0,), (20, -1), (2.5,), ("20",)])
def test_hidden_layers_have_units(hidden):
    with pytest.raises(ScheduleError, match="hidden layers of at least one unit"):
        Network(2, 1, hidden)
