"""Figures of plays hold the numbers that they were given."""

import numpy as np

from metalic.evaluation.curves import choices_figure, history_figure, medians_figure
from metalic.evaluation.standing import running_median
from metalic.study import PhaseRow, PlayRow


def row(number: int, conditions: tuple[str, ...], error: float) -> PlayRow:
    phase = PhaseRow(conditions, len(conditions), (1,), error=error, loss=error**2, iterations=10)
    return PlayRow(number, "done", {"a": number / 10}, number, (phase,))


ROWS = [row(i, ("u",) * (i % 2), 10.0**-i) for i in range(1, 8)]


def test_errors_against_plays() -> None:
    (axis,) = medians_figure({"chosen": ROWS, "random": ROWS[:2]}, lambda one: f"#{one.number}").axes
    assert axis.lines[0].get_ydata().tolist() == running_median([one.error or 0 for one in ROWS]).tolist()
    assert axis.collections[0].get_urls() == [f"#{one.number}" for one in ROWS]
    assert axis.get_yscale() == "log"


def test_errors_against_a_parameter_by_set() -> None:
    (axis,) = choices_figure(ROWS, "a").axes
    shown = {one.get_label(): one.get_offsets().tolist() for one in axis.collections}
    assert list(shown) == ["u (4)", "none (3)"]
    assert np.allclose(shown["u (4)"], [[one.number / 10, one.error] for one in ROWS if one.number % 2])


def test_one_play() -> None:
    phases = (ROWS[0].phases[0], ROWS[1].phases[0])
    (axis,) = history_figure([(0, 5, 0.1, 1.0, 0.5), (0, 10, 0.2, 0.1, None), (1, 10, 0.3, 0.01, 0.1)], phases).axes
    assert axis.lines[0].get_xdata().tolist() == [5, 10, 20]
    assert axis.lines[0].get_ydata().tolist() == [1.0, 0.1, 0.01]
    assert np.isnan(axis.lines[1].get_ydata()[1])
