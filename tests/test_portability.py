"""Other systems: what exists on POSIX alone is hidden from the package, and a study is still played.

Only Linux is tested as a whole. This is the part of macOS and Windows that can be tested on it.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import tiny

import metalic

SOURCE = Path(metalic.__file__).parent
POSIX = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "posix", "syslog"}

# The package's own imports of these modules fail, as on Windows; what it stands on looks after itself.
HIDDEN = """
import builtins, os, signal, stat, sys
POSIX = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "posix", "syslog"}
found = builtins.__import__

def without(name, scope=None, *rest):
    if name in POSIX and (scope or {}).get("__name__", "").startswith("metalic"):
        raise ImportError(f"no module named {name} on this system")
    return found(name, scope, *rest)

builtins.__import__ = without
for name in ("sched_setaffinity", "sched_getaffinity", "pread", "pwrite"):
    delattr(os, name)
wake_up = signal.set_wakeup_fd

def sockets_only(descriptor, **options):
    if descriptor >= 0 and not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        raise ValueError("a pipe is no wake-up descriptor on this system")
    return wake_up(descriptor, **options)

signal.set_wakeup_fd = sockets_only
from metalic.cli import main
main()
"""


def test_nothing_of_posix_is_imported_with_the_package() -> None:
    """Neither at the top of a module nor inside a function."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not POSIX & set(names), path


def test_a_study_is_played_without_them(tmp_path: Path) -> None:
    family = f"{Path(tiny.__file__)}:Tiny"
    words = ["play", "t.db", "--family", family, "--schedule", family.replace("Tiny", "SCHEDULE"), "--plays", "2", "-q"]
    for more in (words, ["show", "t.db"], ["doctor"]):
        done = subprocess.run(
            [sys.executable, "-c", HIDDEN, *more], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert "0 allowed" not in done.stdout
    assert "does not pin processes" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.db"]
