"""Figures of solutions: their panels and the values that they show."""

import pytest
from matplotlib.figure import Figure
from small import Line, Quad, Room, untrained

from metalic.families import Poisson
from metalic.pinn.figures import comparison_figure, members_figure


@pytest.mark.parametrize(
    ("family", "error", "panels", "bars"),
    [
        (Line, 0.5, 2, 0),
        (Line, None, 2, 0),
        (Poisson, 0.5, 3, 2),
        (Poisson, None, 3, 2),
        (Room, None, 3, 2),
        (Quad, None, 3, 2),
    ],
)
def test_a_picture_has_its_panels(family, error, panels, bars, tmp_path):
    """Solution, error or residual, points; a colour bar for each map; it can be written to a file."""
    figure = untrained(family, error=error).plot()
    assert isinstance(figure, Figure)
    assert len(figure.axes) == panels + bars
    figure.savefig(tmp_path / "figure.png", dpi=20)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_shows_the_values_of_the_solution():
    solution = untrained(Poisson)
    figure = solution.plot()
    shown = figure.axes[0].collections[0].get_array().data.reshape(161, 161)
    assert shown[0, 0] == pytest.approx(float(solution(x=0.0, y=0.0)))
    assert shown[-1, 0] == pytest.approx(float(solution(x=0.0, y=1.0)))  # y is the vertical axis
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("x", "y")


def test_without_a_reference_the_residual_is_drawn():
    solution = untrained(Poisson, error=None)
    figure = solution.plot()
    axis = figure.axes[1]
    assert axis.get_title() == "size of the residual"
    shown = axis.collections[0].get_array().data.reshape(161, 161)
    source = 0.25  # halfway up the bump's edge along x and y
    truth = solution.d("xx")(x=0.25, y=0.75) + solution.d("yy")(x=0.25, y=0.75) - source
    assert shown[120, 40] == pytest.approx(abs(float(truth)), rel=1e-9)
    line = untrained(Line, error=None).plot().axes[1].lines[0]
    assert line.get_ydata()[100] == pytest.approx(abs(untrained(Line).residual(x=line.get_xdata()[100])), rel=1e-9)


def test_two_solutions_side_by_side():
    figure = comparison_figure({"good": untrained(Poisson), "bad": untrained(Poisson, seed=1)}, count=21)
    assert len(figure.axes) == 3  # one colour bar for both
    limits = [axis.collections[0].get_clim()[1] for axis in figure.axes[:2]]
    assert limits[0] == limits[1]


def test_a_figure_leaves_pyplot_alone():
    import matplotlib.pyplot as plt

    open_before = plt.get_fignums()
    untrained(Line).plot()
    assert plt.get_fignums() == open_before


def test_members_are_drawn_side_by_side_above_their_errors(tmp_path):
    members = [untrained(Poisson, {"s": 10.0 * n}, seed=n) for n in (1, 2, 3)]
    figure = members_figure(members, [30.0, 10.0, 20.0], [3e-3, 1e-3, float("nan")], "s", count=21)
    maps = figure.axes[:3]
    bar, below = sorted(figure.axes[3:], key=lambda axis: len(axis.lines))
    assert [axis.get_title() for axis in maps] == ["s = 10", "s = 20", "s = 30"]
    for axis, member in zip(maps, members, strict=True):
        shown = axis.collections[0].get_array().data.reshape(21, 21)
        assert shown[-1, 0] == pytest.approx(float(member(x=0.0, y=1.0)))
    assert len({axis.collections[0].get_clim() for axis in maps}) == 1  # one scale, and one colour bar
    assert bar.get_ylabel() == "u"
    line = below.lines[0]
    assert line.get_xdata().tolist() == [10.0, 20.0, 30.0]
    assert line.get_ydata().tolist()[::2] == [1e-3, 3e-3]
    figure.savefig(tmp_path / "members.png", dpi=20)
    assert (tmp_path / "members.png").read_bytes().startswith(b"\x89PNG")
