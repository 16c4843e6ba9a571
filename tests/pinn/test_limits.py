"""A time limit and a checkpoint: a solve that was stopped continues as if nothing had happened."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small
from small import ADAM, HIDDEN, NEWTON, POINTS, Line

from metalic.errors import FileError, MetalicError, ScheduleError
from metalic.pinn import Phase, Solution, checkpoint
from metalic.pinn.limits import Limits
from metalic.pinn.optimizers import Status
from metalic.solving import solve

PHASES = (Phase(ADAM, 30, resample=15), Phase(NEWTON, 24, resample=6, adaptive=True))


class StoppedError(Exception):
    """Stands for the death of the process."""


def line(conditions="u,c", **settings):
    return solve(Line, conditions, PHASES, **({"hidden": HIDDEN, "points": POINTS, "k": 2.0} | settings))


def stop_at(phase, iteration):
    def progress(report):
        if (report.phase, report.iteration) == (phase, iteration):
            raise StoppedError

    return progress


@pytest.fixture(scope="module")
def whole():
    return line()


@pytest.fixture
def often(monkeypatch):
    """A checkpoint after every chunk instead of every minute."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


def same(one, other):
    np.testing.assert_array_equal(one.theta, other.theta)
    for mine, others in zip(one.collocation, other.collocation, strict=True):
        np.testing.assert_array_equal(mine, others)
    assert [p.iterations for p in one.phases] == [p.iterations for p in other.phases]
    assert [[h[::2] for h in p.history] for p in one.phases] == [[h[::2] for h in p.history] for p in other.phases]
    assert one.conditions == other.conditions


# --- The time limit --------------------------------------------------------------------------------------------------


def test_a_time_limit_ends_a_phase_and_is_the_stop_reason(tmp_path):
    solution = line(seconds=1e-6)
    (phase,) = solution.phases  # later ones are not run
    assert (phase.iterations, phase.stop_reason) == (15, "time limit reached")
    assert np.isfinite(solution.loss)
    assert not solution.diverged
    again = Solution.load(solution.save(tmp_path / "a.npz"), family=Line)
    assert again.phases[0].stop_reason == "time limit reached"


def test_the_limit_counts_the_seconds_of_all_phases():
    """Each phase alone is within the limit; together they are not."""
    limits = Limits(left=1.0)
    assert [limits.spend(0.4) for _ in range(3)] == [Status.RUNNING, Status.RUNNING, Status.TIME]


def test_a_generous_limit_changes_nothing(whole):
    solution = line(seconds=1e6)
    same(solution, whole)
    assert {phase.stop_reason for phase in solution.phases} == {"budget used up"}


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "soon"])
def test_a_time_limit_is_a_positive_number(seconds):
    with pytest.raises(ScheduleError, match="'seconds' is a positive number"):
        line(seconds=seconds)


# --- The checkpoint --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("phase", "iteration"), [(0, 15), (0, 30), (1, 0), (1, 6), (1, 18), (1, 24)])
def test_a_solve_that_was_stopped_anywhere_continues_to_the_same_bits(phase, iteration, tmp_path, often, whole):
    path = tmp_path / "solve.npz"
    with pytest.raises(StoppedError):
        line(checkpoint=path, progress=stop_at(phase, iteration))
    assert path.exists() == ((phase, iteration) != (0, 15))  # the first chunk was not yet saved
    seen = []
    same(line(checkpoint=path, progress=seen.append), whole)
    assert not path.exists()  # the solve is over
    if (phase, iteration) >= (1, 18):
        assert {report.phase for report in seen} == {1}  # the first phase was not run again


def test_a_checkpoint_is_written_once_a_minute_not_after_every_chunk(tmp_path):
    path = tmp_path / "solve.npz"
    with pytest.raises(StoppedError):
        line(checkpoint=path, progress=stop_at(1, 24))
    assert not path.exists()  # all of this took less than a minute


def test_a_solve_that_its_time_limit_ended_continues_with_the_same_call(tmp_path, whole):
    path = tmp_path / "solve.npz"
    calls = 0
    while calls == 0 or path.exists():
        solution = line(checkpoint=path, seconds=1e-6)
        calls += 1
    same(solution, whole)
    assert calls == 5  # 15 + 15 iterations, whose last chunk ends the phase, and 6 + 6 + 6 + 6
    assert sum(h[1] for h in solution.phases[1].history) > 0
    assert list(solution.phases[1].history) == sorted(solution.phases[1].history)  # seconds continue, too


@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 1}, "seed"), ({"k": 1.5}, "parameters"), ({"conditions": "u"}, "conditions"), ({"hidden": (4,)}, "opt")],
)
def test_the_checkpoint_of_another_solve_is_refused(change, named, tmp_path):
    path = tmp_path / "solve.npz"
    line(checkpoint=path, seconds=1e-6)
    before = path.read_bytes()
    with pytest.raises(FileError, match=f"belongs to another solve.*{named}"):
        line(**({"checkpoint": path} | change))
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "solve.npz"
    line(checkpoint=path, seconds=1e-6)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match="not a checkpoint, or is damaged"):
        line(checkpoint=path)


@pytest.mark.parametrize("given", [3, "no/such/directory/solve.npz"])
def test_a_place_that_cannot_be_written(given):
    with pytest.raises(MetalicError):
        line(checkpoint=given, seconds=1e-6)


def test_it_survives_a_kill(tmp_path, whole):
    path, homes = tmp_path / "solve.npz", [str(Path(one).parent) for one in (__file__, small.__file__)]
    script = f"""
import os, signal, sys
sys.path[:0] = {homes!r}
from test_limits import checkpoint, line
checkpoint.EVERY = 0.0
def progress(report):
    if (report.phase, report.iteration) == (1, 18):
        os.kill(os.getpid(), signal.SIGKILL)
line(checkpoint={str(path)!r}, progress=progress)
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    seen = []
    solution = line(checkpoint=path, progress=seen.append)
    np.testing.assert_allclose(solution.theta, whole.theta, rtol=1e-6)  # another process may see other cores
    assert [report.iteration for report in seen] == [0, 18, 24]
