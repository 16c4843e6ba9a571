"""The reward model against scikit-learn, finite differences and itself."""

import jax
import numpy as np
import pytest
from problems import ARMS, S, history, numpy_kernel, points, single
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel

from metalic.bandit import gp
from metalic.bandit.gp import GP, covariance, likelihood, log_marginal, pad, padded_size, train
from metalic.bandit.kernel import Form, find_kernel

NAMES = ["paper", "lean", "additive"]
HERE = np.array([0.3, 0.6])


class Oracle(Kernel):
    """A kernel of ours with fixed hyperparameters, for scikit-learn, from the formulas written out in numpy."""

    def __init__(self, name, values, d):
        self.name, self.values, self.d = name, values, d

    def __call__(self, X, Y=None, eval_gradient=False):
        K = numpy_kernel(self.name, self.values, X, X if Y is None else Y, self.d)
        return (K, np.zeros((*K.shape, 0))) if eval_gradient else K

    def diag(self, X):
        return np.array([numpy_kernel(self.name, self.values, x[None], x[None], self.d)[0, 0] for x in X])

    def is_stationary(self):
        return False


def model(name: str, n: int, seed: int = 3) -> GP:
    """A reward model away from its prior medians."""
    context, arm, reward = points(n)
    form = Form(find_kernel(name), S, 2)
    theta = form.center + 0.5 * np.random.default_rng(seed).standard_normal(len(form.center))
    return GP(form, theta, context, arm, reward)


def tiled(arms=ARMS, context=HERE):
    return np.hstack([np.tile(context, (len(arms), 1)), arms])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 7, 32, 45])
def test_posterior_and_likelihood_agree_with_scikit_learn(name, n):
    context, arm, reward = points(max(n, 2))
    context, arm, reward = context[:n], arm[:n], reward[:n] if n > 1 else np.array([0.0])
    ours = GP(model(name, 2).form, model(name, 2).theta, context, arm, reward)
    values = ours.hyperparameters
    theirs = GaussianProcessRegressor(Oracle(name, values, 2), alpha=values["sigma0"][0] ** 2, optimizer=None)
    scale = ours.reward.std() if n > 1 else 1.0
    theirs.fit(np.hstack([context, arm]), (reward - reward.mean()) / scale)
    mean, std = theirs.predict(tiled(), return_std=True)
    covariance = theirs.predict(tiled(), return_cov=True)[1]
    got = ours.predict(HERE, ARMS)
    np.testing.assert_allclose(got[0], reward.mean() + scale * mean, atol=1e-8)
    np.testing.assert_allclose(got[1], scale * std, atol=1e-8)
    np.testing.assert_allclose(ours.covariance(HERE, ARMS), scale**2 * covariance, atol=1e-8)
    np.testing.assert_allclose(ours.log_marginal_likelihood(), theirs.log_marginal_likelihood_value_, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_agrees_with_finite_differences(name):
    ours = model(name, 20)
    with jax.enable_x64(True):
        slope = log_marginal(ours.form, ours.theta, ours.data)[1]
        step = 1e-5 * np.eye(len(slope))
        values = [[log_marginal(ours.form, ours.theta + sign * e, ours.data)[0] for sign in (1, -1)] for e in step]
    difference = [(up - down) / 2e-5 for up, down in values]
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-7)  # truncation 1e-10, rounding 1e-10


@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_nothing(name, monkeypatch):
    monkeypatch.setattr(gp, "POSTERIOR", 0)
    small = model(name, 20)
    narrow = small.predict(HERE, ARMS), small.log_marginal_likelihood()
    monkeypatch.setattr(gp, "SIZES", (128, 256))
    large = model(name, 20)
    assert len(large.data.reward) == 128
    assert len(small.data.reward) == 64
    np.testing.assert_allclose(large.predict(HERE, ARMS), narrow[0], atol=1e-12)
    np.testing.assert_allclose(large.log_marginal_likelihood(), narrow[1], atol=1e-11)


@pytest.mark.parametrize(("n", "size"), [(0, 64), (64, 64), (65, 256), (257, 512), (2000, 2048), (2049, 4096)])
def test_few_sizes(n, size):
    assert padded_size(n) == size


def test_pending_points_lower_the_deviation_and_leave_the_mean():
    ours = model("additive", 20)
    played = ARMS[[3]]
    pending = ours.with_pending(HERE[None], played)
    (mean, std), (mean_pending, std_pending) = ours.predict(HERE, ARMS), pending.predict(HERE, ARMS)
    np.testing.assert_allclose(mean_pending, mean, atol=1e-12)
    assert (std_pending <= std + 1e-12).all()
    assert std_pending[3] < 0.8 * std[3]
    # the deviation is that of a finished play with any reward (in standardised units: the scale must not move)
    fixed = GP(ours.form, ours.theta, pending.context, pending.arm, np.append(ours.reward, 0.0))
    np.testing.assert_allclose(std_pending / std, fixed.predict(HERE, ARMS)[1] / fixed.reward.std() / std, atol=1e-9)
    assert pending.log_marginal_likelihood() == ours.log_marginal_likelihood()


def test_contrast_is_the_weighted_sum_of_the_joint_posterior(monkeypatch):
    ours = model("additive", 20)
    weights = np.random.default_rng(0).standard_normal((len(ARMS), 3))
    mean, cov = ours.contrast(HERE, ARMS, weights)
    joint = ours.covariance(HERE, ARMS)
    np.testing.assert_allclose(mean, weights.T @ ours.predict(HERE, ARMS)[0], atol=1e-10)
    np.testing.assert_allclose(cov, weights.T @ joint @ weights, atol=1e-10)
    monkeypatch.setattr(gp, "CHUNK", 4)
    chunked = ours.contrast(HERE, ARMS, weights)
    np.testing.assert_allclose(chunked[0], mean, atol=1e-10)
    np.testing.assert_allclose(chunked[1], cov, atol=1e-10)
    np.testing.assert_allclose(ours.predict(HERE, ARMS)[0], model("additive", 20).predict(HERE, ARMS)[0], atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_before_any_data_all_arms_are_alike(name):
    mean, std = train(Form(find_kernel(name), S, 2), *(x[:0] for x in points(2))).predict(HERE, ARMS)
    np.testing.assert_allclose(mean, 0.0)
    np.testing.assert_allclose(std, std[0], rtol=1e-14)


def test_fit_improves_on_every_start_and_is_reproducible():
    context, arm, reward = points(40, seed=5)
    form = Form(find_kernel("additive"), S, 2)
    first, again = train(form, context, arm, reward), train(form, context, arm, reward)
    np.testing.assert_array_equal(first.theta, again.theta)

    def log_posterior(u):
        theta = form.center + form.spread * u
        with jax.enable_x64(True):
            return (
                float(likelihood(covariance(form, theta, first.data), first.data.reward, first.data.present))
                - 0.5 * u @ u
            )

    best = log_posterior((first.theta - form.center) / form.spread)
    assert all(best >= log_posterior(u) for u in gp._starts(len(form.center)))
    assert best > log_posterior(np.zeros(len(form.center))) + 1


@pytest.mark.parametrize("name", NAMES)
def test_two_stage_fit_is_close_to_the_full_one(name, monkeypatch):
    """Above 64 plays the search is short; it must lose little against one that sees everything from all starts."""
    context, arm, reward = points(100, seed=6)
    form = Form(find_kernel(name), S, 2)
    short = train(form, context, arm, reward)
    monkeypatch.setattr(gp, "COARSE", 128)
    monkeypatch.setattr(gp, "GRADIENTS", 300)
    full = train(form, context, arm, reward)
    assert short.log_marginal_likelihood() > full.log_marginal_likelihood() - 0.5


def test_beyond_the_largest_fit_the_posterior_still_sees_every_play(monkeypatch):
    monkeypatch.setattr(gp, "COARSE", 16)
    monkeypatch.setattr(gp, "FINE", 24)
    context, arm, reward = points(60)
    ours = train(Form(find_kernel("paper"), S, 2), context, arm, reward)
    last = GP(ours.form, ours.theta, context[:-1], arm[:-1], reward[:-1])
    assert len(ours.reward) == 60
    assert abs(ours.predict(context[-1], arm[-1:])[1][0] - last.predict(context[-1], arm[-1:])[1][0]) > 1e-4


def compilations(work) -> int:
    events: list[str] = []
    listener = lambda event, *_, **__: events.append(event)  # noqa: E731
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        work()
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    return events.count("/jax/core/compile/backend_compile_duration")


@pytest.mark.parametrize("name", NAMES)
def test_growing_data_does_not_recompile(name):
    plays = history(75, s=5)  # five conditions: no other test has compiled for them
    bandit = single(s=5, kernel=name, random_plays=0)

    def decide(n: int) -> None:
        bandit.learn(plays[:n]).decide((1.0, 0.0), play=n + 1, key=n, pending=plays[n : n + 1])

    assert compilations(lambda: decide(2)) > 0  # the counter counts
    assert compilations(lambda: [decide(n) for n in range(3, 64, 4)]) == 0
    assert compilations(lambda: decide(66)) > 0
    assert compilations(lambda: [decide(n) for n in range(67, 74)]) == 0


def test_the_global_precision_is_left_alone():
    before = jax.config.jax_enable_x64
    single().learn(history(6)).decide((1.0, 0.0), play=7, key=0)
    assert jax.config.jax_enable_x64 == before
    assert np.asarray(jax.numpy.ones(2)).dtype == (np.float64 if before else np.float32)


def test_pad_marks_finished_and_pending():
    context, arm, reward = points(5)
    data = pad(context, arm, reward[:3])
    assert data.observed.sum() == 3
    assert data.present.sum() == 5
    assert (data.reward[3:] == 0).all()
