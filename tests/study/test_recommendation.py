"""Recommendations of a study."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tiny import SCHEDULE, Tiny

import metalic as mt
from metalic.errors import ParameterError, StudyError
from metalic.study import Study
from metalic.study.recommendation import caution

pytestmark = pytest.mark.filterwarnings("error")


def test_recommendation(played: Path) -> None:
    with Study(played, Tiny, read_only=True) as study:
        advice = study.recommend(a=1.0, top=3)
        effects = study.effects(a=1.0)
        with pytest.raises(ParameterError, match="finite"):
            study.recommend(a=math.nan)
        with pytest.raises(ParameterError, match="outside its box"):
            study.recommend(a=5.0)
    assert len(advice.phases) == 2
    for phase in advice.phases:
        means = [one.mean for one in phase.suggestions]
        assert means == sorted(means, reverse=True)
        assert set(phase.effects) == {"u", "uavg", "x"}
    assert advice.interval is not None
    assert advice.expected is not None
    assert advice.interval[0] < advice.expected < advice.interval[1]
    assert advice.expected == pytest.approx(10 ** -advice.phases[-1].best.mean)
    assert effects[0] == advice.phases[0].effects
    json.dumps(advice.to_dict())
    solution = mt.solve(Tiny(), advice, SCHEDULE, hidden=(4,), a=1.0)
    assert solution.conditions[0] == advice.conditions[0]
    chooser = advice.chooser
    chooser.begin({"a": 1.0})
    assert solution.conditions[1] == chooser.choose(1, solution.phases[0].loss).conditions.names


def test_how_surely_it_is_the_best(played: Path) -> None:
    """Against draws from the two Gaussians."""
    with Study(played, Tiny, read_only=True) as study:
        alone, advice = study.recommend(a=1.0, top=1), study.recommend(a=1.0, top=2)
    assert advice.caution == "only 12 plays so far: too early to rely on, below some 30"
    assert caution(30) == ""
    for phase, one in zip(advice.phases, alone.phases):
        draws = np.random.default_rng(0).standard_normal((2, 100_000))
        best, following = (arm.mean + arm.std * row for arm, row in zip(phase.suggestions, draws))
        assert phase.probability == pytest.approx(np.mean(best > following), abs=0.01)
        assert (len(one.suggestions), one.probability) == (1, phase.probability)
    first, second = (phase.probability for phase in advice.phases)
    assert f"with probability {first:.2f} in phase 1, {second:.2f} in phase 2" in advice.certainty


def test_recommending_before_playing(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Tiny) as study, pytest.raises(StudyError, match="no finished plays"):
        study.recommend(a=1.0)
