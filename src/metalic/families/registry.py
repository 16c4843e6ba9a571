"""Families by name: the built-in ones, and a user's own as `path/to/file.py:MyFamily` or `package.module:MyFamily`."""

from __future__ import annotations

from ..errors import FamilyError
from ..registry import Registry
from .base import Family

BUILT_IN: Registry[type[Family]] = Registry("family", Family, "metalic.families", FamilyError)


def find_family(text: str | Family | type[Family]) -> Family:
    """Find a family and check that it is complete.

    Args:
        text: A name, a place such as 'file.py:MyFamily' or 'package.module:MyFamily', a class, or a family.

    Returns:
        The family.

    Raises:
        FamilyError: There is no such family, or something is missing in it or does not fit.

    Example:
        >>> find_family("burgers")
        <Burgers: nu in [0.001, 0.05]; 2 subdomains>
    """
    if not isinstance(text, str | Family) and not (isinstance(text, type) and issubclass(text, Family)):
        raise FamilyError(f"a family is a name, a Family or its class, not {text!r}")
    family: Family = BUILT_IN.make(BUILT_IN.find(text) if isinstance(text, str) else text)
    family.check()
    return family
