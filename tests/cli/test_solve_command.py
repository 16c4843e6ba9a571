"""`metalic solve`: exit codes, what it prints and what it writes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import metalic as mt
from metalic.cli import main

Metalic = Callable[..., "subprocess.CompletedProcess[str]"]

BROKEN = """
import metalic as mt

class Base(mt.Family):
    parameters = {"k": (1.0, 2.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])
    def residual(self, u, p, k): return u.t - k * u.xx
    def boundary(self): return [mt.Dirichlet("t=0", "x=0", "x=1", 0.0)]

class Vector(Base):
    def residual(self, u, p, k):
        import jax.numpy as jnp
        return jnp.stack([u.t, u.x])

class Nothing(Base):
    def residual(self, u, p, k): return None

class Derivative(Base):
    def residual(self, u, p, k): return u.q

class Silent(mt.Family):
    domain = Base.domain
    decomposition = Base.decomposition
    def residual(self, u, p): return u.t
"""

OVERLAP = """
import metalic as mt
class Overlap(mt.Family):
    domain = mt.Box(x=(0, 1))
    decomposition = mt.Decomposition(domain, {"a": mt.Box(x=(0, 0.6)), "b": mt.Box(x=(0.5, 1))})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli")
    (path / "broken.py").write_text(BROKEN)
    (path / "overlap.py").write_text(OVERLAP)
    return path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("solve", "poison", "-p", "s=1"), "Did you mean 'poisson'"),
        (("solve", "poisson"), "'s' is missing"),
        (("solve", "poisson", "-p", "q=1"), "no parameter 'q'"),
        (("solve", "poisson", "-p", "s"), "NAME=VALUE"),
        (("solve", "poisson", "-p", "s=many"), "not a number"),
        (("solve", "poisson", "-p", "s=nan"), "not a finite number"),
        (("solve", "poisson", "-p", "s=51"), "--extrapolate"),
        (("solve", "poisson", "-p", "s=5", "-p", "s=6"), "twice"),
        (("solve", "poisson", "-p", "s=5", "-c", "u,flux"), "no condition 'flux'"),
        (("solve", "poisson", "-p", "s=5", "-c", "512"), "outside 0..511"),
        (("solve", "poisson", "-p", "s=5", "-c", "u;c;x"), "3 sets of conditions for the 2 phases"),
        (("solve", "poisson", "-p", "s=5", "--schedule", "fats"), "Did you mean 'fast'"),
        (("solve", "poisson", "-p", "s=5", "--precision", "float16"), "float64, float32"),
        (("solve", "poisson", "-p", "s=5", "--sampling", "dice"), "no sampling 'dice'"),
        (("solve", "poisson", "-p", "s=5", "--scaling", "log"), "no scaling 'log'"),
        (("solve", "poisson", "-p", "s=5", "--out", "nowhere/a.npz"), "no directory 'nowhere'"),
        (("solve", "poisson", "-p", "s=5", "--plot", "a.xyz"), "a picture ends in one of"),
        (("solve", "missing.py:A"), "no file 'missing.py'"),
        (("solve", "broken.py:Absent"), "it has: Base, Vector"),
        (("solve", "broken.py:Vector", "-p", "k=1"), "array of shape (2,)"),
        (("solve", "broken.py:Nothing", "-p", "k=1"), "returned nothing"),
        (("solve", "broken.py:Derivative", "-p", "k=1"), "'u.q' is not a derivative"),
        (("solve", "broken.py:Silent"), "no method 'boundary'"),
        (("solve", "overlap.py:Overlap"), "overlap"),
    ],
)
def test_bad_input_is_one_clear_line(
    folder: Path,
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In this process, to save two dozen start-ups; test_app.py checks a real one."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["metalic", *words, "--quiet", "--no-pin"])
    before = _listing(folder)
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capfd.readouterr()
    assert stopped.value.code == 2
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert _listing(folder) == before


def _listing(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != "__pycache__")


def test_solve_writes_json_solution_and_picture(metalic: Metalic, tmp_path: Path) -> None:
    words = ["solve", "poisson", "-p", "s=5", "-c", "uavg,c;u,c", "--schedule", "quick", "--seed", "3"]
    result = metalic(*words, "--out", "sol.npz", "--plot", "sol.png", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["family"], answer["parameters"], answer["seed"], answer["schedule"]) == (
        "poisson",
        {"s": 5.0},
        3,
        "quick",
    )
    assert answer["conditions"] == ["u", "c"]
    assert answer["index"] == 1 + 2**5
    assert [phase["optimizer"] for phase in answer["phases"]] == ["adam", "gauss-newton"]
    assert [phase["conditions"] for phase in answer["phases"]] == [["uavg", "c"], ["u", "c"]]
    for phase in answer["phases"]:
        assert {"iterations", "seconds", "loss", "error", "stop_reason"} <= set(phase)
    assert answer["error"] < 0.05
    assert "phase 2/2 gauss-newton: 50/50" in result.stderr
    solution = mt.Solution.load(tmp_path / "sol.npz")
    assert solution.error == answer["error"]
    assert np.isfinite(solution(x=0.5, y=0.5))
    assert (tmp_path / "sol.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_solve_as_a_study_advises(metalic: Metalic, played: Path, family: str) -> None:
    advice = metalic("recommend", "t.db", "--family", family, "-p", "a=1", "--json")
    assert advice.returncode == 0, advice.stderr
    solved = metalic(
        "solve",
        family,
        "-p",
        "a=1",
        "-c",
        "t.db",
        "--schedule",
        family.replace("Tiny", "SCHEDULE"),
        "--json",
        "--quiet",
    )
    assert solved.returncode == 0, solved.stderr
    phases = json.loads(solved.stdout)["phases"]
    assert [phase["conditions"] for phase in phases] == json.loads(advice.stdout)["conditions"]
