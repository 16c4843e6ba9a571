"""Every public name says what it is: its arguments, what it returns and raises, and an example that runs.

`test_doctests.py` runs the examples.
"""

import inspect
import re
from typing import Any

import pytest

import metalic as mt

NAMES = [name for name in mt.__all__ if name != "__version__"]
# Dataclasses made by the library, and classes without arguments of their own: their attributes are described instead.
MADE = {"Solution", "Recommendation", "Family", "Region", "Condition", "MetalicError", "MetalicWarning"}
NEVER_RAISES = {"Check", "Condition", "Greedy", "Random", "Thompson", "Recommendation", "Region"}


def section(text: str, name: str) -> str:
    """A section of a Google-style docstring, '' if it is not there."""
    found = re.search(rf"^{name}:\n((?:(?:    .*)?\n?)+)", text, re.MULTILINE)
    return found[1] if found else ""


def arguments(thing: Any) -> list[str]:
    """The arguments of a function or a class; the parameters of a PDE by name are `**by_name`, here without stars."""
    return [name for name in inspect.signature(thing).parameters if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_described(name: str) -> None:
    thing = getattr(mt, name)
    text = inspect.getdoc(thing) or ""
    assert text.splitlines()[0].endswith(".")
    assert ">>> " in section(text, "Example")
    if name not in MADE:
        listed = re.findall(r"^    \**(\w+):", section(text, "Args"), re.MULTILINE)
        assert listed == arguments(thing)
    else:
        assert section(text, "Attributes") or name.startswith("Metalic")
    if inspect.isfunction(thing):
        assert section(text, "Returns")
    if name not in NEVER_RAISES and not issubclass(thing if inspect.isclass(thing) else object, BaseException):
        assert section(text, "Raises")


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(getattr(mt, name))])
def test_so_are_its_methods(name: str) -> None:
    for attribute, value in vars(getattr(mt, name)).items():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not attribute.startswith("_") and inspect.isfunction(function):
            assert inspect.getdoc(getattr(getattr(mt, name), attribute)), f"{name}.{attribute}"
