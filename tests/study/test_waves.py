"""Waves: the same members whoever solves them, in whatever order they are ready, and after a kill."""

import json
import signal
import subprocess
import zlib
from collections import deque

import numpy as np
import pytest
from small import SOLVER, Line, untrained
from tiny import HERE, METALIC

import metalic as mt
from metalic.errors import LibraryError, StudyError
from metalic.study import Library
from metalic.study.continuation import Pass
from metalic.study.driver import RETRIES
from metalic.study.waves import SPACING, Draft, MemberTask, in_order, waves

FAMILY = f"{HERE / 'small.py'}:Line"
START = np.array([[0.0]])


def on_a_line(count):
    return np.linspace(0, 1, count)[:, None]


def test_a_coarse_sweep_goes_from_neighbour_to_neighbour():
    assert list(waves(on_a_line(9), START)) == [[n] for n in range(9)]
    assert list(waves(on_a_line(9), np.array([[1.0]]))) == [[n] for n in reversed(range(9))]
    assert list(waves(on_a_line(5), np.array([[0.5]]))) == [[2], [1, 3], [0, 4]]


def test_all_others_are_one_wave_between_those_of_the_net():
    places = on_a_line(101)
    *chain, last = waves(places, START)
    net = [number for wave in chain for number in wave]
    assert sorted([*net, *last]) == list(range(101))
    assert len(last) > 80
    apart = np.diff(places[net, 0])
    assert apart.min() >= SPACING - 1e-9
    assert apart.max() < SPACING + 0.01 + 1e-9
    assert np.abs(places[last] - places[net].T).min(axis=1).max() < SPACING


def test_fronts_run_over_a_grid():
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), indexing="ij"), -1).reshape(-1, 2)
    found = list(waves(grid, np.zeros((1, 2))))
    steps = [sorted({round(3 * grid[number].sum()) for number in wave}) for wave in found]
    assert steps == [[n] for n in range(7)]
    assert [len(wave) for wave in found] == [1, 2, 3, 4, 3, 2, 1]


class Backwards:
    """A pool of three whose last task is ready first; some tasks fail a few times."""

    def __init__(self, failures=None):
        self.tasks, self.failures, self.largest = deque(), dict(failures or {}), 0

    def capacity(self):
        return 3

    def submit(self, task):
        self.tasks.append(task)
        self.largest = max(self.largest, len(self.tasks))

    def next(self):
        task = self.tasks.pop()
        error = self.failures.get(task.number, deque())
        return task, (error.popleft() if error else task.values["k"])


def tasks(count):
    return [MemberTask(number, None, {"k": 10.0 * number}) for number in range(count)]


def test_results_come_in_the_order_of_the_tasks():
    pool = Backwards()
    assert [(task.number, result) for task, result in in_order(pool, tasks(7))] == [(n, 10.0 * n) for n in range(7)]
    assert pool.largest == 3


def test_a_lost_worker_costs_an_attempt_and_a_failed_member_costs_itself():
    lost, bad = RuntimeError("the worker died"), LibraryError("no such luck")
    pool = Backwards({1: deque([lost] * RETRIES), 2: deque([lost] * (RETRIES + 1)), 4: deque([bad])})
    found = {task.number: result for task, result in in_order(pool, tasks(6))}
    assert found == {0: 0.0, 1: 10.0, 2: lost, 3: 30.0, 4: bad, 5: 50.0}


def test_a_draft_writes_nothing(tmp_path):
    with Library(tmp_path / "a.db", Line, solver=SOLVER) as library:
        library.add(untrained(Line, {"k": 1.5}, (6,), error=1e-4))
        draft = Draft(library, library)
        draft.add(untrained(Line, {"k": 1.6}, (6,), error=1e-4))
        assert [len(draft), len(library)] == [2, 1]
    assert [member.parameters for member in Library(tmp_path / "a.db", Line)] == [{"k": 1.5}]


def test_workers_are_checked_before_anything_is_solved(tmp_path):
    with pytest.raises(StudyError, match="at least 1 worker is needed, not 0"):
        mt.sweep(Line, k=[1.0, 1.5], library=tmp_path / "a.db", workers=0)
    assert not (tmp_path / "a.db").exists()


def pretended(self, values):
    """In the place of `Pass.member`: networks that follow from all that the member could start from."""
    seen = sorted((one.parameters["k"], float(one.networks.theta.sum())) for one in self.library)
    seed = zlib.crc32(repr((dict(values), seen)).encode())
    near = self.library.nearest(values)
    return self._keep(untrained(Line, values, (6,), seed, error=1e-4), near[0].networks.branch if near else None)


class Unordered(Backwards):
    """The same pool, which runs its tasks."""

    def next(self):
        task = self.tasks.pop()
        return task, task.run()

    def close(self):
        assert not self.tasks


def table(path):
    """What a library holds, without times."""
    found = Library(path, Line).members
    return [(one.row.number, one.parameters, one.networks.branch, one.networks.theta.tolist()) for one in found]


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.setattr(Pass, "member", pretended)
    mt.sweep(Line, k=(1.0, 2.0, 23), library=tmp_path / "whole.db", solver=SOLVER)
    return table(tmp_path / "whole.db")


def test_members_do_not_depend_on_which_is_ready_first(whole, tmp_path, monkeypatch):
    pool = Unordered()
    monkeypatch.setattr("metalic.study.waves.open_pool", lambda _: pool)
    steps = []
    mt.sweep(Line, k=(1.0, 2.0, 23), library=tmp_path / "a.db", solver=SOLVER, workers=3, progress=steps.append)
    assert pool.largest == 3
    assert table(tmp_path / "a.db") == whole
    assert [step.finished_count for step in steps] == list(range(1, 24))


def test_a_sweep_stopped_after_any_member_ends_as_if_it_had_not_been(whole, tmp_path):
    class StopError(Exception):
        pass

    for last in range(1, 23):
        path, stops = tmp_path / f"{last}.db", []

        def stop(step, last=last, stops=stops):
            stops.append(step)
            if len(stops) == last:
                raise StopError

        with pytest.raises(StopError):
            mt.sweep(Line, k=(1.0, 2.0, 23), library=path, solver=SOLVER, progress=stop)
        assert table(path) == whole[:last]
        mt.sweep(Line, k=(1.0, 2.0, 23), library=path, solver=SOLVER)
        assert table(path) == whole


@pytest.mark.slow
def test_members_do_not_depend_on_the_workers_nor_on_a_kill(tmp_path, environment):
    """One worker, and two that are killed with their driver in the last wave and run again: the same bits."""
    command = [*METALIC, "sweep", FAMILY, "-p", "k=1.0:2.0:23", "--library"]
    process = subprocess.Popen(
        [*command, "b.db", "--workers", "2"], env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("12/23"):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    begun = Library(tmp_path / "b.db", Line).members
    assert 12 <= len(begun) < 23
    for name, workers in (("a.db", "1"), ("b.db", "2")):
        words = [*command, name, "--workers", workers, "--json", "--figure", f"{name}.png"]
        done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["members"]) == 23
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    one, two = (Library(tmp_path / name, Line).members for name in ("a.db", "b.db"))
    assert [member.row for member in two[: len(begun)]] == [member.row for member in begun]
    for mine, theirs in zip(one, two, strict=True):
        assert (mine.row.number, mine.parameters) == (theirs.row.number, theirs.parameters)
        assert mine.networks.branch == theirs.networks.branch
        np.testing.assert_array_equal(mine.networks.theta, theirs.networks.theta)
