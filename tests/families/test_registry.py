"""Families are found by name, in files and modules, and what is wrong is reported."""

import pytest
from small import Line

from metalic.errors import FamilyError
from metalic.families import (
    Heat,
    Poisson,
    find_family,
)


@pytest.mark.parametrize(("text", "near"), [("poison", "poisson"), ("burger", "burgers")])
def test_an_unknown_family_is_reported_with_the_nearest(text, near):
    with pytest.raises(
        FamilyError, match=f"no family '{text}': allowed are .*poisson.* Did you mean '{near}'.* Your own: path"
    ):
        find_family(text)


def test_families_are_found_in_every_way(tmp_path, monkeypatch):
    line = Line()
    assert find_family(line) is line
    assert find_family(Line) == line
    assert isinstance(find_family("heat"), Heat)
    assert isinstance(find_family("metalic.families.poisson:Poisson"), Poisson)
    file = tmp_path / "mine.py"
    file.write_text(
        "import metalic as mt\n"
        "class Mine(mt.Family):\n"
        "    domain = mt.Box(x=(0, 1))\n"
        "    decomposition = mt.split(domain, x=[0.5])\n"
        "    def residual(self, u, p): return u.xx\n"
        "    def boundary(self): return [mt.Dirichlet('x=0', 0.0)]\n"
        "instance = Mine()\n"
    )
    assert find_family(f"{file}:Mine").name == "mine"
    assert find_family(f"{file}:instance").coordinates == ("x",)
    with pytest.raises(FamilyError, match="has no family 'Other'; it has: Mine"):
        find_family(f"{file}:Other")
    monkeypatch.chdir(tmp_path)
    assert find_family("mine.py:Mine").name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py:Mine", "no file 'nowhere.py'"),
        ("no.such.module:Mine", "importing 'no.such.module' failed: ModuleNotFoundError"),
        ("metalic.errors:Mine", "'metalic.errors' has no family 'Mine'; it has: none"),
        (":", "no family ':': allowed are"),
    ],
)
def test_a_place_without_a_family_is_reported(text, message):
    with pytest.raises(FamilyError, match=message):
        find_family(text)


def test_a_file_that_fails_is_reported(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    with pytest.raises(FamilyError, match=r"broken\.py' failed: ZeroDivisionError"):
        find_family(f"{file}:Mine")
    file.write_text("def (:\n")
    with pytest.raises(FamilyError, match=r"broken\.py' failed: SyntaxError"):
        find_family(f"{file}:Mine")


@pytest.mark.parametrize("thing", [None, 5, int])
def test_what_is_not_a_family_is_reported(thing):
    with pytest.raises(FamilyError):
        find_family(thing)
