"""Studies: settings that are kept, decisions that follow from rows, failures, and what is learned."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from tiny import RANDOM, SCHEDULE, SETTINGS, Tiny

import metalic as mt
from metalic.errors import ConditionError, FileError, LedgerError, ParameterError, StudyError
from metalic.evaluation.baselines import METHODS
from metalic.pinn.options import DEFAULTS, SolverOptions
from metalic.study import Study
from metalic.study.play import Outcome, Task

pytestmark = pytest.mark.filterwarnings("error")


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a.same_outcome(b) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real study of 12 plays: 5 random ones, then decisions by the reward model."""
    path = tmp_path_factory.mktemp("study") / "tiny.db"
    with Study(path, Tiny, **SETTINGS) as study:
        study.play(12)
    return path


def test_a_real_study(played: Path) -> None:
    with Study(played, Tiny, read_only=True) as study:
        plays = study.plays
        assert [play.number for play in plays] == list(range(1, 13))
        assert {play.status for play in plays} == {"done"}
        assert all(0.5 <= play.parameters["a"] <= 2.0 for play in plays)
        assert len({play.seed for play in plays}) == 12
        for play in plays:
            assert play.seen == tuple(range(1, play.number))
            for phase in play.phases:
                assert phase.reward == pytest.approx(-math.log10(phase.error or 0))
                assert (phase.mean is None) == (play.number <= 5)
        assert "tiny" in repr(study)
        assert "12 plays" in repr(study)


def test_a_row_can_be_solved_again(played: Path) -> None:
    """What a row says is enough to get its error by a plain solve."""
    with Study(played, Tiny, read_only=True) as study:
        play = study.plays[6]
    sets = [phase.conditions for phase in play.phases]
    choose = lambda phase, loss: sets[phase]  # noqa: E731
    solution = mt.solve(Tiny(), choose, SCHEDULE, seed=play.seed, hidden=(4,), parameters=play.parameters)
    assert solution.error == play.error


def test_going_on_equals_never_having_stopped(played: Path, tmp_path: Path) -> None:
    for count in (4, 3, 5):
        with Study(tmp_path / "b.db", Tiny, **SETTINGS) as study:
            study.play(count)
    with Study(tmp_path / "b.db", Tiny) as study, Study(played, Tiny, read_only=True) as whole:
        assert same(study.plays, whole.plays)


def test_an_interrupted_play_is_played_again_with_the_same_decision(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    with Study(path, Tiny, **SETTINGS) as study:
        study.play(7)
        asked = study.ask()
    with Study(path, Tiny) as study:
        assert [play.status for play in study.plays][-1] == "running"
        again = study.ask()
        assert (again.number, again.seed, again.first_row()) == (asked.number, asked.seed, asked.first_row())
        study.tell(again, again.run())
        study.play(4)
        with Study(played, Tiny, read_only=True) as whole:
            assert same(study.plays, whole.plays)


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


def test_recommending_before_playing(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Tiny) as study, pytest.raises(StudyError, match="no finished plays"):
        study.recommend(a=1.0)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 4}, "seed was 3 and is now 4"),
        ({"schedule": "quick"}, "schedule.name was tiny and is now quick"),
        ({"bandit": mt.Single()}, "bandit.name was sequential and is now single"),
        ({"bandit": mt.Sequential(policy=mt.UCB(c=2.0))}, "bandit.policy.c was 1.0 and is now 2.0"),
        ({"reward": "residual"}, "reward was error and is now residual"),
        ({"reward": "error+time:30"}, "reward was error and is now error"),
        ({"solver": {"hidden": (5,)}}, "solver.hidden was"),
        ({"family": "poisson"}, "family.name was tiny and is now poisson"),
    ],
)
def test_other_settings_are_refused_and_named(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    Study(tmp_path / "a.db", Tiny, **SETTINGS).close()
    with pytest.raises(StudyError, match=named):
        Study(tmp_path / "a.db", **({"family": Tiny, **SETTINGS} | changed))
    Study(tmp_path / "a.db", Tiny, **SETTINGS).close()


def test_settings_are_found_in_the_file(tmp_path: Path) -> None:
    bandit = mt.Single(policy=mt.Thompson(joint=True), kernel="paper", random_plays=2)
    schedule = (mt.Phase(mt.Adam(1e-3), 3), mt.Phase(mt.GaussNewton(damping=0.5), 2, resample=1))
    solver = {"hidden": (4, 4), "points": mt.Points(9, 8, 7), "precision": "float32"}
    Study(tmp_path / "a.db", "poisson", bandit, schedule, "error+time:120", 7, solver=solver).close()
    with Study(tmp_path / "a.db") as study:
        assert study.settings.bandit_settings == bandit
        assert study.settings.schedule == mt.Schedule("custom", schedule)
        assert study.settings.options == SolverOptions(**solver).over(DEFAULTS)
        assert (study.settings.reward.exchange, study.settings.seed) == (120.0, 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "poison"}, "no family"),
        ({"schedule": "slow"}, "no schedule"),
        ({"seed": -1}, "seed"),
        ({"reward": "luck"}, "no reward 'luck'"),
        ({"reward": "error:3"}, "takes no number"),
        ({"reward": "error+time:0"}, "positive number of seconds"),
        ({"family": tiny.Blind, "reward": "error"}, "needs a reference"),
        ({"solver": {"speed": 2}}, "no solver option 'speed'"),
        ({"schedule": [mt.Phase(mt.Adam(), 3, conditions="u")]}, "fixes the conditions"),
        ({"bandit": mt.Sequential(kernel="nice")}, "nice"),
        ({"start_from": "nothing.db"}, "there is no ledger"),
        ({"start_from": "heat"}, "no ready-made ledger"),
    ],
)
def test_bad_settings_leave_no_file(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.MetalicError, match=message):
        Study(tmp_path / "a.db", **({"family": Tiny} | arguments))
    assert not list(tmp_path.iterdir())


def test_bad_calls(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="say which family"):
        Study(tmp_path / "a.db")
    with Study(tmp_path / "a.db", Tiny, **SETTINGS) as study:
        for plays in (0, -1, 1.5, True):
            with pytest.raises(StudyError, match="at least 1 more play"):
                study.play(plays)  # type: ignore[arg-type]
        for workers in (0, -2, None, 1.5):
            with pytest.raises(StudyError, match=r"worker"):
                study.play(1, workers=workers)
        with pytest.raises(StudyError, match="no Dask scheduler answers"):
            study.play(1, workers="tcp://127.0.0.1:9")
        assert study.plays == []
    with Study(tmp_path / "a.db", Tiny, read_only=True) as study, pytest.raises(StudyError, match="open for reading"):
        study.play(1)


def test_told_outcomes_are_checked(tmp_path: Path) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        task = study.ask()
        good = tiny.pretend(task)
        bad = Outcome(
            "done", (*good.phases[:1], type(good.phases[1])(**(vars(good.phases[1]) | {"reward": math.nan}))), {}, ""
        )
        with pytest.raises(StudyError, match="finite"):
            study.tell(task, bad)
        with pytest.raises(StudyError, match="2 phases"):
            study.tell(task, Outcome("done", good.phases[:1], {}, ""))
        study.tell(task, good)
        with pytest.raises(StudyError, match="is not running"):
            study.tell(task, good)


def test_retries_then_failure_and_the_study_goes_on(tmp_path: Path, pretending: Any) -> None:
    calls: list[int] = []

    def sometimes(task: Task) -> Outcome:
        calls.append(task.number)
        if task.number == 2 or (task.number == 4 and calls.count(4) < 3):
            raise MemoryError("out of memory")
        return tiny.pretend(task)

    pretending(sometimes)
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
        plays = study.plays
    assert calls == [1, 2, 2, 2, 3, 4, 4, 4, 5, 6]
    assert [play.status for play in plays] == ["done", "failed", "done", "done", "done", "done"]
    assert plays[1].message == "MemoryError: out of memory"
    assert [play.attempts for play in plays] == [1, 3, 1, 3, 1, 1]
    assert plays[5].seen == (1, 3, 4, 5)  # a failed play teaches nothing


def test_five_failures_in_a_row_stop_the_study(tmp_path: Path, pretending: Any) -> None:
    def never(task: Task) -> Outcome:
        raise RuntimeError(f"no luck with {task.number}")

    pretending(never)
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        with pytest.raises(StudyError, match=r"5 plays in a row failed.*RuntimeError: no luck with 5"):
            study.play(20)
        assert [play.status for play in study.plays] == ["failed"] * 5
        pretending()
        study.play(2)
        assert study.finished_count == 7


def test_a_diverged_play_is_an_outcome(tmp_path: Path) -> None:
    wild = (mt.Phase(mt.Adam(1e300), 5), mt.Phase(mt.Adam(1e-3), 5))
    bandit = mt.Sequential(random_plays=2)
    with Study(tmp_path / "a.db", Tiny, bandit, wild, solver={"hidden": (4,)}) as study:
        study.play(3)
        plays = study.plays
        assert {play.status for play in plays} == {"diverged"}
        assert all(play.error == 100.0 and play.reward == -2.0 for play in plays)
        assert plays[0].phases[-1].stop_reason == "diverged (loss not finite)"
        assert study.recommend(a=1.0).expected == pytest.approx(100.0)


def test_plays_in_flight_are_counted(tmp_path: Path, pretending: Any) -> None:
    bandit = mt.Sequential(random_plays=2)
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:
        study.play(3)
        tasks = [study.ask() for _ in range(3)]
        assert [task.number for task in tasks] == [4, 5, 6]
        assert [len(task.chooser.pending) for task in tasks] == [0, 1, 2]
        assert all(len(task.chooser.learned.history) == 3 for task in tasks)
    with Study(tmp_path / "a.db", Tiny) as study:  # all three were lost, and are asked for again as they were
        again = [study.ask() for _ in range(3)]
        assert [task.chooser.first for task in again] == [task.chooser.first for task in tasks]
        assert [task.chooser.pending for task in again] == [task.chooser.pending for task in tasks]


def test_the_first_plays_may_be_given(tmp_path: Path, pretending: Any) -> None:
    bandit = mt.Sequential(first=["x", "textbook", "x"], random_plays=8)
    given = [("x",), ("u",), ("u", "uavg"), ("uavg",), ("u", "uavg", "x"), ("x",)]
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:
        study.play(10)
        plays = study.plays
        assert [study.was_random(play) for play in plays] == [False] * 6 + [True] * 2 + [False] * 2
        chooser = METHODS["learned"].setup(study.settings, study.learned).chooser((0,))
        chooser.begin({"a": 1.0})
        assert chooser.choose(0, None).mean is not None  # a test begins with what was learned
    assert [play.phases[0].conditions for play in plays[:6]] == given
    assert [play.phases[1].conditions for play in plays[:6]] == given
    assert [play.phases[0].mean is None for play in plays] == [True] * 8 + [False] * 2
    with Study(tmp_path / "a.db", Tiny, bandit, **SETTINGS) as study:  # the same words mean the same settings
        assert study.settings.bandit_settings.first == (4, 1, 3, 2, 7, 4)
    with pytest.raises(StudyError, match=r"bandit.first was \[4, 1, 3, 2, 7, 4\] and is now"):
        Study(tmp_path / "a.db", Tiny, mt.Sequential(first=["x"], random_plays=8), **SETTINGS)
    with pytest.raises(ConditionError, match="no condition 'y'"):
        Study(tmp_path / "b.db", Tiny, mt.Sequential(first=["u,y"]), **SETTINGS)
    assert not (tmp_path / "b.db").exists()


def test_start_from_another_study(tmp_path: Path, pretending: Any) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
    bandit = mt.Sequential(random_plays=5)
    settings = SETTINGS | {"seed": 9}
    with Study(tmp_path / "b.db", Tiny, bandit, **settings, start_from=tmp_path / "a.db") as study:
        assert len(study.borrowed) == 6
        assert study.finished_count == 0
        study.play(2)
        first = study.plays[0]
        assert first.seen == (-5, -4, -3, -2, -1, 0)
        assert first.phases[0].mean is not None  # six plays are known: no more random ones
    (tmp_path / "a.db").unlink()
    with Study(tmp_path / "b.db", Tiny) as study:
        study.play(1)
        assert study.recommend(a=1.0).plays == 9
    with pytest.raises(StudyError, match=r"its family is tiny"):
        Study(tmp_path / "c.db", "poisson", schedule=SCHEDULE, start_from=tmp_path / "b.db")


def test_sets_given_first_are_played_after_borrowed_ones_too(tmp_path: Path, pretending: Any) -> None:
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(6)
    bandit = mt.Sequential(first=["x", "u,x"], random_plays=5)
    with Study(tmp_path / "b.db", Tiny, bandit, **SETTINGS, start_from=tmp_path / "a.db") as study:
        study.play(4)
        plays = study.plays
        assert [play.phases[1].conditions for play in plays[:2]] == [("x",), ("u", "x")]
        assert [play.phases[0].mean is None for play in plays] == [True, True, False, False]
        assert not any(study.was_random(play) for play in plays)


def test_tables(tmp_path: Path, pretending: Any) -> None:
    pandas = pytest.importorskip("pandas")
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(4)
        frame, plays = study.to_pandas(), study.plays
        for suffix in ("csv", "json", "parquet"):
            study.export(tmp_path / f"out.{suffix}")
        with pytest.raises(FileError, match=r"\.csv, \.json, \.parquet"):
            study.export(tmp_path / "out.xls")
        with pytest.raises(FileError, match="cannot write"):
            study.export(tmp_path / "none" / "out.csv")
    errors = [play.error for play in plays]
    assert frame["error"].tolist() == errors
    assert frame["error_2"].tolist() == errors
    with (tmp_path / "out.csv").open() as file:
        assert [float(row["error"]) for row in csv.DictReader(file)] == errors
    assert [row["error"] for row in json.loads((tmp_path / "out.json").read_text())] == errors
    parquet = pandas.read_parquet(tmp_path / "out.parquet")
    assert parquet["error"].tolist() == errors
    assert parquet["conditions_1"].tolist() == [",".join(play.phases[0].conditions) for play in plays]


def test_a_changed_family_file_is_warned_of(tmp_path: Path) -> None:
    source = Path(tiny.__file__).read_text()
    own = tmp_path / "own.py"
    own.write_text(source)
    Study(tmp_path / "a.db", f"{own}:Tiny", **SETTINGS).close()
    Study(tmp_path / "a.db", f"{own}:Tiny").close()
    own.write_text(source + "\n")
    with pytest.warns(UserWarning, match="'tiny' has changed"):
        Study(tmp_path / "a.db", f"{own}:Tiny").close()


def test_contexts_and_seeds_follow_from_the_seed_and_the_number(tmp_path: Path, pretending: Any) -> None:
    tables = []
    for name, seed, bandit in (("a", 3, RANDOM), ("b", 3, mt.Single(policy=mt.Random())), ("c", 4, RANDOM)):
        with Study(tmp_path / f"{name}.db", Tiny, bandit, SCHEDULE, seed=seed) as study:
            study.play(50)
            tables.append([(play.parameters["a"], play.seed) for play in study.plays])
    assert tables[0] == tables[1]
    assert not set(tables[0]) & set(tables[2])
    values = np.array([a for a, _ in tables[0]])
    assert 1.05 < values.mean() < 1.45  # uniform on [0.5, 2]: mean 1.25, deviation 0.06
