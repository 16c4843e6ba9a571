"""Plays in parallel processes: all are played, a lost worker costs one attempt, an absent scheduler is reported."""

import os
import signal
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import pytest
import tiny
from tiny import RANDOM, SETTINGS, Tiny

import metalic as mt
from metalic.bandit import find_policy
from metalic.errors import StudyError
from metalic.study import Study
from metalic.study.driver import Driver, StudyProgress
from metalic.study.play import Outcome, Task
from metalic.study.workers import Cluster, open_pool


@pytest.fixture(scope="module")
def pool() -> Any:
    pool = open_pool(2)
    yield pool
    pool.close()


def deadly(task: Task) -> Outcome:
    """Play 3 kills its worker the first time; every play reports its process and its cores."""
    mark = Path(os.environ["METALIC_TEST_MARK"])
    if task.number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    found = tiny.pretend(task)
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return Outcome(found.status, found.phases, {"cores": cores}, str(os.getpid()))


def test_two_workers_of_which_one_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METALIC_TEST_MARK", str(tmp_path / "mark"))
    cloudpickle.register_pickle_by_value(tiny)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr("metalic.study.workers.run", deadly)
    seen: list[StudyProgress] = []
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(8, workers=2, progress=seen.append)
        plays = study.plays
    assert [play.status for play in plays] == ["done"] * 8
    assert [play.attempts for play in plays] == [1, 1, 2, 1, 1, 1, 1, 1]
    assert all(play.versions is not None and "," not in play.versions["cores"] for play in plays)
    assert {progress.goal for progress in seen} == {8}
    assert seen[-1].finished_count == 8


def test_where_to_watch(pool: Cluster) -> None:
    """Dask's page answers where Bokeh is installed; elsewhere the message says what to install."""
    assert open_pool(pool) is pool
    if find_spec("bokeh"):
        with urllib.request.urlopen(pool.dashboard.removeprefix("Dask's dashboard: "), timeout=60) as page:
            assert b"Dask" in page.read()
    else:
        assert pool.dashboard == "no Dask dashboard: it needs Bokeh, pip install 'metalic[cluster]'"


def test_a_scheduler_without_a_dashboard() -> None:
    class Silent:
        @property
        def dashboard_link(self) -> str:
            raise KeyError("dashboard")  # as distributed's client does

    assert "pip install" in Cluster(Silent()).dashboard
    assert Cluster(SimpleNamespace(dashboard_link="http://here")).dashboard == "Dask's dashboard: http://here"
    assert open_pool(1).dashboard == ""


def test_real_plays_on_two_workers(tmp_path: Path, pool: Cluster) -> None:
    """What a play gives does not depend on where it is played: random sets make the tables comparable."""
    tables = []
    for name in ("here", "there"):
        with Study(tmp_path / f"{name}.db", Tiny, RANDOM, **SETTINGS) as study:
            if name == "here":
                study.play(4)
            else:
                Driver(study, pool, 4, None).run()
            tables.append(study.plays)
    for here, there in zip(*tables, strict=True):
        assert (here.seed, here.parameters, here.sets) == (there.seed, there.parameters, there.sets)
        assert here.error == pytest.approx(there.error, rel=1e-9)
    assert any(play.pending for play in tables[1])


def test_a_family_that_workers_cannot_import(tmp_path: Path, pool: Cluster) -> None:
    """A family from a file goes to workers with its code, and is compiled there once."""
    (tmp_path / "own.py").write_text(Path(tiny.__file__).read_text())
    with Study(tmp_path / "a.db", f"{tmp_path / 'own.py'}:Tiny", RANDOM, **SETTINGS) as study:
        Driver(study, pool, 6, None).run()
        plays = study.plays
    assert [play.status for play in plays] == ["done"] * 6
    assert [play.attempts for play in plays] == [1] * 6


def test_everything_of_a_users_own_on_workers(tmp_path: Path, pool: Cluster) -> None:
    """Condition, optimizer, policy, kernel and reward go with the family; nothing stays registered here."""
    (tmp_path / "all.py").write_text((Path(__file__).parents[1] / "helpers" / "own.py").read_text())
    family, schedule, policy, kernel, reward = (
        f"{tmp_path / 'all.py'}:{name}" for name in ("Own", "SCHEDULE", "Last", "Flat", "Plain")
    )
    bandit = mt.Sequential(policy=find_policy(policy), kernel=kernel, random_plays=2)
    before = set(cloudpickle.list_registry_pickle_by_value())
    with Study(tmp_path / "a.db", family, bandit, schedule, reward) as study:
        (tmp_path / "all.py").unlink()
        Driver(study, pool, 4, None).run()
        plays = study.plays
    assert [play.status for play in plays] == ["done"] * 4, [play.message for play in plays]
    assert {play.phases[0].optimizer for play in plays} == {"descent"}
    assert all(play.reward == -play.error for play in plays if play.error is not None)
    assert set(cloudpickle.list_registry_pickle_by_value()) == before


def test_workers_keep_their_memory(pool: Cluster) -> None:
    """No setting of Dask's makes malloc give back every array, which would cost a quarter of a play."""
    environments = pool.client.run(lambda: dict(os.environ)).values()
    assert len(environments) == 2
    assert all("MALLOC_TRIM_THRESHOLD_" not in one and one["OMP_NUM_THREADS"] == "1" for one in environments)


def test_an_existing_cluster(tmp_path: Path, pool: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cloudpickle.register_pickle_by_value(tiny)
    monkeypatch.setattr("metalic.study.workers.run", tiny.pretend)
    address = pool.client.scheduler.address
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(3, workers=address)
        study.play(3, workers=pool.client)
        assert study.finished_count == 6
    assert pool.client.status == "running"  # a client that was passed in stays open


def test_no_scheduler() -> None:
    with pytest.raises(StudyError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        open_pool("tcp://127.0.0.1:9")
    with pytest.raises(StudyError, match="no Dask scheduler answers at 'nonsense'"):
        open_pool("nonsense")
