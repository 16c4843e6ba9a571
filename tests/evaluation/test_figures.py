"""Figures hold the numbers that they were given."""

from pathlib import Path

import decay
import numpy as np
import pytest

import metalic as mt
from metalic.evaluation import figures
from metalic.study import PhaseRow, PlayRow, Study


def row(number: int, a: float, sets: tuple[tuple[str, ...], ...], error: float, status: str = "done") -> PlayRow:
    names = decay.Decay.conditions
    phases = []
    for one in sets:
        arm = tuple(int(name in one) for name in names)
        index = sum(bit << i for i, bit in enumerate(arm))
        phases.append(PhaseRow(one, index, arm, reward=-float(np.log10(error)), error=error))
    return PlayRow(number, status, {"a": a}, number, tuple(phases))


ROWS = [
    row(1, 0.6, (("u",), ("u", "x")), 0.1),
    row(2, 0.9, (("u",), ("u", "x")), 0.01),
    row(3, 1.5, (("uavg",), ("u",)), 0.001),
    row(4, 1.6, ((), ()), 1.0, "failed"),
]


def test_accumulated_errors_and_bands() -> None:
    assert figures.accumulated(ROWS).tolist() == pytest.approx([0.1, 0.11, 0.111, 0.111])
    runs = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    figure = figures.online_figure({"p, Seq": {"Seq-UCB": runs, "Random-Seq": [np.array([5.0, 9.0])]}})
    (axis,) = figure.axes
    mean, other = axis.lines
    assert mean.get_ydata().tolist() == [2.0, 3.0]
    assert other.get_ydata().tolist() == [5.0, 9.0]
    band = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (1.0, 4.0)
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["Seq-UCB, 2 seeds", "Random-Seq"]
    assert mean.get_linestyle() != other.get_linestyle()
    (axis,) = figures.online_figure({"p, Seq": {"Seq-UCB": [np.array([1.0, 2.0, 4.0]), np.array([3.0, 4.0])]}}).axes
    assert [line.get_ydata().tolist() for line in axis.lines] == [[1.0, 2.0, 4.0], [3.0, 4.0]]
    assert len(axis.get_legend().get_texts()) == 1
    alone = {"p": {"UCB": [], "Random": [np.array([5.0, 9.0])]}, "q": {"UCB": [], "Random": []}}
    first, second = figures.online_figure(alone).axes
    assert first.lines[0].get_color() == other.get_color()  # the second method has the second colour
    assert (len(second.lines), second.texts[0].get_text()) == (0, "no plays")


def test_labels() -> None:
    def named(bandit: mt.Single | mt.Sequential) -> str:
        return figures.label({"bandit": bandit.to_dict()})

    assert named(mt.Sequential()) == "Seq-UCB"
    assert named(mt.Single(policy=mt.Thompson())) == "Single-TS"
    assert named(mt.Sequential(policy=mt.Random())) == "Random-Seq"
    assert named(mt.Single(policy=mt.Greedy())) == "Single-greedy"


def test_sets_against_the_parameter() -> None:
    figure = figures.sets_figure(ROWS, "a")
    first, second = figure.axes[:2]
    assert [text.get_text() for text in first.get_yticklabels()] == ["u  (1)", "uavg  (2)"]
    assert [text.get_text() for text in second.get_yticklabels()] == ["u  (1)", "u, x  (5)"]
    dots = second.collections[0]
    assert dots.get_offsets().tolist() == [[0.6, 1.0], [0.9, 1.0], [1.5, 0.0]]
    assert dots.get_array().tolist() == pytest.approx([0.1, 0.01, 0.001])
    one_set = figures.sets_figure([row(1, 0.6, (("u",), ("u",)), 0.1)], "a")
    assert len(one_set.axes) == 2  # one panel and its scale: the phases do not differ


def test_many_sets_share_a_line() -> None:
    many = [row(i, 1.0, (tuple(n for k, n in enumerate(decay.Decay.conditions) if i >> k & 1),), 0.1) for i in range(8)]
    assert len(figures.set_lines([*many, *many[:2]], 0)[0]) == 8
    names, places = figures.set_lines([*many, *many[:2]], 0, most=2)
    assert names == ["none  (0)", "u  (1)", "6 other sets"]
    assert places == [0, 1, 2, 2, 2, 2, 2, 2, 0, 1]


def test_how_often_conditions_were_chosen() -> None:
    names = decay.Decay.conditions
    assert figures.chosen_share(ROWS, names, 0).tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert figures.chosen_share(ROWS, names, 1).tolist() == pytest.approx([1.0, 0.0, 2 / 3])
    figure = figures.frequency_figure({"ours": ROWS}, names)
    widths = [bar.get_width() for bar in figure.axes[1].patches]
    assert widths == pytest.approx([100.0, 0.0, 200 / 3])


def test_errors_and_methods() -> None:
    (axis,) = figures.errors_figure({"ours": ROWS, "theirs": ROWS[:1]}, "a").axes
    assert axis.lines[0].get_ydata().tolist() == [0.1, 0.01, 0.001]
    assert axis.get_yscale() == "log"
    assert axis.lines[0].get_marker() != axis.lines[1].get_marker()
    (axis,) = figures.methods_figure({"a": [1.0, 2.0, 4.0], "b": [3.0, np.inf]}).axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a  (3)", "b  (2)"]


def test_effects_of_conditions(tmp_path: Path) -> None:
    with Study(decay.play(tmp_path / "a.db", 40), decay.Decay, read_only=True) as study:
        names = study.settings.catalogue.names
        figure = figures.effects_figure(study.learned, names, study.family.parameters)
        effects = [study.effects(a=0.75)[1], study.effects(a=1.75)[1]]
    panels = {axis.get_title(loc="left"): axis for axis in figure.axes}
    assert list(panels) == list(names)
    second = panels["x"].lines[2]
    x, y = second.get_xdata(), second.get_ydata()
    for a, known in zip((0.75, 1.75), effects, strict=True):
        assert np.interp(a, x, y) == pytest.approx(known["x"].mean, abs=0.1)
    assert y[0] > 1 > -1 > y[-1]  # as it was invented: worth 1.5 decades below 1.25, as harmful above


def test_a_users_settings_come_back() -> None:
    import matplotlib as mpl

    before = mpl.rcParams["axes.grid"]
    figures.errors_figure({"ours": ROWS}, "a")
    assert mpl.rcParams["axes.grid"] == before
