"""A bandit that plays in pairs: what it plays, and when it recommends a challenger."""

import pickle

import numpy as np
import pytest

from metalic.bandit import Bandit, Compared, Greedy, GreedyChooser, Pair, Paired, Played, PlayedPhase, Random, Thompson
from metalic.bandit.compared import CONFIRM, confirms
from metalic.choices import Choice
from metalic.errors import BanditError

CHOICE = Choice("cut", (0.3, 0.5))
CHAMPION = 1 + 4  # {u} with the cut 0.5


def bandit(**settings):
    given = {"champion": CHAMPION} | settings
    return Bandit(settings=Paired(**given), conditions=("u", "c"), low=(0.01,), high=(1.0,), choices=(CHOICE,))


def pairs(n, gain, seed=0, noise=0.1, forecast=None):
    """Random challengers; `gain` of (context, number)."""
    rng, found = np.random.default_rng(seed), []
    space = bandit().space
    for number in range(1, n + 1):
        context, played, level = float(rng.uniform(0.01, 1)), int(rng.integers(len(space))), rng.standard_normal()
        reward = level + gain(context, played) + noise * rng.standard_normal()
        vector = tuple(int(bit) for bit in space.vectors[played])
        found.append(Pair((context,), (PlayedPhase(vector, reward),), champion=level, number=number, forecast=forecast))
    return found


def better_cut(context, number):
    """The cut 0.3 is worth half a decade below 0.1 and costs as much above."""
    return 0.0 if number >= 4 else (0.5 if context < 0.1 else -0.5)


def nothing(context, number):
    return 0.0


def test_a_challenger_is_recommended_where_it_is_surely_better():
    learned = bandit().learn(pairs(150, better_cut))
    assert isinstance(learned, Compared)
    low, high = learned.ranking((0.02,), top=3), learned.ranking((0.8,), top=3)
    assert low[0].choices == {"cut": 0.3}
    assert learned.probability(low[0]) >= 0.95
    assert learned.bandit.space.number(high[0]) == CHAMPION
    assert len({learned.bandit.space.number(one) for one in low}) == 3


def test_what_is_not_sure_is_not_recommended():
    """The same pairs, another demand."""
    history = pairs(6, lambda context, number: 0.1 * (number != CHAMPION), noise=0.3)
    found = [bandit(probability=p).learn(history).ranking((0.3,), top=2) for p in (0.5, 0.999)]
    numbers = [bandit().space.number(one[0]) for one in found]
    assert numbers[1] == CHAMPION != numbers[0]


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_differs_the_champion_is_recommended(seed):
    learned = bandit().learn(pairs(40, nothing, seed=seed))
    champions = [learned.bandit.space.number(learned.ranking((c,))[0]) == CHAMPION for c in np.linspace(0.01, 1, 9)]
    assert np.mean(champions) >= 8 / 9


def test_of_arms_that_gain_the_same_the_smallest_set_is_recommended():
    learned = bandit(probability=0.9).learn(pairs(200, lambda context, number: 0.5 * (number < 4), noise=0.05))
    assert str(learned.ranking((0.3,))[0].conditions) == "none"


def test_level_is_said_when_nothing_is_expected_to_gain():
    assert bandit().learn(pairs(60, lambda context, number: -0.2 * (number != CHAMPION), noise=0.2)).level
    assert not bandit().learn(pairs(60, lambda context, number: 0.5 * (number < 4))).level
    assert not bandit().learn(pairs(5, nothing)).level


@pytest.mark.parametrize("policy", [Thompson(), Greedy(), Random(), Paired().policy])
def test_the_champion_is_no_challenger(policy):
    learned = bandit(policy=policy).learn(pairs(10, nothing))
    chosen = [learned.decide((0.3,), play=number, key=(0, number)) for number in range(1, 30)]
    assert CHAMPION not in [learned.bandit.space.number(one) for one in chosen]


def test_given_sets_first_then_random_neighbours_then_the_policy():
    learned = bandit(first=(2,), random_plays=3).learn(pairs(10, better_cut))
    chosen = [learned.decide((0.02,), play=number, key=0) for number in range(1, 9)]
    assert learned.bandit.space.number(chosen[0]) == 2
    assert [one.mean is None for one in chosen] == [True] * 3 + [False] * 5


def test_confirming_pairs_play_the_leader():
    learned = bandit().learn(pairs(100, better_cut))
    chosen = {learned.decide((0.02,), play=CONFIRM * k, key=k).choices["cut"] for k in range(2, 8)}
    assert chosen == {0.3}


def test_decisions_follow_from_the_key():
    learned = bandit().learn(pairs(12, better_cut))
    a, b = (learned.decide((0.3,), play=7, key=(1, 7)) for _ in range(2))
    assert a == b
    sent = pickle.loads(pickle.dumps(learned))
    assert sent.decide((0.3,), play=7, key=(1, 7)) == a


def test_forecasts_that_failed_widen_later_ones():
    good = bandit().learn(pairs(40, nothing, forecast=(0.0, 0.05)))
    bad = bandit().learn(pairs(40, nothing, forecast=(2.0, 0.05)))
    assert good.widening == pytest.approx(1.0, abs=0.05)
    assert bad.widening > 1.5
    arm = good.champion
    assert bad.forecast((0.3,), arm)[1] > 1.4 * good.forecast((0.3,), arm)[1]
    assert [n for n in range(1, 9) if confirms(n)] == [4, 8]


def test_a_forecast_is_the_champions_trend_and_the_gain():
    history = [
        Pair(one.context, one.phases, champion=0.3 * one.champion + 3, number=one.number)
        for one in pairs(60, nothing, noise=0.05)
    ]
    learned = bandit().learn(history)
    mean, std = learned.forecast((0.3,), learned.champion)
    assert abs(mean - 3) < 0.25
    assert 0.2 < std < 0.5  # the champion's own rewards have deviation 0.3


def test_a_wide_range_is_scaled_by_logarithms():
    assert bandit().learn([]).place((0.1,))[0] == pytest.approx(0.5)  # type: ignore[attr-defined]


def test_a_recommendation_brings_its_levels():
    chooser = GreedyChooser(bandit().learn(pairs(150, better_cut)))
    assert chooser.begin({"a": 0.02}) == {"cut": 0.3}
    assert chooser.choose(1, 0.5).choices == {"cut": 0.3}


def test_bad_pairs_and_settings():
    with pytest.raises(BanditError, match="has no champion: a paired bandit learns from pairs"):
        bandit().learn([Played((0.3,), (PlayedPhase((1, 0, 1, 0), 1.0),))])
    with pytest.raises(BanditError, match="number of an arm from 0 to 7, not 8"):
        bandit(champion=8)
    with pytest.raises(BanditError, match="a champion is the number of an arm, not None"):
        bandit(champion=None)
    with pytest.raises(BanditError, match=r"from 0\.5 to below 1, not 1"):
        Paired(probability=1)
    with pytest.raises(BanditError, match="its own model of differences"):
        Paired(kernel="paper")
