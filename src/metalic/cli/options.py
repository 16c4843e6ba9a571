"""Option texts and small parsers shared by the commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..errors import FileError, ParameterError

FamilyName = Annotated[
    str, typer.Argument(help="A family: built in (see `metalic families`), file.py:MyFamily, or module:MyFamily.")
]
Parameters = Annotated[
    list[str] | None, typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A parameter; once for each.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Decides points and starting weights.")]
ProtocolName = Annotated[
    str | None,
    typer.Option("--protocol", help="The settings of published experiments: authors; see docs/authors-protocol.md."),
]


LONGEST_NAME = 255  # bytes


def read_parameters(texts: list[str] | None) -> dict[str, str]:
    """['s=20'] -> {'s': '20'}; what the values may be is the family's business."""
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"-p takes NAME=VALUE, as in -p s=20, not '{text}'")
        if name.strip() in found:
            raise ParameterError(f"parameter '{name.strip()}' is given twice")
        found[name.strip()] = value.strip()
    return found


def check_writable(path: Path | None) -> None:
    """Refuse an output that cannot be written before hours of work go into it."""
    if path is None:
        return
    folder = path.parent
    if not os.path.isdir(folder):
        raise FileError(f"cannot write '{path}': there is no directory '{folder}'")
    if os.path.isdir(path):
        raise FileError(f"cannot write '{path}': it is a directory")
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise FileError(f"cannot write '{path}': a file's name has at most {LONGEST_NAME} bytes")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise FileError(f"cannot write '{path}': permission denied")
