"""What all tests share."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# What one process of a test run has compiled serves the others: workers and commands inherit this.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    PROGRAMS = tempfile.TemporaryDirectory(prefix="metalic-programs-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = PROGRAMS.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.5"

import jax
import pytest
from hypothesis import settings

import metalic.solving
from metalic.cli import main

metalic.solving.CHECK = False  # tests that are about checks ask for them

# Seconds never decide a test, and a failure found today is found again tomorrow.
settings.register_profile("metalic", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("metalic")


@pytest.fixture
def double():
    """float64 inside one test, as `solve` does it; the process stays as it was."""
    with jax.enable_x64(True):
        yield


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """`metalic WORDS...` in this process, in a directory of its own: what a start-up costs is saved."""
    monkeypatch.chdir(tmp_path)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    cores = os.sched_getaffinity(0)

    def run(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["metalic", *map(str, words)])
        capfd.readouterr()
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
        else:
            code = 0
        finally:
            os.sched_setaffinity(0, cores)
        return Said(code or 0, *capfd.readouterr())

    return run
