"""Rules and sentences against what is known: brute force over all cuts, and a study whose truth was invented."""

import itertools

import decay
import numpy as np
import pytest

from metalic.evaluation.rules import expected_rewards, grid, intervals
from metalic.study import Study


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_intervals_are_the_best_of_all_cuts(pieces: int) -> None:
    means = np.random.default_rng(pieces).normal(size=(9, 5))
    found = intervals(means, 0.0, 9.0, pieces=pieces, worth=-1.0)

    def value(cuts: tuple[int, ...]) -> float:
        return sum(means[i:j].sum(axis=0).max() for i, j in itertools.pairwise((0, *cuts, 9)))

    best = max(value(cuts) for cuts in itertools.combinations(range(1, 9), pieces - 1))
    total = sum(means[round(p.low) : round(p.high), p.arm].sum() for p in found)
    assert len(found) == pieces
    assert total == pytest.approx(best)
    assert [p.low for p in found] == [0.0, *(p.high for p in found[:-1])]
    assert found[-1].high == 9.0


def test_an_interval_must_be_worth_it() -> None:
    means = np.zeros((10, 2))
    means[5:, 1] = 0.04  # 0.02 on average
    assert len(intervals(means, 0, 1, worth=0.03)) == 1
    assert [piece.arm for piece in intervals(means - [0, 0.03], 0, 1, worth=0.001)] == [0, 1]


def test_the_rule_that_was_put_in_is_found(study: Study) -> None:
    learned = study.learned
    values = grid(0.5, 2.0)
    second = expected_rewards(learned, [(a,) for a in values])[1]
    assert second.shape == (33, 8)
    for a in (0.7, 1.8):
        assert learned.predict((a,), (1, 0, 1), phase=1, loss=0.1)[0] == pytest.approx(
            decay.reward(a, (1, 0, 1)), abs=0.3
        )
    low, high = intervals(second, 0.5, 2.0)
    names = study.settings.catalogue
    assert "x" in names.parse(low.arm).names
    assert "x" not in names.parse(high.arm).names
    assert {"u"} <= set(names.parse(low.arm).names) & set(names.parse(high.arm).names)
    assert low.high == pytest.approx(1.25, abs=0.1)
