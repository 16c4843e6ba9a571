"""Solves from a library: against exact solutions and cold solves; training ends when it should."""

from dataclasses import replace

import numpy as np
import pytest
from small import SOLVER, Line

import metalic as mt
from metalic.errors import StartError
from metalic.pinn import Report
from metalic.pinn.optimizers import Status
from metalic.study import Library
from metalic.study.warm import Warm, Watch

X = np.linspace(0, 1, 31)


def exact(k):
    return np.sin(k * X) / np.sin(k)


@pytest.mark.parametrize("k", [1.1, 1.77, 2.33])
def test_an_unseen_member_is_interpolated_and_solved(prepared, k):
    look = prepared(k=k)
    assert np.abs(look(x=X) - exact(k)).max() < 0.1
    warm = mt.solve(Line, k=k, start=prepared)
    assert [phase.optimizer for phase in warm.phases] == ["gauss-newton"]
    assert warm.phases[0].iterations <= 50
    assert warm.start["kind"] == "interpolated"
    assert np.abs(warm(x=X) - exact(k)).max() < 1e-3
    assert warm.error < look.error


def test_warm_and_cold_agree_with_the_exact_solution_and_each_other(prepared):
    warm = mt.solve(Line, k=1.77, start=prepared)
    cold = mt.solve(Line, k=1.77, cold=True, **SOLVER)
    assert cold.start is None
    size = np.linalg.norm(exact(1.77))
    assert np.linalg.norm(warm(x=X) - cold(x=X)) / size < 2 * (warm.error + cold.error)


def test_the_file_of_a_library_is_a_start_and_options_keep_the_schedule(prepared):
    found = mt.solve(Line, "u,c", [mt.Phase(mt.GaussNewton(), 7)], k=1.3, start=prepared.path, **SOLVER)
    assert (found.schedule, found.phases[0].iterations) == ("custom", 7)
    assert found.start["source"] == str(prepared.path)


def test_a_useless_library_leads_to_a_cold_solve(prepared, tmp_path):
    """Members that say they are good and are not: random weights with the losses of the others."""
    rng = np.random.default_rng(0)
    with Library(tmp_path / "bad.db", Line, solver=SOLVER) as library:
        for member in list(prepared)[::4]:
            solution = prepared(member.parameters)
            record = replace(solution.phases[0], error=1e-5, loss=member.loss * 1e-6)
            wild = replace(solution, theta=rng.normal(size=solution.theta.shape) * 3, phases=(record,))
            library.add(wild)
    assert Warm(library).solve({"k": 1.3}) is None
    found = mt.solve(Line, k=1.3, start=library)
    assert found.start is None
    assert found.error < 1e-3


def test_a_watch_ends_training_when_it_should():
    def after(*losses, expected=1e-8, least=10):
        watch = Watch(expected, least)
        return [
            watch(Report(0, 1, "gauss-newton", 10 * (n + 1), 100, loss, None, 1.0)) for n, loss in enumerate(losses)
        ]

    run, stop, enough = Status.RUNNING, Status.STOPPED, Status.ENOUGH
    assert after(1e-8) == [enough]  # as good as its neighbours
    assert after(1e-8, 1e-9, least=20) == [run, enough]
    assert after(1e-3, 1e-3) == [run, stop]  # hopeless
    assert after(1e-3, 1e-6, 1e-7, 0.9e-7) == [run, run, run, enough]  # it has stopped falling, near enough
    assert after(1e-3, 1e-5, 0.9e-5) == [run, run, run]  # too large to be content with


def test_a_start_and_cold_exclude_each_other(prepared):
    with pytest.raises(StartError, match="not both"):
        mt.solve(Line, k=1.5, start=prepared, cold=True)
