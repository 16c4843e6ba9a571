"""Order in the repository: tests mirror modules, figures and ledgers are stored once, the version stands in one place.

The tests of src/metalic/pinn/laws.py are in tests/pinn/test_laws.py.
"""

import hashlib
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from experiments.code_size import code_lines

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "metalic"
ITEMS = "the experiments share one directory of ledgers, which reproduction/test_reproduce.py fills step by step"
MEMBER = "the members of a catalogue are tested together in families/test_built_in.py and families/test_references.py"
PAGES = "the pages are tested as a browser sees them, in dashboard/test_server.py"
ELSEWHERE = {
    "dashboard/desk.py": PAGES,
    "dashboard/drawing.py": PAGES,
    "dashboard/view.py": PAGES,
    "families/regions.py": "drawn in a notebook, tests/test_notebook.py",
    "evaluation/pictures.py": "what its figures show is tested in evaluation/test_figures.py, where they stand in "
    "evaluation/test_report.py, and one of a user's own in test_registry.py",
    "families/advection.py": MEMBER,
    "families/burgers.py": MEMBER,
    "families/heat.py": MEMBER,
    "families/kdv.py": MEMBER,
    "families/layer.py": MEMBER,
    "families/materials.py": MEMBER,
    "families/oscillator.py": MEMBER,
    "families/poisson.py": MEMBER,
    "families/reaction.py": MEMBER,
    "families/turning.py": MEMBER,
    "geometry/boxes.py": "boxes and unions are the members of Region, tested together in geometry/test_regions.py",
    "geometry/region.py": "abstract: geometry/test_regions.py runs over its members",
    "pinn/checkpoint.py": "what a checkpoint keeps is tested where a solve continues from it, in pinn/test_limits.py",
    "pinn/objective.py": "abstract: helpers/objectives.py has two, on which every optimizer is tested",
    "reproduction/offline.py": ITEMS,
    "reproduction/online.py": ITEMS,
    "reproduction/paper.py": ITEMS,
    "reproduction/preliminary.py": ITEMS,
    "study/rewards/error.py": "study/rewards/test_base.py has its formula beside the others",
    "study/packing.py": "what is sent to workers: test_registry.py and study/test_workers.py send one of each",
    "study/dask_preload.py": "runs inside Dask's workers, which study/test_workers.py starts",
}
# The command line is tested as a whole, by commands and not by modules.
MODULES = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__init__.py" and path.relative_to(SOURCE).parts[0] != "cli"
]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_has_its_mirror(module: Path) -> None:
    mirror = TESTS / module.parent / f"test_{module.name}"
    assert mirror.exists() != (module.as_posix() in ELSEWHERE), f"{mirror}: missing, or listed as tested elsewhere"


def test_the_exceptions_exist() -> None:
    assert {Path(name) for name in ELSEWHERE} <= set(MODULES)


def test_results_are_stored_once() -> None:
    """No two equal files among results and the ledgers inside the package; links are fine."""
    found = defaultdict(list)
    for folder in (TESTS.parent / "results", SOURCE):
        for path in folder.rglob("*"):
            if (
                path.is_file()
                and not path.is_symlink()
                and path.suffix in (".db", ".npz", ".png", ".csv", ".json", ".md")
            ):
                found[hashlib.sha256(path.read_bytes()).hexdigest()].append(path)
    assert [paths for paths in found.values() if len(paths) > 1] == []


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"] == {"path": "src/metalic/__init__.py"}


def test_hooks_run_the_checks_of_make_test() -> None:
    root = TESTS.parent
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", (root / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    checks = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines() if "pytest" not in line]
    hooks = re.findall(r"^\s+entry: (.*)$", (root / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    assert hooks == checks


def test_lines_of_code_are_counted_without_prose() -> None:
    source = '''"""A module."""

# A comment.
import os  # and another


def one(
    a: int,
) -> str:
    """A docstring
    of two lines."""
    text = """kept
    kept"""
    return text
'''
    assert code_lines(source) == 7
