"""Fixtures of the tests of studies."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny
from small import SOLVER, Line
from tiny import METALIC, SETTINGS, Tiny

from metalic.study import Library, Study, prepare


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real study of 12 plays: 5 random ones, then decisions by the reward model."""
    path = tmp_path_factory.mktemp("study") / "tiny.db"
    with Study(path, Tiny, **SETTINGS) as study:
        study.play(12)
    return path


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For processes of our own: all compiled programs are kept from one to the next, small ones too."""
    return os.environ | {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}


@pytest.fixture
def metalic(environment: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command, run in a directory of its own."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [*METALIC, *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Put another player in the place of real plays: `pretending(function of a task)`."""

    def use(player: Any = tiny.pretend) -> None:
        monkeypatch.setattr("metalic.study.workers.run", player)

    use()
    return use


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Nine members of Line by continuation, in single precision."""
    path = tmp_path_factory.mktemp("library") / "line.db"
    return prepare(path, Line, members=9, refine=0, solver=SOLVER)
