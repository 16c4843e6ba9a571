"""The small pictures of a notebook show the numbers of the study."""

from pathlib import Path

import decay
import pytest

from metalic.study import Study
from metalic.study.pictures import advice_figure, plays_figure


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(decay.play(tmp_path / "a.db", 8), decay.Decay, read_only=True)


def test_plays(study: Study) -> None:
    (axis,) = plays_figure(study.plays, lambda play: play.number % 2 == 1).axes
    random, others = axis.get_lines()
    assert (list(random.get_xdata()), list(others.get_xdata())) == ([1, 3, 5, 7], [2, 4, 6, 8])
    assert list(random.get_ydata()) == [play.error for play in study.plays[::2]]
    assert axis.get_yscale() == "log"


def test_advice(study: Study) -> None:
    advice = study.recommend(a=1.0)
    axes = advice_figure(advice).axes
    assert [axis.get_title() for axis in axes] == ["phase 1", "phase 2"]
    for axis, phase in zip(axes, advice.phases):
        ((means, _, (bars,)),) = axis.containers
        effects = list(phase.effects.values())
        assert list(means.get_xdata()) == [one.mean for one in effects]
        ends = [segment[:, 0] for segment in bars.get_segments()]
        assert [high - low for low, high in ends] == pytest.approx([4 * one.std for one in effects])
