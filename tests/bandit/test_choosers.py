"""The three choosers: what they decide, and that they can be sent to a worker after they have begun."""

import pickle

import pytest
from problems import NAMES, S, history, sequential, single

from metalic.bandit import UCB, BanditChooser, GreedyChooser, Played, PlayedPhase
from metalic.chooser import Chooser
from metalic.sets import ConditionSet, Decision

HERE = {"a": 3.0, "b": 0.5}
CONTEXT = (3.0, 0.5)


def sent(chooser: Chooser) -> Chooser:
    return pickle.loads(pickle.dumps(chooser))


def test_a_bandit_decides_by_key_turn_and_plays_in_flight() -> None:
    learned = sequential(policy=UCB(c=100.0)).learn(history(10, phases=2))
    flying = (Played(CONTEXT, (PlayedPhase((0, 1, 1, 0)),)),)
    chooser = BanditChooser(learned, 11, (7, 11), flying)
    chooser.begin(HERE)
    first = learned.decide(CONTEXT, play=11, key=(7, 11), pending=flying)
    second = learned.decide(CONTEXT, play=11, key=(7, 11), pending=flying, phase=1, loss=0.2)
    assert (chooser.choose(0, None), chooser.choose(1, 0.2)) == (first, second)
    worker = sent(chooser)
    assert worker.choose(0, None) == first
    assert not worker.learned._models  # the first decision needs no model where it lands
    assert worker.choose(1, 0.2) == second


def test_a_first_decision_that_was_taken_is_kept() -> None:
    taken = Decision(ConditionSet.at(NAMES[:S], 9), 1.0, 2.0)
    chooser = BanditChooser(single().learn(history(10)), 11, (0,), first=taken)
    chooser.begin(HERE)
    assert [chooser.choose(phase, 0.1 if phase else None) for phase in range(3)] == [taken] * 3  # one decision per play


@pytest.mark.parametrize("phases", [2, 3])
def test_greedy_follows_the_recommendation_and_the_loss_reached(phases: int) -> None:
    learned = sequential(phases).learn(history(20, phases=phases))
    chooser = GreedyChooser(learned)
    chooser.begin(HERE)
    assert chooser.choose(0, None) == learned.recommend(CONTEXT)[0][0]
    for phase in range(1, phases):
        for loss in (0.9, 0.1):
            losses = [None] * phase + [loss]
            assert chooser.choose(phase, loss) == learned.recommend(CONTEXT, losses=losses)[phase][0]
    assert sent(chooser).choose(1, 0.1) == chooser.choose(1, 0.1)


def test_greedy_with_one_decision_per_play() -> None:
    learned = single().learn(history(20))
    chooser = GreedyChooser(learned)
    chooser.begin(HERE)
    best = learned.recommend(CONTEXT)[0][0]
    assert [chooser.choose(phase, 0.1) for phase in range(3)] == [best] * 3
