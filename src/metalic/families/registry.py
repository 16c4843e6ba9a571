"""Families by name: the built-in ones, and a user's own as `path/to/file.py:MyFamily` or `package.module:MyFamily`."""

from __future__ import annotations

from ..errors import FamilyError
from ..registry import Registry
from .base import Family

BUILT_IN: Registry[type[Family]] = Registry("family", Family, "metalic.families", FamilyError)


def find_family(text: str | Family | type[Family]) -> Family:
    """A family from its name, its place, its class, or itself; checked."""
    if not isinstance(text, str | Family) and not (isinstance(text, type) and issubclass(text, Family)):
        raise FamilyError(f"a family is a name, a Family or its class, not {text!r}")
    family: Family = BUILT_IN.make(BUILT_IN.find(text) if isinstance(text, str) else text)
    family.check()
    return family
