"""The application: what it imports, which commands it finds, and how it ends."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import metalic as mt
from metalic.cli import commands
from metalic.cli.app import app

Metalic = Callable[..., "subprocess.CompletedProcess[str]"]


def test_help_does_not_import_jax() -> None:
    code = """
import sys
sys.argv = ["metalic", "--help"]
from metalic.cli import main
try:
    main()
except SystemExit:
    pass
assert not {"jax", "scipy", "matplotlib", "distributed"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_module_of_the_folder_is_a_command() -> None:
    modules = {path.stem for path in Path(commands.__file__).parent.glob("*.py")} - {"__init__"}
    assert {found.name for found in app.registered_commands} == modules
    assert modules >= {"families", "conditions", "solve", "play", "recommend", "show", "export", "replay", "test"}


def test_a_new_file_is_a_new_command(tmp_path: Path) -> None:
    """Added to the folder that is scanned, in a process of its own."""
    (tmp_path / "greet.py").write_text("def command(name: str) -> None:\n    print(f'hello {name}')\n")
    code = """
import importlib, sys
from metalic.cli import app, commands
commands.__path__.append(sys.argv.pop(1))
importlib.reload(app).main()
"""
    words = [sys.executable, "-c", code, str(tmp_path), "greet", "world"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "hello world\n"), done.stderr


@pytest.mark.parametrize("name", [found.name for found in app.registered_commands])
def test_every_command_explains_itself(name: str, command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = command(name, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: metalic {name}" in out


def test_a_parameter_without_its_option(refused: Callable[..., str]) -> None:
    assert refused("solve", "poisson", "s=20").endswith("A parameter is given with -p: -p s=20\n")
    assert refused("recommend", "poisson", "-p", "a=1", "s=20", "t=2").endswith("with -p: -p s=20 -p t=2\n")
    assert refused("solve", "s=20", "poisson").endswith("-p s=20\n")
    for words in (("show", "a.db", "s=20"), ("solve", "poisson", "s")):  # takes none; names none
        assert "-p" not in refused(*words)


def test_version(command: Callable[..., tuple[int, str, str]]) -> None:
    assert command("--version") == (0, f"metalic {mt.__version__}\n", "")


def test_bad_input_of_a_real_process(metalic: Metalic) -> None:
    result = metalic("solve", "poison", "-p", "s=1")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: no family 'poison'")
    assert "Traceback" not in result.stderr
