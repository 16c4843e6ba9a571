"""What both kinds of knowledge have in common: a `Learned` from rewards and a `Compared` from pairs."""

import numpy as np
import pytest
from problems import ARMS, NAMES, S, history, single

from metalic.bandit import Bandit, Compared, Learned, Pair, Paired
from metalic.bandit.knowledge import randomness
from metalic.errors import BanditError

HERE = (3.0, 0.5)


def learned():
    return single().learn(history(30))


def compared():
    """The same plays, each beside a champion with the reward 0."""
    bandit = Bandit(settings=Paired(champion=0), conditions=NAMES[:S], low=(0.0, -1.0), high=(10.0, 1.0))
    return bandit.learn([Pair(p.context, p.phases, champion=0.0, number=n) for n, p in enumerate(history(30), 1)])


@pytest.fixture(scope="module", params=[learned, compared])
def knowledge(request):
    return request.param()


def test_a_bandit_learns_by_its_settings():
    assert isinstance(learned(), Learned)
    assert isinstance(compared(), Compared)


def test_a_ranking_holds_distinct_arms_with_what_is_expected_of_them(knowledge):
    ranked = knowledge.ranking(HERE, 0, None, 5)
    assert len({one.conditions.index for one in ranked}) == len(ranked) == 5
    assert ranked == knowledge.recommend(HERE, top=5)[0]
    assert all(one.std > 0 for one in ranked)
    mean, std = knowledge.forecast(HERE, ranked[0])
    assert std > ranked[0].std  # the noise of a play comes on top
    assert np.isfinite(mean)


def test_effects_have_the_signs_of_the_truth(knowledge):
    """The rewards are made with weights from -1 to 1."""
    effects = knowledge.effects(HERE)
    assert effects.mean.shape == effects.std.shape == (S,)
    assert effects.mean[0] < -0.5
    assert effects.mean[-1] > 0.5
    assert len(ARMS) == len(knowledge.bandit.arms)


@pytest.mark.parametrize(
    ("play", "key", "message"), [(0, 0, "numbered from 1"), (1, (0, -1), "not negative"), (1, (), "numbered from 1")]
)
def test_bad_plays_and_keys_are_refused(knowledge, play, key, message):
    with pytest.raises(BanditError, match=message):
        knowledge.decide(HERE, play=play, key=key)


def test_a_key_is_one_number_or_several():
    assert randomness(1, 7) == [7]
    assert randomness(3, (0, 5)) == [0, 5]
