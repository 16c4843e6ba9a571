"""Sentences about a study whose truth was invented."""

from pathlib import Path

import decay
import numpy as np
import pytest

from metalic.evaluation.narrative import played_effects, rule_sentence, sentences
from metalic.evaluation.rules import Piece, best_fixed
from metalic.study import Study


def test_effects_on_average(study: Study) -> None:
    means, std = played_effects(study.learned, 1)
    mean = means.mean(axis=0)
    assert mean[0] == pytest.approx(1.0, abs=0.15)
    assert abs(mean[1]) < 0.15
    assert np.all(std < 0.5)
    assert "u" in study.settings.catalogue.parse(best_fixed(study.learned)).names


def test_sentences(study: Study) -> None:
    messages = sentences(study)
    text = " ".join(messages)
    assert messages[0].startswith("60 plays of decay; the median error of 60 plays with random sets was ")
    (rule,) = [one for one in messages if one.startswith("In phase 2: For a < 1.")]
    below, above = rule.split(";")
    assert ("x}" in below, "x}" in above) == (True, False)
    assert "In phase 2, switching on u (a factor of " in text
    assert "x helps or harms, depending on the parameters" in text
    assert "relative error between" in messages[-1]


def test_a_rule_in_words(study: Study) -> None:
    names = study.settings.arms
    pieces = [Piece(0, 4, 1, 0.0), Piece(4, 31, 0, 0.0), Piece(31, 50, 5, 0.0)]
    assert rule_sentence(pieces, names, ("s",)) == (
        "For s < 4 use {u}; for s from 4 to 31 use {none}; above 31 use {u, x}."
    )
    assert rule_sentence(pieces[:1], names, ("s",)) == "Use {u} for every s."
    early = [rule_sentence(some, names, ("s",), early=True) for some in (pieces[:1], pieces)]
    assert early == [
        "Try {u} for every s: a first guess.",
        "For s < 4 try {u}; for s from 4 to 31 try {none}; above 31 try {u, x}: a first guess.",
    ]


def test_a_small_study_gives_no_advice(tmp_path: Path) -> None:
    with Study(decay.play(tmp_path / "a.db", 8), decay.Decay, read_only=True) as small:
        text = " ".join(sentences(small))
        advice = small.recommend(a=1.0, top=1)
    assert "Only 8 plays so far: too early to rely on, below some 30." in text
    assert " use " not in text.lower().replace("to use", "")
    assert "a first guess." in text
    assert "too early to rely on" in repr(advice)
    assert advice.to_dict()["caution"] == advice.caution != ""


def test_a_large_study_says_how_sure(study: Study) -> None:
    text = " ".join(sentences(study))
    assert "too early" not in text
    assert "The recommended set beats the next best with probability " in text
    assert "a first guess" not in text
