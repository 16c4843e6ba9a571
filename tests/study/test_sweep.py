"""Many members by continuation: against exact solutions, killed and taken up again, exported."""

import itertools
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file
from tiny import HERE, METALIC, Tiny

import metalic as mt
from metalic.errors import FileError, LibraryError, ParameterError, StartError
from metalic.pinn import Report
from metalic.study import Library
from metalic.study.continuation import Pass
from metalic.study.warm import Warm, Watch

sys.path.insert(0, str(HERE.parent / "pinn"))
from small import Line

SOLVER = {"hidden": (6,), "points": mt.Points(24, 8, 6)}
X = np.linspace(0, 1, 31)


def exact(k):
    return np.sin(k * X) / np.sin(k)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Nine members of Line by continuation, in single precision."""
    path = tmp_path_factory.mktemp("library") / "line.db"
    return mt.prepare(path, Line, members=9, solver=SOLVER)


# --- Libraries made by continuation ----------------------------------------------------------------------------------


def test_a_prepared_library_covers_the_box_on_one_branch(prepared):
    assert [round(member.parameters["k"], 4) for member in prepared] == np.linspace(1, 2.5, 9).round(4).tolist()
    assert {member.networks.branch for member in prepared} == {1}
    assert all(member.error < 1e-3 for member in prepared)
    assert [member.row.phases[0].optimizer for member in prepared] == ["adam"] + 8 * ["gauss-newton"]
    assert {member.networks.theta.dtype.name for member in prepared} == {"float32"}


def test_weights_vary_continuously_along_it(prepared):
    """Each step is small against the weights: that is what interpolation rests on."""
    thetas = [np.asarray(member.networks.theta, float) for member in prepared]
    steps = [np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in itertools.pairwise(thetas)]
    assert max(steps) < 0.5


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


def test_a_library_that_exists_is_completed(prepared, tmp_path):
    path = tmp_path / "line.db"
    path.write_bytes(prepared.path.read_bytes())
    library = mt.prepare(path, Line, members=9)
    assert len(library) == 9
    assert path.read_bytes() == prepared.path.read_bytes()


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

    assert after(1e-8) == [True]  # as good as its neighbours
    assert after(1e-8, 1e-9, least=20) == [False, True]
    assert after(1e-3, 1e-3) == [False, True]  # hopeless
    assert after(1e-3, 1e-6, 1e-7, 0.9e-7) == [False, False, False, True]  # it has stopped falling, near enough
    assert after(1e-3, 1e-5, 0.9e-5) == [False, False, False]  # too large to be content with


# --- Sweeps ----------------------------------------------------------------------------------------------------------


def test_a_sweep_is_solved_in_order_and_exported(tmp_path):
    steps = []
    found = mt.sweep(Line, k=(1.0, 2.4, 8), library=tmp_path / "a.db", solver=SOLVER, progress=steps.append)
    ks = np.linspace(1.0, 2.4, 8)
    assert [values["k"] for values in found.parameters] == ks.tolist()
    assert [step.finished for step in steps] == list(range(1, 9))
    assert found.errors.max() < 1e-3
    for n, k in enumerate(ks):
        np.testing.assert_allclose(found.values(X[:, None])[n, :, 0], exact(k), atol=2e-3)
    with np.load(found.save(tmp_path / "a.npz")) as file:
        assert file["u"].shape == (8, 41)
        np.testing.assert_array_equal(file["k"], ks)
        by_npz = file["u"]
    content = netcdf_file(found.save(tmp_path / "a.nc"), "r", mmap=False)
    assert content.variables["u"].dimensions == ("member", "x")
    np.testing.assert_array_equal(content.variables["u"][:], by_npz)
    assert content.family == b"line"
    with pytest.raises(FileError, match=r"ends in .npz or .nc"):
        found.save(tmp_path / "a.txt")


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step.finished == 3:
            raise StopError

    whole = mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "whole.db", solver=SOLVER)
    with pytest.raises(StopError):
        mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "a.db", solver=SOLVER, progress=stop)
    assert len(Library(tmp_path / "a.db", Line)) == 3
    again = mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "a.db")
    np.testing.assert_array_equal(again.values(), whole.values())


def test_one_failed_member_does_not_end_a_sweep(tmp_path, monkeypatch):
    solve = Pass.member

    def fails(self, values, *more):
        if values["k"] == 1.5:
            raise LibraryError("no such luck")
        return solve(self, values, *more)

    monkeypatch.setattr(Pass, "member", fails)
    found = mt.sweep(Line, k=[1.0, 1.5, 2.0], library=tmp_path / "a.db", solver=SOLVER)
    assert found.failures == {1: "no such luck"}
    assert np.isnan(found.errors).tolist() == [False, True, False]
    assert np.isnan(found.values()[1]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": (1.0, 3.0, 5)}, "outside its box"),
        ({"k": 1.0}, "at least two members, not 1"),
        ({"k": (1.0, 2.0, 1)}, "at least two members"),
        ({"k": [1.0, 1.5, 1.0]}, "names k=1 twice"),
        ({"k": (1.0, 2.0)}, r"a range is \(first, last, count\)"),
        ({}, "missing"),
        ({"q": (1, 2, 3)}, "no parameter 'q'"),
        ({"parameters": [{"k": 1.0}], "k": [1.0, 2.0]}, "not both"),
    ],
)
def test_bad_ranges_are_told_before_anything_is_solved(arguments, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        mt.sweep(Line, library=tmp_path / "a.db", **arguments)
    assert not (tmp_path / "a.db").exists()


def test_parameters_from_a_table(tmp_path, monkeypatch):
    solved = []
    monkeypatch.setattr(Pass, "run", lambda self, wanted: solved.extend(wanted))
    (tmp_path / "a.csv").write_text("k\n1.25\n2.0\n")
    mt.sweep(Line, tmp_path / "a.csv", library=tmp_path / "a.db")
    assert solved == [{"k": 1.25}, {"k": 2.0}]
    (tmp_path / "b.csv").write_text("k\n1.25, 3\n")
    for name in ("b.csv", "absent.csv"):
        with pytest.raises(FileError, match=name):
            mt.sweep(Line, tmp_path / name, library=tmp_path / "a.db")


# --- Commands --------------------------------------------------------------------------------------------------------

FAMILY = f"{HERE.parent / 'pinn' / 'small.py'}:Line"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sweep", "poisson", "-p", "s=0:50"), "takes FIRST:LAST:COUNT"),
        (("sweep", "poisson", "-p", "s=0:60:7"), "outside its box"),
        (("sweep", "poisson", "-p", "s=5"), "at least two members"),
        (("sweep", "poisson", "-p", "s=0:50:3", "--out", "a.txt"), "ends in .npz or .nc"),
        (("prepare", "poisson-unit", "--out", "no/where.db"), "no directory"),
        (("prepare", "absent.db"), "there is no ledger 'absent.db'"),
        (("solve", "poisson", "-p", "s=5", "--start", "absent.db"), "there is no library 'absent.db'"),
        (("solve", "poisson", "-p", "s=5", "--start", "text.db"), "not a ledger"),
        (("solve", "poisson", "-p", "s=5", "--cold", "--start", "text.db"), "not both"),
    ],
)
def test_bad_words_are_told_in_one_line(command, words, message):
    Path("text.db").write_text("no ledger at all, but longer than a header has to be")
    said = command(*words)
    assert said.code == 2
    assert message in said.err
    assert len(said.err.splitlines()) == 1


def test_a_start_and_cold_exclude_each_other(prepared):
    with pytest.raises(StartError, match="not both"):
        mt.solve(Line, k=1.5, start=prepared, cold=True)


@pytest.mark.slow
def test_a_sweep_that_is_killed_resumes(tmp_path, environment):
    """kill -9 after some members: what was written is there, and the end is that of a sweep never disturbed."""
    command = [*METALIC, "sweep", FAMILY, "-p", "k=1.0:2.2:7", "--library"]
    process = subprocess.Popen([*command, "a.db"], env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("3/7"):
            break
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    before = Library(tmp_path / "a.db", Line).members
    assert 3 <= len(before) < 7
    for name in ("a.db", "whole.db"):
        done = subprocess.run([*command, name, "--json"], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["members"]) == 7
    killed, whole = (Library(tmp_path / name, Line) for name in ("a.db", "whole.db"))
    for mine, theirs in zip(killed, whole, strict=True):
        assert mine.parameters == theirs.parameters
        np.testing.assert_array_equal(mine.networks.theta, theirs.networks.theta)
    assert [one.row for one in killed.members[: len(before)]] == [one.row for one in before]


def test_a_study_can_be_prepared_with_its_own_sets(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr(Pass, "run", lambda self, wanted: used.extend(self._set(values) for values in wanted))

    class Advice:
        conditions = (("u",), ("u", "x"))

    monkeypatch.setattr("metalic.study.study.Study.recommend", lambda self, values: Advice)
    with mt.Study(tmp_path / "s.db", Tiny, solver={"hidden": (4,)}) as study:
        library = mt.prepare(tmp_path / "a.db", study=study, members=3)
    assert used == 3 * [["u", "x"]]
    assert library.options.hidden == (4,)
