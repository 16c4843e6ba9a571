"""Opening a ledger or a solution never runs anything that it names or holds."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import SETTINGS, Tiny

from metalic.errors import FileError, MetalicError, StudyError
from metalic.pinn import Solution
from metalic.study import Ledger, Study

HOSTILE = """
from pathlib import Path
Path({mark!r}).touch()
from tiny import Tiny
"""


class Bomb:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "executed"


@pytest.fixture
def hostile(tmp_path: Path, mark: Path) -> Path:
    """A ledger that names a file which exists and would run, and is in every other way sound."""
    code = tmp_path / "hostile.py"
    code.write_text(HOSTILE.format(mark=str(mark)))
    Study(tmp_path / "sound.db", Tiny, **SETTINGS).close()
    with Ledger(tmp_path / "sound.db") as ledger:
        settings = ledger.settings()
    for name, spec in (("file.db", f"{code}:Tiny"), ("module.db", "hostile:Tiny")):
        Ledger.writer(tmp_path / name, settings | {"spec": spec}).close()
    return tmp_path


@pytest.mark.parametrize("name", ["file.db", "module.db"])
def test_a_family_named_by_a_ledger_is_not_imported(
    hostile: Path, mark: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(hostile))
    for read_only in (True, False):
        with pytest.raises(StudyError, match=r"is of your family 'tiny'; it was created with .*Give it: --family"):
            Study(hostile / name, read_only=read_only)
    assert not mark.exists()
    with Study(hostile / name, Tiny):
        assert not mark.exists()  # the user's own is taken, and the ledger's is not


def test_no_command_runs_what_a_ledger_names(hostile: Path, mark: Path, command: Callable[..., Any]) -> None:
    for words in (("play", "file.db"), ("recommend", "file.db", "-p", "a=1"), ("replay", "file.db", "--decisions")):
        done = command(*words)
        assert (done.code, "Give it: --family" in done.err) == (2, True), done
    assert command("show", "file.db").code == 0
    assert command("export", "file.db", "out.csv").code == 0
    assert not mark.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"bandit": {"name": "os:system"}},
        {"bandit": {"name": "single", "policy": {"name": "__class__"}}},
        {"bandit": {"name": "single", "kernel": "os.system"}},
        {"bandit": {"name": "single", "policy": {"name": "ucb", "__init__": 1}}},
        {"schedule": {"phases": [{"optimizer": {"name": "os.system"}}], "name": "x"}},
        {"reward": "__import__('os')"},
        {"solver": {"points": {"collocation": "1"}}},
        {"solver": {"__class__": 1}},
        {"solver": []},
        {"family": []},
        {"seed": "0"},
        {"spec": ["poisson"]},
        {"spec": 5},
    ],
    ids=str,
)
def test_settings_that_no_study_writes_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    Study(tmp_path / "sound.db", Tiny, **SETTINGS).close()
    with Ledger(tmp_path / "sound.db") as ledger:
        settings = ledger.settings()
    Ledger.writer(tmp_path / "odd.db", settings | change).close()
    for family in (None,) if "spec" in change else (Tiny, None):
        with pytest.raises(MetalicError):
            Study(tmp_path / "odd.db", family)


def test_pickled_objects_in_a_solution_are_not_loaded(tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "bomb.npz"
    array = np.array([Bomb(mark)], dtype=object)
    np.savez(path, theta=array, meta=np.array(json.dumps({"format": "metalic-solution"})))
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    plain, archived = tmp_path / "bomb.npy", tmp_path / "meta.npz"
    plain.write_bytes(buffer.getvalue())
    with zipfile.ZipFile(archived, "w") as archive:
        archive.writestr("meta.npy", buffer.getvalue())
    bare = tmp_path / "bare.npz"
    bare.write_bytes(pickle.dumps(Bomb(mark)))
    for file in (path, plain, archived, bare):
        with pytest.raises(FileError, match="is not a solution file, or is damaged"):
            Solution.load(file)
    assert not mark.exists()
    pickle.loads(bare.read_bytes())
    assert mark.exists()  # the bomb is a real one
