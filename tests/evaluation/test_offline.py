"""Offline tests: methods are what they say, pairs are pairs, and a file can be continued."""

from pathlib import Path

import decay
import numpy as np
import pytest
from scipy.stats import wilcoxon

import metalic as mt
from metalic.errors import StudyError
from metalic.evaluation.offline import OfflineTest, compare, run_test, statistics
from metalic.study import Study
from metalic.study.driver import StudyProgress

CHEAP = ("learned", "random-seq", "all", "fixed")


def test_pairs_and_going_on(short_study: Study, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(progress: StudyProgress) -> None:
        if progress.finished_count == 3:
            raise StopError

    path = tmp_path / "t.db"
    with pytest.raises(StopError):
        run_test(short_study, path, pdes=2, methods=CHEAP, progress=stop)
    assert sum(len(rows) for rows in OfflineTest.read(path).rows.values()) == 3
    before = OfflineTest.read(path).rows["learned"][1]
    run_test(short_study, path, pdes=2, methods=CHEAP)
    found = run_test(short_study, path, pdes=3, methods=(*CHEAP, "xpinn"), oracle=2)
    fresh = run_test(short_study, tmp_path / "fresh.db", pdes=3, methods=(*CHEAP, "xpinn"), oracle=2)
    assert found.rows["learned"][1] == before
    assert found.methods == ("learned", "random-seq", "all", "xpinn", "fixed", "oracle")
    played = {tuple(play.parameters.values()) for play in short_study.plays}
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


def test_summary_is_what_scipy_says(short_study: Study, tmp_path: Path) -> None:
    found = run_test(short_study, tmp_path / "t.db", pdes=6, methods=("learned", "all"))
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


def test_what_does_not_fit_is_refused(short_study: Study, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    run_test(short_study, path, pdes=1, methods=("learned",))
    with pytest.raises(StudyError, match="no method 'pinn'"):
        run_test(short_study, path, pdes=1, methods=("pinn",))
    with pytest.raises(StudyError, match="seed was 0 and is now 1"):
        run_test(short_study, path, pdes=1, methods=("learned",), seed=1)
    with pytest.raises(StudyError, match="schedule 'custom' has 1"):
        run_test(short_study, path, pdes=1, schedule=(mt.Phase(mt.Adam(), 3),))
    with pytest.raises(StudyError, match="at least 1 PDE"):
        run_test(short_study, path, pdes=0)
    with pytest.raises(StudyError, match="not of an offline test"):
        OfflineTest.read(short_study.path)
    with pytest.raises(StudyError, match="trials was"):
        Study(path, decay.Decay)  # a test is not a study to continue
    more = decay.play(tmp_path / "more.db", 31)
    with (
        Study(more, decay.Decay, read_only=True) as other,
        pytest.raises(StudyError, match="plays was 30 and is now 31"),
    ):
        run_test(other, path, pdes=1)
