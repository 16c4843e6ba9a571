"""Offline tests: methods are what they say, pairs are pairs, and a file can be gone on with."""

from dataclasses import replace
from pathlib import Path

import decay
import numpy as np
import pytest
from scipy.stats import wilcoxon

import metalic as mt
from metalic.errors import StudyError
from metalic.evaluation.baselines import METHODS, union
from metalic.evaluation.offline import ORACLE, STRIDE, OfflineTest, compare, planner, run_test, statistics
from metalic.pinn.options import SolverOptions
from metalic.study import Study
from metalic.study.driver import StudyProgress

CHEAP = ("learned", "random-seq", "all", "fixed")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = decay.play(tmp_path_factory.mktemp("offline") / "a.db", 30)
    return Study(path, decay.Decay, read_only=True)


def test_single_domain_methods(study: Study) -> None:
    plan = planner(study)
    hidden = {}
    for name in ("pinn-sub", "pinn-merge-h", "pinn-merge-v"):
        task = plan.at(METHODS[name], {"a": 1.0}, seed=5)
        hidden[name] = task.options.hidden
        assert len(task.family.decomposition) == 1
        assert (task.family.points.collocation, task.family.points.boundary) == (32, 16)
        assert task.chooser.choose(0, None).conditions.bits == (0, 0, 0)
    assert hidden == {"pinn-sub": (3,), "pinn-merge-h": (6,), "pinn-merge-v": (3, 3)}
    given = replace(study.settings, options=SolverOptions(points=mt.Points(10, 6, 4)))
    setup = METHODS["pinn-sub"].setup(given, None)
    assert setup.options.points == union(mt.Points(10, 6, 4), 2) == mt.Points(20, 12, 4)
    assert setup.options.hidden == (20, 20)


def test_sets_of_the_methods(study: Study) -> None:
    plan = planner(study)

    def first(method: str, a: float = 1.0) -> tuple[str, ...]:
        return plan.at(METHODS[method], {"a": a}, seed=0, number=7).chooser.choose(0, None).conditions.names

    assert first("all") == ("u", "uavg", "x")
    assert first("xpinn") == ("uavg",)  # this family has no rc
    assert first("cpinn") == ("u", "uavg")  # nor c
    assert "u" in first("fixed")
    assert first("learned", 0.7) == study.recommend(a=0.7).conditions[0]
    poisson = mt.find_family("poisson")
    assert mt.Catalogue(poisson).names == poisson.conditions
    for name, wanted in (("xpinn", ("uavg", "rc")), ("cpinn", ("uavg", "c"))):
        method = METHODS[name]
        assert method.rule(mt.Catalogue(poisson), None).names == wanted  # type: ignore[attr-defined]
    advection = mt.Catalogue(mt.find_family("advection"))
    assert METHODS["cpinn"].rule(advection, None).names == ("u", "uavg")  # type: ignore[attr-defined]


def test_a_trial_is_an_ordinary_solve(study: Study, tmp_path: Path) -> None:
    found = run_test(study, tmp_path / "t.db", pdes=1, methods=("pinn-sub", "learned"))
    row, learned = found.rows["pinn-sub"][1], found.rows["learned"][1]
    whole = mt.solve(
        decay.Decay().undivided(), (), decay.SCHEDULE, seed=row.seed, parameters=row.parameters, **decay.SOLVER
    )
    assert row.error == pytest.approx(whole.error, rel=1e-9)
    advice = study.recommend(row.parameters)
    again = mt.solve(decay.Decay(), advice, decay.SCHEDULE, seed=row.seed, parameters=row.parameters, **decay.SOLVER)
    assert learned.error == pytest.approx(again.error, rel=1e-9)
    assert [phase.conditions for phase in learned.phases] == list(again.conditions)


def test_pairs_and_going_on(study: Study, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(progress: StudyProgress) -> None:
        if progress.finished_count == 3:
            raise StopError

    path = tmp_path / "t.db"
    with pytest.raises(StopError):
        run_test(study, path, pdes=2, methods=CHEAP, progress=stop)
    assert sum(len(rows) for rows in OfflineTest.read(path).rows.values()) == 3
    before = OfflineTest.read(path).rows["learned"][1]
    run_test(study, path, pdes=2, methods=CHEAP)
    found = run_test(study, path, pdes=3, methods=(*CHEAP, "xpinn"), oracle=2)
    fresh = run_test(study, tmp_path / "fresh.db", pdes=3, methods=(*CHEAP, "xpinn"), oracle=2)
    assert found.rows["learned"][1] == before
    assert found.methods == ("learned", "random-seq", "all", "xpinn", "fixed", "oracle")
    played = {tuple(play.parameters.values()) for play in study.plays}
    for name, rows in found.rows.items():
        assert list(rows) == [1, 2, 3]
        for pde, row in rows.items():
            assert row.same_outcome(fresh.rows[name][pde])
            assert (row.parameters, row.seed) == (
                found.rows["learned"][pde].parameters,
                found.rows["learned"][pde].seed,
            )
            assert tuple(row.parameters.values()) not in played
    oracle = found.measures("oracle")
    assert all(oracle[pde] <= row.error for rows in found.rows.values() for pde, row in rows.items())
    assert all(len(draws) == 2 for draws in found.draws.values())
    assert len({(row.phases[0].index, row.phases[1].index) for rows in found.draws.values() for row in rows}) > 1


def test_summary_is_what_scipy_says(study: Study, tmp_path: Path) -> None:
    found = run_test(study, tmp_path / "t.db", pdes=6, methods=("learned", "all"))
    ours, theirs = (np.array(list(found.measures(name).values())) for name in ("learned", "all"))
    learned, everything = found.summary()
    assert (learned.ratio, learned.p, learned.pdes) == (None, None, 6)
    assert everything.mean == pytest.approx(np.mean(theirs))
    assert everything.std == pytest.approx(np.std(theirs))
    assert everything.quartiles == pytest.approx(tuple(np.percentile(theirs, (25, 75))))
    assert everything.p == pytest.approx(wilcoxon(np.log(theirs), np.log(ours)).pvalue)
    assert everything.better == np.mean(theirs > ours)
    assert everything.ratio == pytest.approx(np.exp(np.median(np.log(theirs) - np.log(ours))))


def test_failures_are_counted() -> None:
    mean, _, median, quartiles, failures = statistics(np.array([0.1, 0.3, 100.0, np.inf]))
    assert (mean, median, failures) == (pytest.approx(100.4 / 3), 0.3, 0.5)
    assert quartiles == pytest.approx((0.2, 50.15))
    assert np.isnan(statistics(np.array([np.inf]))[0])
    assert compare(np.ones(3), np.ones(3)) == (1.0, 0.0, 1.0)


def test_what_does_not_fit_is_refused(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    run_test(study, path, pdes=1, methods=("learned",))
    with pytest.raises(StudyError, match="no method 'pinn'"):
        run_test(study, path, pdes=1, methods=("pinn",))
    with pytest.raises(StudyError, match="seed was 0 and is now 1"):
        run_test(study, path, pdes=1, methods=("learned",), seed=1)
    with pytest.raises(StudyError, match="schedule 'custom' has 1"):
        run_test(study, path, pdes=1, schedule=(mt.Phase(mt.Adam(), 3),))
    with pytest.raises(StudyError, match="at least 1 PDE"):
        run_test(study, path, pdes=0)
    with pytest.raises(StudyError, match="not of an offline test"):
        OfflineTest.read(study.path)
    with pytest.raises(StudyError, match="trials was"):
        Study(path, decay.Decay)  # a test is not a study to go on with
    more = decay.play(tmp_path / "more.db", 31)
    with (
        Study(more, decay.Decay, read_only=True) as other,
        pytest.raises(StudyError, match="plays was 30 and is now 31"),
    ):
        run_test(other, path, pdes=1)


def test_numbers_leave_room() -> None:
    numbers = [method.number for method in METHODS.values()]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < ORACLE < STRIDE
