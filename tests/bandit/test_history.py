"""Histories as numbers: arms by their bits, targets by hand, contexts and losses scaled."""

import numpy as np
from problems import S, sequential

from metalic.bandit import Played, PlayedPhase, all_arms
from metalic.bandit.history import LossScale, target


def test_arms_are_numbered_by_their_bits():
    arms = all_arms(9)
    assert arms.shape == (512, 9)
    np.testing.assert_array_equal(arms @ 2 ** np.arange(9), np.arange(512))
    assert not arms[0].any()  # the empty set is an arm


def test_targets_by_hand():
    """Two phases, gamma 0.9: r1 + 0.9 r2, then r2. Three: r1 + 0.9 r2 + 0.81 r3."""
    arm = (0,) * S
    plays = [
        Played((0.0, 0.0), (PlayedPhase(arm, 1.0), PlayedPhase(arm, 2.0, 0.1))),
        Played((5.0, 0.0), (PlayedPhase(arm, -1.0), PlayedPhase(arm, 0.5, 0.01))),
    ]
    learned = sequential().learn(plays)
    np.testing.assert_allclose(learned.model(0).reward, [1 + 0.9 * 2, -1 + 0.9 * 0.5])
    np.testing.assert_allclose(learned.model(1).reward, [2.0, 0.5])
    np.testing.assert_allclose(learned.model(0).context, [[0, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(learned.model(1).context, [[0, 0.5, 1.0], [0.5, 0.5, 0.0]])  # log loss, range seen
    three = [Played((0.0, 0.0), (PlayedPhase(arm, 1.0), PlayedPhase(arm, 2.0, 0.1), PlayedPhase(arm, 4.0, 0.2)))]
    models = [sequential(3, gamma=0.5).learn(three).model(p).reward[0] for p in range(3)]
    np.testing.assert_allclose(models, [1 + 0.5 * 2 + 0.25 * 4, 2 + 0.5 * 4, 4])
    assert target([3.0], 0.9) == 3.0


def test_losses_are_scaled_by_the_range_seen():
    scale = LossScale.seen("log", [1e-4, 1e-2, float("nan"), float("inf")])
    np.testing.assert_allclose(scale.scale([1e-4, 1e-3, 1e-2])[:, 0], [0, 0.5, 1])
    np.testing.assert_allclose(scale.scale([float("nan"), float("inf")])[:, 0], 1.0)  # diverged: the largest seen
    np.testing.assert_allclose(scale.scale([1e-30, 1e30, 0.0])[:, 0], [-0.5, 1.5, -0.5])
    for losses in ([], [0.1], [0.1, 0.1], [float("nan")], [0.0]):
        assert np.isfinite(LossScale.seen("log", losses).scale([0.1, 0.0, float("inf")])).all()
    assert LossScale.seen("none", [1.0]).scale([1.0, 2.0]).shape == (2, 0)
    np.testing.assert_allclose(LossScale.seen("raw", [1.0, 3.0]).scale([2.0])[:, 0], 0.5)
