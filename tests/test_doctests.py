"""The examples in docstrings run and print what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import metalic

ROOT = Path(metalic.__file__).parent
WITH_EXAMPLES = sorted(path.relative_to(ROOT.parent) for path in ROOT.rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)
