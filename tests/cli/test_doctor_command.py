"""`metalic doctor`: it says of the machine what other means say."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import jax
import pytest

import metalic as mt


def test_doctor(command: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "one").write_bytes(bytes(2_000_000))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    code, out, err = command("doctor", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["metalic"] == mt.__version__
    assert found["packages"]["jax"] == jax.__version__
    assert found["cores"]["machine"] == os.cpu_count()
    assert found["devices"]["gpu"] is (jax.devices()[0].platform == "gpu")
    assert found["cache"] == {"place": str(tmp_path / "programs"), "programs": 1, "megabytes": 2.0}


def test_doctor_in_words(command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = command("doctor")
    assert (code, err) == (0, "")
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "metalic",
        "system",
        "cores",
        "device",
        "precision",
        "cache",
        "packages",
    ]
