"""Families by name: the built-in ones, and a user's own as `path/to/file.py:MyFamily` or `package.module:MyFamily`."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FamilyError
from .advection import Advection
from .base import Family
from .burgers import Burgers
from .heat import Heat
from .kdv import KdV
from .poisson import Poisson, PoissonUnit
from .reaction import Reaction

BUILT_IN: dict[str, type[Family]] = {
    family.name: family for family in (Poisson, Advection, Reaction, Burgers, Heat, KdV, PoissonUnit)
}


def find_family(text: str | Family | type[Family]) -> Family:
    """A family from its name, its place, its class, or itself; checked."""
    if isinstance(text, Family):
        family = text
    elif isinstance(text, type) and issubclass(text, Family):
        family = _made(text)
    elif not isinstance(text, str):
        raise FamilyError(f"a family is a name, a Family or its class, not {text!r}")
    elif text in BUILT_IN:
        family = BUILT_IN[text]()
    elif ":" in text:
        family = _load(text)
    else:
        near = difflib.get_close_matches(text, BUILT_IN, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise FamilyError(
            f"no family '{text}'.{hint} Built in: {', '.join(BUILT_IN)}. "
            "Your own: path/to/file.py:MyFamily or package.module:MyFamily"
        )
    family.check()
    return family


def _load(text: str) -> Family:
    place, _, name = text.rpartition(":")
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Family):
        return _made(found)
    if isinstance(found, Family):
        return found
    names = [n for n, thing in vars(module).items() if isinstance(thing, type) and issubclass(thing, Family)]
    own = [n for n in names if getattr(module, n).__module__ == module.__name__]
    raise FamilyError(f"'{place}' has no family '{name}'; families in it: {', '.join(own) or 'none'}")


def _made(kind: type[Family]) -> Family:
    try:
        return kind()
    except TypeError as error:
        raise FamilyError(
            f"family class '{kind.__name__}' cannot be made without arguments ({error}); pass an object of it, or give "
            "its arguments defaults"
        ) from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FamilyError(f"no file '{path}'")
    module_name = f"metalic_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise FamilyError(f"'{path}' cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    _executed(functools.partial(spec.loader.exec_module, module), str(path))
    return module


def _import_module(name: str) -> ModuleType:
    return _executed(functools.partial(importlib.import_module, name), name)


def _executed(run: Callable[[], Any], place: str) -> Any:
    """A user's module may fail in any way while it is imported; say where and why in one line."""
    try:
        return run()
    except Exception as error:
        raise FamilyError(f"importing '{place}' failed: {type(error).__name__}: {error}") from error
