"""What a bandit takes and what it refuses, and plays decided one after another."""

from dataclasses import replace

import numpy as np
import pytest
from problems import NAMES, S, history, sequential, single

from metalic.bandit import Bandit, Played, PlayedPhase, Sequential, Single
from metalic.bandit.history import ContextBox
from metalic.errors import BanditError

HERE = (3.0, 0.5)


def test_single_learns_from_the_last_reward():
    plays = history(6, phases=2)
    bandit = replace(single(), phases=2)
    np.testing.assert_allclose(bandit.learn(plays).model().reward, [play.phases[1].reward for play in plays])
    unfinished = [replace(p, phases=(replace(p.phases[0], reward=None), p.phases[1])) for p in plays]
    assert bandit.learn(unfinished).recommend(HERE) == bandit.learn(plays).recommend(HERE)


def bad_reward(value):
    return lambda: single().learn([Played(HERE, (PlayedPhase((0,) * S, value),))])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (bad_reward(float("nan")), "play 0 of the history has the reward nan.*must be finite"),
        (bad_reward(float("inf")), "must be finite"),
        (bad_reward(None), "reward None"),
        (lambda: single().learn([Played(HERE, (PlayedPhase((0, 2, 0, 0), 1.0),))]), "4 zeros and ones"),
        (lambda: single().learn([Played(HERE, (PlayedPhase((0, 1), 1.0),))]), "4 zeros and ones"),
        (lambda: single().learn([Played((1.0,), (PlayedPhase((0,) * S, 1.0),))]), "a context has 2 values"),
        (lambda: single().learn(history(1, phases=2)), "has 2 phases, not 1"),
        (lambda: sequential().learn(history(1)), "has 1 phases, not 2"),
        (
            lambda: sequential().learn([Played(HERE, (PlayedPhase((0,) * S, 1.0), PlayedPhase((0,) * S, 1.0)))]),
            "no loss before phase 1",
        ),
        (lambda: single(s=17), "1 to 16 conditions.*not 17"),
        (lambda: single(s=0), "1 to 16 conditions"),
        (lambda: sequential(phases=0), "at least one phase"),
        (lambda: ContextBox((0.0,), (1.0, 2.0)), "must agree"),
        (lambda: ContextBox((2.0,), (1.0,)), "low <= high"),
        (lambda: Bandit(settings=Single(), conditions=NAMES[:3], low=(0.0,), high=(float("inf"),)), "finite"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(BanditError, match=message):
        make()


def test_sequential_defaults_work_end_to_end():
    """Ten plays of two phases, each decided from the rows before it."""
    bandit = Bandit(settings=Sequential(), conditions=NAMES[:3], low=(0.0,), high=(1.0,), phases=2)
    plays: list[Played] = []
    for t in range(1, 11):
        learned, context = bandit.learn(plays), (t / 10,)
        first = learned.decide(context, play=t, key=(0, t))
        loss = 10.0 ** -sum(first.conditions.bits)
        second = learned.decide(context, play=t, key=(0, t), phase=1, loss=loss)
        phases = (
            PlayedPhase(first.conditions.bits, float(sum(first.conditions.bits))),
            PlayedPhase(second.conditions.bits, float(second.conditions.bits[0]), loss),
        )
        plays.append(Played(context, phases))
    best = bandit.learn(plays).recommend((0.5,), top=1)
    assert best[1][0].conditions.bits[0] == 1
