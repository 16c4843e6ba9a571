"""The reward that counts seconds."""

import math
from pathlib import Path

import pytest
from tiny import RANDOM, SETTINGS, Tiny

from metalic.study import Study


def test_time_counts_from_the_beginning_of_the_play(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, reward="error+time:0.5", **SETTINGS) as study:
        study.play(2)
        for play in study.plays:
            seconds = 0.0
            for phase in play.phases:
                seconds += phase.seconds or 0.0
                assert phase.reward == pytest.approx(-math.log10(phase.error or 1) - seconds / 0.5)
        assert study.recommend(a=1.0).expected is None
