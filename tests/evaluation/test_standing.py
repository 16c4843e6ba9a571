"""Who chose the sets of plays, and how their errors compare."""

import numpy as np
import pytest

from metalic.evaluation.standing import CHOSEN, DEFAULT, GIVEN, RANDOM, Standing, ratio, running_median
from metalic.study import PhaseRow, PlayRow

SETTINGS = {"bandit": {"first": [1]}, "family": {"parameters": {"a": [0.0, 10.0]}}}


def row(
    number: int, a: float, index: int, error: float | None, mean: float | None = None, pair: int | None = None
) -> PlayRow:
    return PlayRow(
        number, "done", {"a": a}, number, (PhaseRow(("u",), index, (1,), mean=mean, error=error),), pair=pair
    )


def test_who_chose() -> None:
    standing = Standing(SETTINGS, default=3)
    rows = [
        row(1, 1, 1, 0.1),
        row(2, 1, 2, 0.1),
        row(3, 1, 3, 0.1),
        row(4, 1, 3, 0.1, mean=1.0),
        row(5, 1, 2, 0.1, 1.0),
    ]
    assert [standing.kind(one) for one in rows] == [GIVEN, RANDOM, DEFAULT, CHOSEN, CHOSEN]
    assert standing.kind(row(6, 1, 3, 0.1, mean=1.0, pair=2)) == DEFAULT  # a paired play with the default set
    assert list(standing.groups([*rows, row(7, 1, 2, None)])) == [CHOSEN, DEFAULT, RANDOM, GIVEN]


def test_errors_relative_to_those_nearby() -> None:
    """Errors that grow with the parameter by decades: the ratio is that of the sets, wherever the plays are."""
    standing = Standing(SETTINGS, default=3)
    places = np.linspace(0, 10, 41)
    random = [row(10 + i, a, 2, 10 ** (a - 8)) for i, a in enumerate(places)]
    chosen = [row(60 + i, a, 5, 0.1 * 10 ** (a - 8), mean=1.0) for i, a in enumerate(places[::3])]
    found = standing.compare([*random, *chosen])
    assert found is not None
    assert (found.base, found.plays) == (RANDOM, len(chosen))
    assert found.ratio == pytest.approx(0.1, rel=0.01)
    assert "0.1 times the error of random sets" in found.text
    assert standing.compare(random) is None


def test_a_partner_on_the_same_pde_goes_first() -> None:
    others = [row(1, 5.0, 3, 0.5), row(2, 1.0, 3, 0.1, pair=7)]
    assert ratio(row(3, 5.0, 2, 0.05, pair=7), others, {"a": (0, 10)}) == pytest.approx(0.5)


def test_running_medians() -> None:
    values = [9.0, 1.0, 5.0, 5.0, 1.0]
    assert running_median(values, 3).tolist() == [np.median(values[max(0, i - 2) : i + 1]) for i in range(5)]
