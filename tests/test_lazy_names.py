"""Names that are imported when first used are found by completion and by help()."""

import pydoc
import rlcompleter

import pytest

import metalic as mt


def test_completion() -> None:
    completer = rlcompleter.Completer({"mt": mt})
    found = [text for i in range(5) if (text := completer.complete("mt.so", i))]
    assert [text.rstrip("(") for text in found] == ["mt.solve"]


def test_help_of_the_package() -> None:
    text = pydoc.plain(pydoc.render_doc(mt))
    for words in ("solve(family", "class Study(", "class Solution(", "find_family("):
        assert words in text
    assert "Solve a member of a family with sets of interface conditions." in text


@pytest.mark.parametrize("name", [name for name in mt.__all__ if name != "__version__"])
def test_every_name_has_help(name: str) -> None:
    text = pydoc.plain(pydoc.render_doc(f"metalic.{name}"))
    assert name in text.splitlines()[0]
    assert getattr(mt, name).__doc__.strip()[:40].split("\n")[0] in text
