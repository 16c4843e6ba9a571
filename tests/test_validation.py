"""Everything a user can pass to the public functions: it works, or an error of ours says what was wrong."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from small import untrained

import metalic as mt
from metalic.bandit import Bandit, Played, PlayedPhase, Policy, Settings
from metalic.conditions import Catalogue
from metalic.errors import ConditionError, FamilyError, MetalicError
from metalic.families import Poisson
from metalic.pinn import find_schedule
from metalic.pinn.network import Network
from metalic.pinn.options import SolverOptions
from metalic.sets import split_phases
from metalic.study import Study
from metalic.study.rewards import ErrorTime, find_reward
from metalic.validation import integer, real

NUMBERS = st.one_of(
    st.integers(-3, 5),
    st.integers(),
    st.floats(),
    st.sampled_from([0, 1, -1, 0.5, math.nan, math.inf, True, 10**400, np.int64(3), np.float32(0.5), np.bool_(True)]),
)
WORDS = st.one_of(
    st.sampled_from(
        ["u", "c", "u,c", "u;c", "x=0", "t=1", "poisson", "fast", "error", "ucb", "single", "a:b", "x.py:Y"]
    ),
    st.text(max_size=6),
)
PLAIN = st.one_of(NUMBERS, WORDS, st.none(), st.binary(max_size=3), st.just(np.ones(2)), st.just(object))
JUNK = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(WORDS, st.integers(0, 2)), inner, max_size=3),
    ),
    max_leaves=5,
)
NAMES = st.sampled_from(["x", "t", "y", "d", "_a", "s"])
many = settings(max_examples=40, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)


def works_or_tells(call: Callable[..., Any], *words: Any, **named: Any) -> Any:
    """The result, or None if it is refused in words."""
    try:
        return call(*words, **named)
    except MetalicError as error:
        message = str(error)
        assert message
        assert "Traceback" not in message
        return None


@many
@given(JUNK, JUNK, JUNK)
def test_numbers_of_points_phases_and_networks(a: Any, b: Any, c: Any) -> None:
    works_or_tells(mt.Points, a, b, c)
    works_or_tells(mt.Phase, a, b)
    works_or_tells(mt.Phase, mt.Adam(), a, resample=b, adaptive=bool(c is None))
    works_or_tells(mt.Schedule, "mine", a)
    works_or_tells(Network, 2, 1, a)
    works_or_tells(find_schedule, a)


@many
@given(JUNK, JUNK)
def test_optimizers(a: Any, b: Any) -> None:
    works_or_tells(mt.Adam, a)
    works_or_tells(mt.Adam, 1e-3, a, b)
    works_or_tells(mt.LBFGS, a, b)
    works_or_tells(mt.GaussNewton, a, damping=b)


@many
@given(st.dictionaries(NAMES, JUNK, max_size=3), st.dictionaries(NAMES, JUNK, max_size=2), JUNK)
def test_geometry(sides: dict[str, Any], cuts: dict[str, Any], parts: Any) -> None:
    works_or_tells(mt.Box, **sides)
    box = mt.Box(x=(0, 1), t=(0, 2))
    works_or_tells(mt.split, box, **cuts)
    works_or_tells(mt.split, parts, **cuts)
    works_or_tells(mt.Decomposition, box, parts)
    works_or_tells(mt.Union, parts)
    works_or_tells(box.face, parts)
    works_or_tells(mt.Union(box, mt.Box(x=(1, 2), t=(0, 1))).face, parts)


@many
@given(JUNK, JUNK, JUNK)
def test_boundary_conditions(a: Any, b: Any, c: Any) -> None:
    for kind in (mt.Dirichlet, mt.Neumann):
        works_or_tells(kind, a, b)
        works_or_tells(kind, a)
        works_or_tells(kind)
    works_or_tells(mt.Robin, a, b, alpha=c, beta=1.0)
    works_or_tells(mt.Periodic, a)


@many
@given(JUNK)
@example("tests/nothing.py:A")
@example(":")
@example("os:system")
@example("a b:c")
@example("..:A")
def test_finding_families(text: Any) -> None:
    works_or_tells(mt.find_family, text)


CATALOGUE, POISSON = Catalogue(Poisson()), Poisson()


@many
@given(JUNK)
@example(["u", []])
@example([[], "u"])
@example(np.array([[1, 0], [0, 1]]))
def test_sets_of_conditions(conditions: Any) -> None:
    found = works_or_tells(CATALOGUE.parse, conditions)
    if found is not None:
        for notation in (found.index, found.bits, found.names, str(found), found):
            assert CATALOGUE.parse(notation) == found
    works_or_tells(split_phases, conditions)


@many
@given(st.dictionaries(st.sampled_from(["s", "q", ""]), JUNK, max_size=2), st.booleans())
def test_parameters(values: dict[str, Any], extrapolate: bool) -> None:
    found = works_or_tells(POISSON.check_parameters, values, extrapolate)
    if found is not None:
        assert math.isfinite(found["s"])


@many
@given(JUNK, JUNK, JUNK)
def test_bandits(a: Any, b: Any, c: Any) -> None:
    works_or_tells(mt.UCB, a, b)
    works_or_tells(mt.Thompson, a)
    works_or_tells(mt.Single, policy=a, kernel=b, random_plays=c)
    works_or_tells(mt.Single, random_plays=a)
    works_or_tells(mt.Single, first=a)
    works_or_tells(mt.Sequential, gamma=a, loss_context=b)
    works_or_tells(Policy.from_dict, a)
    works_or_tells(Settings.from_dict, {"name": "single", "policy": a})
    works_or_tells(Settings.from_dict, a)
    works_or_tells(Bandit, settings=mt.Single(), conditions=a, low=b, high=c)
    works_or_tells(Bandit, settings=a, conditions=("u", "c"), low=(0.0,), high=(1.0,), phases=b)


@many
@given(JUNK, JUNK, JUNK, JUNK)
def test_decisions(a: Any, b: Any, c: Any, d: Any) -> None:
    bandit = Bandit(settings=mt.Single(policy=mt.Random()), conditions=("u", "c"), low=(0.0,), high=(1.0,))
    learned = bandit.learn([])
    works_or_tells(learned.decide, a, play=1, key=0)
    works_or_tells(learned.decide, (0.5,), play=a, key=b)
    works_or_tells(learned.decide, (0.5,), play=1, key=0, phase=c)
    works_or_tells(bandit.learn, [Played(a, (PlayedPhase(b, c, d),))])
    works_or_tells(bandit.learn, [Played((0.5,), (PlayedPhase((0, 1), c, d),))])
    works_or_tells(bandit.learn, [Played((0.5,), (PlayedPhase(b, 1.0),))])
    works_or_tells(bandit.learn, a)


@many
@given(JUNK, JUNK)
def test_rewards_and_solver_options(a: Any, b: Any) -> None:
    works_or_tells(ErrorTime, a)
    works_or_tells(find_reward, b, POISSON)
    works_or_tells(SolverOptions.of, a)
    for option in (*SolverOptions.__dataclass_fields__, "speed"):
        works_or_tells(SolverOptions.of, {option: a})


@settings(many, max_examples=30)
@given(JUNK, JUNK, st.sampled_from(["family", "bandit", "schedule", "reward", "seed", "solver", "start_from"]))
def test_studies(tmp_path_factory: pytest.TempPathFactory, value: Any, path: Any, option: str) -> None:
    """Either a study, or nothing at all is left behind."""
    folder = tmp_path_factory.mktemp("study")
    study = works_or_tells(Study, folder / "a.db", **({"family": POISSON} | {option: value}))
    if study is None:
        assert list(folder.iterdir()) == []
        return
    for call in (study.recommend, study.effects, study.export):
        works_or_tells(call, path)
    assert works_or_tells(study.play, -1 if integer(path) else path) is None
    study.close()


@settings(many, max_examples=40)
@given(JUNK, JUNK)
def test_solutions(tmp_path_factory: pytest.TempPathFactory, a: Any, b: Any) -> None:
    solution = untrained(POISSON, hidden=(3,))
    works_or_tells(solution, a)
    works_or_tells(solution, x=a, y=b)
    works_or_tells(solution, x=a)
    works_or_tells(mt.Solution.load, a)
    if isinstance(a, str):
        works_or_tells(solution.save, tmp_path_factory.mktemp("s") / "d" / a)


SOLVE = {"schedule": [mt.Phase(mt.Adam(), 1)], "hidden": (2,), "points": mt.Points(2, 2, 2), "s": 5.0}


@settings(many, max_examples=60)
@given(
    JUNK,
    st.sampled_from(
        [
            "conditions",
            "schedule",
            "seed",
            "precision",
            "sampling",
            "scaling",
            "hidden",
            "points",
            "lambda_boundary",
            "s",
        ]
    ),
)
def test_what_a_solve_refuses(value: Any, option: str) -> None:
    """The check of all arguments comes before any work; what passes it would be trained, and is not."""

    class EnoughError(Exception):
        pass

    class Stop(Poisson):
        def reference(self, **parameters: Any) -> Any:
            raise EnoughError

    try:
        works_or_tells(mt.solve, Stop(), **({"conditions": "u"} | SOLVE | {option: value}))
    except EnoughError:
        return


def test_numpy_numbers_are_numbers(tmp_path: Path) -> None:
    assert mt.Points(np.int64(3), np.int32(2), np.uint8(1)) == mt.Points(3, 2, 1)
    assert Network(2, 1, (np.int64(4),)).hidden == (4,)
    assert mt.Phase(mt.Adam(np.float32(0.5)), np.int64(3)) == mt.Phase(mt.Adam(0.5), 3)
    with Study(tmp_path / "a.db", POISSON, seed=np.int64(3), solver={"hidden": np.array([4, 4])}) as study:
        assert study.settings.seed == 3
    assert [integer(value) for value in (3, np.int8(3), 3.0, True, "3", -1, None)] == [
        3,
        3,
        None,
        None,
        None,
        None,
        None,
    ]
    assert [real(value) for value in (3, np.float32(0.5), "3", math.nan, [1.0])] == [3.0, 0.5, None, None, None]


def test_sets_per_phase_in_any_order() -> None:
    assert split_phases([["u"], []]) == [["u"], []]
    assert split_phases(["u", "c"]) is None
    assert split_phases([1, 0, 1]) is None
    assert split_phases([np.bool_(1), np.bool_(0)]) is None
    assert split_phases("u,c;u") == ["u,c", "u"]
    for ambiguous in (["u", []], [[], "u"], ["u,c", "u"], ["u,c"], ["u;c"]):
        assert split_phases(ambiguous) is None
        with pytest.raises(ConditionError, match="is ambiguous"):
            CATALOGUE.parse(ambiguous)


def test_a_family_that_needs_arguments() -> None:
    class Needy(Poisson):
        def __init__(self, size: int):
            self.size = size

    with pytest.raises(FamilyError, match=r"'Needy' cannot be made without arguments .*'size'.*pass an object"):
        mt.find_family(Needy)
    assert mt.find_family(Needy(3)).name == "needy"
