"""Fixtures of the tests of the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metalic.study import Study

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "study"), str(TESTS / "evaluation")]  # their toy families serve here, too

import tiny  # noqa: E402

TINY = f"{Path(tiny.__file__)}:Tiny"


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For processes of our own: all compiled programs are kept from one to the next, small ones too."""
    path = os.pathsep.join(filter(None, (str(TESTS / "helpers"), os.environ.get("PYTHONPATH"))))  # toy families
    return os.environ | {
        "PYTHONPATH": path,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }


@pytest.fixture
def metalic(environment: dict[str, str], tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """The command as a real process, run in a directory of its own."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [*tiny.METALIC, *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=900)

    return run


@pytest.fixture
def family() -> str:
    """A family whose plays take a fraction of a second, as the command line names it."""
    return TINY


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A study that knows its settings and has not played: a.db."""
    Study(tmp_path / "a.db", TINY, tiny.RANDOM, **tiny.SETTINGS).close()
    return tmp_path / "a.db"


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A study with four invented plays: t.db."""
    with Study(tmp_path / "t.db", TINY, tiny.RANDOM, **tiny.SETTINGS) as study:
        for _ in range(4):
            task = study.ask()
            study.tell(task, tiny.pretend(task))
    return tmp_path / "t.db"


@pytest.fixture
def refused(command: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Run a command that must be refused: exit code 2 and one line on stderr, which is returned."""

    def run(*words: object) -> str:
        code, out, err = command(*words)
        assert (code, out) == (2, ""), (words, code, out, err)
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err
        return err

    return run
