"""The reward `estimate` against the true error, which it does not see."""

import math
from pathlib import Path

import pytest
from small import Line

import metalic as mt
from metalic.pinn import Solution
from metalic.study import Study
from metalic.study.rewards import Error, Estimate, find_reward

SCHEDULE = mt.Schedule("short", (mt.Phase(mt.GaussNewton(), 40),))


class Unknown(Line):
    """Line without its reference."""

    name = "unknown"
    reference = None


def middle(family: type[mt.Family]) -> dict[str, float]:
    return {name: 0.5 * (low + high) for name, (low, high) in family.parameters.items()}


def test_it_is_the_default_without_a_reference() -> None:
    assert isinstance(find_reward(None, Unknown()), Estimate)
    assert isinstance(find_reward(None, Line()), Error)


@pytest.fixture(scope="module")
def solved() -> dict[str, tuple[Solution, float]]:
    """Solutions with their scores, with a set that determines the solution and with one that does not."""
    found = {}
    for conditions in ("all", "none"):
        score = Estimate().score(Line(), SCHEDULE, None, 0)  # type: ignore[arg-type]
        solution = mt.solve(Line, conditions, SCHEDULE, at_phase_end=score, check=False, parameters=middle(Line))
        found[conditions] = solution, float(solution.phases[-1].score or math.nan)
    return found


def test_the_score_is_the_estimate_of_a_check(solved: dict[str, tuple[Solution, float]]) -> None:
    for solution, score in solved.values():
        assert score == pytest.approx(solution.check().estimate, rel=1e-6)
        assert Estimate().of(solution.phases[-1], 1.0) == pytest.approx(-math.log10(score))


def test_sets_that_leave_the_problem_open_do_not_win(solved: dict[str, tuple[Solution, float]]) -> None:
    (good, low), (bad, high) = solved["all"], solved["none"]
    assert good.error is not None
    assert bad.error is not None
    assert bad.error > 30 * good.error
    assert high > 10 * low


def test_a_play_keeps_its_estimate(tmp_path: Path) -> None:
    with Study(tmp_path / "s.db", Unknown, mt.Single(policy=mt.Random()), SCHEDULE, solver={"hidden": (3,)}) as study:
        study.play(2)
        for row in study.plays:
            assert row.error is None
            assert row.estimate == pytest.approx(10 ** -(row.reward or 0.0))
