"""Rules and sentences against what is known: brute force over all cuts, and a study whose truth was invented."""

import itertools

import decay
import numpy as np
import pytest

from metalic.evaluation.narrative import played_effects, rule_sentence, sentences
from metalic.evaluation.rules import Piece, best_fixed, expected_rewards, grid, intervals
from metalic.study import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Sixty random plays."""
    path = decay.play(tmp_path_factory.mktemp("rules") / "a.db", 60)
    return Study(path, decay.Decay, read_only=True)


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


def test_effects_on_average(study: Study) -> None:
    means, std = played_effects(study.learned, 1)
    mean = means.mean(axis=0)
    assert mean[0] == pytest.approx(1.0, abs=0.15)
    assert abs(mean[1]) < 0.15
    assert np.all(std < 0.5)
    assert "u" in study.settings.catalogue.parse(best_fixed(study.learned)).names


def test_sentences(study: Study) -> None:
    told = sentences(study)
    text = " ".join(told)
    assert told[0].startswith("60 plays of decay; the median error of 60 plays with random sets was ")
    (rule,) = [one for one in told if one.startswith("In phase 2: For a < 1.")]
    below, above = rule.split(";")
    assert ("x}" in below, "x}" in above) == (True, False)
    assert "In phase 2, switching on u (a factor of " in text
    assert "x helps or harms, depending on the parameters" in text
    assert "relative error between" in told[-1]


def test_a_rule_in_words(study: Study) -> None:
    names = study.settings.catalogue
    pieces = [Piece(0, 4, 1, 0.0), Piece(4, 31, 0, 0.0), Piece(31, 50, 5, 0.0)]
    assert rule_sentence(pieces, names, ("s",)) == (
        "For s < 4 use {u}; for s from 4 to 31 use {none}; above 31 use {u, x}."
    )
    assert rule_sentence(pieces[:1], names, ("s",)) == "Use {u} for every s."
