"""Decisions, recommendations and effects from histories."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from problems import ARMS, NAMES, S, history, sequential, single

from metalic.bandit import UCB, Bandit, Greedy, Played, PlayedPhase, Random, Single, Thompson
from metalic.errors import BanditError

HERE = (3.0, 0.5)


def test_three_phases_decide_and_recommend():
    learned = sequential(3).learn(history(20, phases=3))
    for phase in range(3):
        decision = learned.decide(HERE, play=21, key=1, phase=phase, loss=0.3 if phase else None)
        assert len(decision.conditions.bits) == S
    ranked = learned.recommend(HERE, top=4)
    assert [len(choices) for choices in ranked] == [4, 4, 4]
    assert all(a.mean >= b.mean for choices in ranked for a, b in pairwise(choices))


def test_the_first_plays_are_random_then_the_model_speaks():
    learned = single().learn(history(30))
    assert learned.decide(HERE, play=5, key=0).mean is None
    assert len({learned.decide(HERE, play=5, key=k).conditions.index for k in range(40)}) > 10
    sixth = [learned.decide(HERE, play=6, key=k) for k in range(5)]
    assert len({d.conditions.index for d in sixth}) == 1
    assert sixth[0].std > 0


@pytest.mark.parametrize("policy", [UCB(), Thompson(), Thompson(joint=True), Random(), Greedy()])
def test_decisions_follow_from_rows_and_key(policy):
    plays = history(12, phases=2)

    def decide(key):
        bandit = sequential(policy=policy, kernel="additive")
        return bandit.learn(list(plays)).decide(HERE, play=13, key=(9, key), phase=1, loss=0.2)

    assert decide(1) == decide(1)
    if isinstance(policy, Thompson | Random):
        assert len({decide(key).conditions.index for key in range(20)}) > 3


def test_a_learned_bandit_can_be_sent_away():
    learned = sequential().learn(history(10, phases=2))
    decision = learned.decide(HERE, play=11, key=0, phase=1, loss=0.1)
    sent = pickle.dumps(learned)
    assert len(sent) < 10_000
    assert pickle.loads(sent).decide(HERE, play=11, key=0, phase=1, loss=0.1) == decision


def test_ucb_counts_plays_in_flight_and_thompson_does_not():
    learned = single(policy=UCB(c=100.0)).learn(history(10))
    alone = learned.decide(HERE, play=11, key=0)
    flying = [Played(HERE, (PlayedPhase(alone.conditions.bits),))]
    other = learned.decide(HERE, play=12, key=0, pending=flying)
    assert other.conditions.index != alone.conditions.index
    same = single(policy=Thompson()).learn(history(10))
    assert same.decide(HERE, play=11, key=0, pending=flying) == same.decide(HERE, play=11, key=0)


def test_pending_plays_shrink_the_deviation_only():
    learned = single(policy=Greedy()).learn(history(10))
    arm = learned.decide(HERE, play=11, key=0).conditions.bits
    flying = [Played(HERE, (PlayedPhase(arm),))]
    before, after = learned._belief(HERE, 0, None, ()), learned._belief(HERE, 0, None, flying)
    np.testing.assert_allclose(after.mean, before.mean, atol=1e-12)
    assert (after.std < before.std).all()
    phase_two = sequential().learn(history(10, phases=2))
    np.testing.assert_array_equal(  # a play in its first phase has chosen nothing in the second
        phase_two._belief(HERE, 1, 0.2, flying).std, phase_two._belief(HERE, 1, 0.2, ()).std
    )


def test_recommendation_is_the_largest_mean():
    learned = single().learn(history(40))
    (ranked,) = learned.recommend(HERE, top=16)
    means = learned._belief(HERE, 0, None, ()).mean
    assert [c.conditions.index for c in ranked] == list(np.argsort(-means))
    assert ranked[0].conditions.bits == (0, 0, 1, 1)  # the truth: weights -1, -1/3, 1/3, 1
    assert ranked[0].conditions.index == 12


def test_an_unknown_loss_is_that_of_the_nearest_plays():
    arm, other = (0,) * S, (1,) * S
    near = [
        Played(HERE, (PlayedPhase(arm, 0.0), PlayedPhase(arm, 0.0, loss))) for loss in (0.1, 0.2, 0.3, 0.4, 0.5) * 2
    ]
    far = [Played((10.0, -1.0), (PlayedPhase(other, 0.0), PlayedPhase(arm, 0.0, 50.0))) for _ in range(20)]
    learned = sequential().learn(far + near)
    assert learned.expected_loss(HERE, 1, arm) == pytest.approx(0.3)
    assert learned.expected_loss((10.0, -1.0), 1, other) == pytest.approx(50.0)
    given = learned.recommend(HERE, losses=(None, 0.3), top=2)
    assert given == learned.recommend(HERE, top=2)
    assert learned.recommend(HERE, losses=(None, 50.0), top=2)[1] != given[1]


def test_effects_are_differences_of_means():
    learned = single().learn(history(40))
    effects = learned.effects(HERE)
    belief = learned._belief(HERE, 0, None, ())
    for i in range(S):
        on = ARMS[:, i] == 1
        assert effects.mean[i] == pytest.approx(belief.mean[on].mean() - belief.mean[~on].mean(), abs=1e-10)
        weights = np.where(on, 1, -1) / on.sum()
        assert effects.std[i] == pytest.approx(np.sqrt(weights @ belief.covariance() @ weights), abs=1e-8)
    np.testing.assert_allclose(effects.mean, np.linspace(-1, 1, S), atol=0.2)  # the truth
    assert sequential().learn(history(12, phases=2)).effects(HERE, phase=1).mean.shape == (S,)


@pytest.mark.parametrize("kernel", ["paper", "lean", "additive"])
@pytest.mark.parametrize(
    "plays",
    [
        [],
        history(1),
        [replace(play, context=HERE) for play in history(12)],
        [replace(p, phases=(replace(p.phases[0], reward=-1.5),)) for p in history(12)],
        [Played(HERE, (PlayedPhase((1, 0, 1, 0), r),)) for r in (1.0, 1.0, 1.0, 1.0 + 1e-15)],
        [replace(p, phases=(replace(p.phases[0], reward=1e6 * p.phases[0].reward),)) for p in history(12)],
    ],
    ids=["none", "one", "one context", "one reward", "one point", "large"],
)
def test_degenerate_histories_work(plays, kernel):
    learned = single(kernel=kernel, random_plays=0).learn(plays)
    decision = learned.decide(HERE, play=1, key=0)
    assert np.isfinite([decision.mean, decision.std]).all()
    assert decision.std > 0
    assert np.isfinite(learned.effects(HERE).mean).all()


def test_degenerate_boxes_work():
    plays = [Played((2.0, y), (PlayedPhase((0, 1, 0, 1), y),)) for y in (0.1, 0.5, 0.9)]
    bandit = Bandit(settings=Single(random_plays=0), conditions=NAMES[:S], low=(2.0, 0.0), high=(2.0, 1.0))
    assert np.isfinite(bandit.learn(plays).decide((2.0, 0.3), play=4, key=0).mean)
    no_context = Bandit(settings=Single(random_plays=0), conditions=NAMES[:S], low=(), high=())
    plays = [Played((), (PlayedPhase((0, 1, 0, 1), y),)) for y in (0.1, 0.5, 0.9)]
    assert np.isfinite(no_context.learn(plays).decide((), play=4, key=0).mean)


def test_without_loss_context_no_loss_is_needed():
    plays = [replace(p, phases=(p.phases[0], replace(p.phases[1], loss=None))) for p in history(8, phases=2)]
    learned = sequential(loss_context="none").learn(plays)
    assert learned.decide(HERE, play=9, key=0, phase=1).mean is not None
    assert learned.model(1).context.shape == (8, 2)


def test_many_conditions_are_decided_in_chunks():
    plays = history(12, s=14)
    decision = single(s=14).learn(plays).decide(HERE, play=13, key=0)
    assert len(decision.conditions.bits) == 14


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: single().learn([]).decide((float("nan"), 0.0), play=1, key=0), "must be finite"),
        (lambda: sequential().learn(history(3, phases=2)).decide(HERE, play=9, key=0, phase=1), "pass loss"),
        (lambda: sequential().learn([]).model(2), "numbered 0 to 1, not 2"),
        (lambda: sequential().learn([]).decide(HERE, play=1, key=0, phase=2, loss=1.0), "numbered 0 to 1, not 2"),
        (lambda: single().learn([]).effects(HERE, phase=1), "numbered 0 to 0, not 1"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(BanditError, match=message):
        make()
