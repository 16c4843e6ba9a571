"""Whether a library belongs to a family: its name, its parameters, and the code of its equations."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import LibraryError
from ..families.base import Family


def check_family(settings: Mapping[str, Any], family: Family, path: Path) -> None:
    """Refuse a file of another family; warn if the equations have changed since."""
    stored = settings["family"]
    ours = [family.name, list(family.parameters)]
    theirs = [stored["name"], list(stored["parameters"])]
    if theirs != ours:
        raise LibraryError(f"'{path}' is a library of '{theirs[0]}', not of '{family.name}'")
    known = settings.get("equations")
    if known is not None and known != equations_hash(family):
        warnings.warn(
            f"the equations of family '{family.name}' have changed since library '{path}' was made; solves that start "
            "from it converge to the new ones, but may need more iterations",
            stacklevel=4,
        )


NO_EQUATIONS = ("decompose", "reference")


def equations_hash(family: Family) -> str | None:
    """A hash of the class that defines a family; None if it has no source. Comments, docstrings, annotations, the
    reference and the places where the domain may be cut are left out."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(type(family))))
    except (OSError, TypeError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [one for one in node.body if getattr(one, "name", None) not in NO_EQUATIONS]
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    options = sorted((key, repr(value)) for key, value in vars(family).items())
    return hashlib.sha256((ast.unparse(tree) + repr(options)).encode()).hexdigest()  # ast.dump differs by version
