"""How a process is set up: threads, one core, and where compiled programs are kept. In processes of their own."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jax
import pytest

from metalic import runtime

CODE = """
import json, os, sys
from metalic import runtime
runtime.prepare({arguments})
print(json.dumps({{
    "cores": sorted(os.sched_getaffinity(0)), "jax": "jax" in sys.modules,
    "threads": [os.environ[name] for name in runtime.THREADS], "cache": os.environ.get("JAX_COMPILATION_CACHE_DIR"),
}}))
"""


def prepared(arguments: str, **environment: str) -> dict[str, object]:
    kept = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        kept.pop(name, None)
    code = CODE.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], env=kept | environment, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin processes")
def test_one_core_and_one_thread(tmp_path: Path) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    found = prepared("core=1", METALIC_CACHE=str(tmp_path))
    assert found["cores"] == [allowed[1 % len(allowed)]]
    assert len(prepared("", METALIC_CACHE=str(tmp_path))["cores"]) == 1
    assert prepared("pin=False", METALIC_CACHE=str(tmp_path))["cores"] == allowed
    assert found["threads"] == ["1", "1", "1"]
    assert found["jax"] is False


def test_what_a_user_has_set_stays(tmp_path: Path) -> None:
    found = prepared("pin=False", OMP_NUM_THREADS="3", JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"))
    assert found["threads"] == ["3", "1", "1"]
    assert found["cache"] == str(tmp_path / "own")


def test_where_programs_are_kept(tmp_path: Path) -> None:
    found = Path(str(prepared("", METALIC_CACHE=str(tmp_path / "a"))["cache"]))
    assert found.parent == tmp_path / "a" / "programs"
    assert version("jaxlib") in found.name
    found = Path(str(prepared("", METALIC_CACHE="", XDG_CACHE_HOME=str(tmp_path / "b"))["cache"]))
    assert found.parent == tmp_path / "b" / "metalic" / "programs"
    (tmp_path / "file").touch()
    assert prepared("", METALIC_CACHE=str(tmp_path / "file" / "x"))["cache"] is None


def test_programs_are_kept_in_a_block_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of the user's own: what a solve compiles is kept, what comes after it is not."""
    monkeypatch.setenv("METALIC_CACHE", str(tmp_path))
    monkeypatch.setattr(runtime, "LEAST_SECONDS", 0.0)
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    try:
        with runtime.programs_kept():
            jax.jit(lambda x: 3 * x + 1)(2.0)
        kept = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert kept
        assert jax.config.jax_compilation_cache_dir is None
        jax.jit(lambda x: 5 * x + 1)(2.0)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == kept
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_the_directory_of_a_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METALIC_CACHE", str(tmp_path))
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "own"))
    try:
        with runtime.programs_kept():
            assert jax.config.jax_compilation_cache_dir == str(tmp_path / "own")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_the_oldest_programs_go_first(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "old", "older")):
        path = tmp_path / "some-version" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - age))
    runtime.trim(tmp_path / "this-version", most=150)
    assert [path.name for path in (tmp_path / "some-version").iterdir()] == ["new"]
