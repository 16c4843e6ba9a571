"""Many members at once: against exact solutions, killed and taken up again, exported."""

import json
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file
from small import SOLVER, Line
from tiny import HERE, METALIC, Tiny

import metalic as mt
from metalic.errors import FileError, ParameterError
from metalic.study import Library
from metalic.study.continuation import Pass
from metalic.study.waves import Waves

FAMILY = f"{HERE / 'small.py'}:Line"
X = np.linspace(0, 1, 31)


def exact(k):
    return np.sin(k * X) / np.sin(k)


def test_a_sweep_is_solved_in_order_and_exported(tmp_path):
    steps = []
    found = mt.sweep(Line, k=(1.0, 2.4, 8), library=tmp_path / "a.db", solver=SOLVER, progress=steps.append)
    ks = np.linspace(1.0, 2.4, 8)
    assert [values["k"] for values in found.parameters] == ks.tolist()
    assert [step.finished_count for step in steps] == list(range(1, 9))
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


def test_a_figure_shows_members_and_their_errors(tmp_path):
    found = mt.sweep(Line, k=(1.0, 2.4, 5), library=tmp_path / "a.db", solver=SOLVER)
    above, below = found.plot().axes
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["k = 1", "k = 1.35", "k = 2.05", "k = 2.4"]
    for line, k in zip(above.lines, (1.0, 1.35, 2.05, 2.4), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, np.sin(k * x) / np.sin(k), atol=2e-3)
    np.testing.assert_allclose(below.lines[0].get_xdata(), np.linspace(1.0, 2.4, 5))
    np.testing.assert_array_equal(below.lines[0].get_ydata(), found.errors)
    assert below.get_xlabel() == "k"


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step.finished_count == 3:
            raise StopError

    whole = mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "whole.db", solver=SOLVER)
    with pytest.raises(StopError):
        mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "a.db", solver=SOLVER, progress=stop)
    assert len(Library(tmp_path / "a.db", Line)) == 3
    again = mt.sweep(Line, k=(1.0, 2.0, 6), library=tmp_path / "a.db")
    np.testing.assert_array_equal(again.values(), whole.values())


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
def test_bad_ranges_are_reported_before_anything_is_solved(arguments, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        mt.sweep(Line, library=tmp_path / "a.db", **arguments)
    assert not (tmp_path / "a.db").exists()


def test_parameters_from_a_table(tmp_path, monkeypatch):
    solved = []
    monkeypatch.setattr(Waves, "run", lambda self, wanted: solved.extend(wanted))
    (tmp_path / "a.csv").write_text("k\n1.25\n2.0\n")
    mt.sweep(Line, tmp_path / "a.csv", library=tmp_path / "a.db")
    assert solved == [{"k": 1.25}, {"k": 2.0}]
    (tmp_path / "b.csv").write_text("k\n1.25, 3\n")
    for name in ("b.csv", "absent.csv"):
        with pytest.raises(FileError, match=name):
            mt.sweep(Line, tmp_path / name, library=tmp_path / "a.db")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sweep", "poisson", "-p", "s=0:50"), "takes FIRST:LAST:COUNT"),
        (("sweep", "poisson", "-p", "s=0:60:7"), "outside its box"),
        (("sweep", "poisson", "-p", "s=5"), "at least two members"),
        (("sweep", "poisson", "-p", "s=0:50:3", "--out", "a.txt"), "ends in .npz or .nc"),
        (("sweep", "poisson", "-p", "s=0:50:3", "--figure", "a.txt"), "a picture ends in one of"),
        (("sweep", "poisson", "-p", "s=0:50:3", "--workers", "0"), "--workers is a number of at least 1"),
        (("prepare", "poisson-unit", "--out", "no/where.db"), "no directory"),
        (("prepare", "absent.db"), "there is no ledger 'absent.db'"),
        (("solve", "poisson", "-p", "s=5", "--start", "absent.db"), "there is no library 'absent.db'"),
        (("solve", "poisson", "-p", "s=5", "--start", "text.db"), "not a ledger"),
        (("solve", "poisson", "-p", "s=5", "--cold", "--start", "text.db"), "not both"),
    ],
)
def test_bad_words_are_reported_in_one_line(command, words, message):
    Path("text.db").write_text("no ledger at all, but longer than a header has to be")
    said = command(*words)
    assert said.code == 2
    assert message in said.err
    assert len(said.err.splitlines()) == 1


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
