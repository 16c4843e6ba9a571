"""Options and arguments that several commands share, and their parsers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ChoiceError, FileError, ParameterError, StudyError

if TYPE_CHECKING:
    from ..choices import Choice

if TYPE_CHECKING:
    from ..geometry import Points

FamilyName = Annotated[
    str, typer.Argument(help="A family: built in (see `metalic families`), file.py:MyFamily, or module:MyFamily.")
]
FamilyFile = Annotated[
    str | None, typer.Option("--family", help="The family, if the ledger cannot name it: file.py:MyFamily.")
]
LedgerName = Annotated[
    str, typer.Argument(help="A study's file, or a family's name for the ledger shipped with metalic.")
]
Parameters = Annotated[
    list[str] | None, typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A parameter; once for each.")
]
Extrapolate = Annotated[bool, typer.Option("--extrapolate", help="Allow parameters outside their ranges.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Decides points and starting weights.")]
ProtocolName = Annotated[
    str | None,
    typer.Option("--protocol", help="The settings of published experiments: authors; see docs/authors-protocol.md."),
]
Workers = Annotated[
    str, typer.Option("--workers", help="The number of processes, or a Dask scheduler as tcp://host:port.")
]
Choose = Annotated[
    list[str] | None,
    typer.Option(
        "--choose",
        metavar="NAME=LEVEL,...",
        help="Something to choose besides the conditions, with its levels: strip=0.05,0.1,0.2. May be repeated.",
    ),
]
Level = Annotated[
    list[str] | None,
    typer.Option("--choose", metavar="NAME=LEVEL", help="A choice, such as strip=0.2; see metalic families NAME."),
]
OneSet = Annotated[str | None, typer.Option("--conditions", "-c", help="One set for all members, as u,c.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")]

Hidden = Annotated[str | None, typer.Option(metavar="WIDTHS", help="Widths of the hidden layers, as 12,12,12,12.")]
PointCounts = Annotated[
    str | None,
    typer.Option("--points", metavar="A,B,C", help="Collocation, boundary, interface points, as 1000,100,101."),
]
BoundaryWeight = Annotated[float | None, typer.Option("--lambda-boundary", help="The weight of the boundary terms.")]
InterfaceWeight = Annotated[
    str | None,
    typer.Option("--lambda-interface", metavar="WEIGHT", help="A number, or by condition: uavg=10,c=3."),
]

LONGEST_NAME = 255  # bytes


def read_parameters(texts: list[str] | None) -> dict[str, str]:
    """['s=20'] -> {'s': '20'}; the family checks the values."""
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"-p takes NAME=VALUE, as in -p s=20, not '{text}'")
        if name.strip() in found:
            raise ParameterError(f"parameter '{name.strip()}' is given twice")
        found[name.strip()] = value.strip()
    return found


def read_choose(texts: list[str] | None) -> list[Choice] | None:
    """Choices with their levels; None if there are none."""
    from ..choices import Choice, read_choices

    return list(read_choices([Choice.parse(text) for text in texts])) if texts else None


def read_levels(texts: list[str] | None) -> dict[str, Any] | None:
    """One level of each choice."""
    from ..choices import read_level

    found: dict[str, Any] = {}
    for text in texts or []:
        name, equals, level = (part.strip() for part in text.partition("="))
        if not equals or not name or not level or "," in level:
            raise ChoiceError(f"--choose takes NAME=LEVEL here, as in --choose strip=0.2, not '{text}'")
        if name in found:
            raise ChoiceError(f"choice '{name}' is given twice")
        found[name] = read_level(name, level)
    return found or None


def read_workers(text: str) -> int | str:
    """A number of processes, or the address of a Dask scheduler."""
    if "://" in text:
        return text
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise StudyError(f"--workers is a number of at least 1, or an address such as tcp://host:8786, not '{text}'")
    return count


def read_widths(text: str | None, option: str = "--hidden") -> list[int] | None:
    """'12,12' -> [12, 12]; what they may be is checked where they are used."""
    if text is None:
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"{option} takes whole numbers such as 20,20, not '{text}'") from None


def read_points(text: str | None) -> Points | None:
    """'1000,100,101' -> Points(1000, 100, 101)."""
    from ..geometry import Points

    counts = read_widths(text, "--points")
    if counts is None:
        return None
    if len(counts) != 3:
        raise ParameterError(f"--points takes three numbers, collocation,boundary,interface, not '{text}'")
    collocation, boundary, interface = counts
    return Points(collocation, boundary, interface)


def read_weights(text: str | None) -> float | dict[str, float] | None:
    """'5' -> 5.0; 'uavg=10,c=3' -> {'uavg': 10.0, 'c': 3.0}."""
    try:
        if text is None or "=" not in text:
            return None if text is None else float(text)
        pairs = [part.split("=") for part in text.split(",")]
        return {name.strip(): float(weight) for name, weight in pairs}
    except ValueError:
        raise ParameterError(f"--lambda-interface takes 5, or uavg=10,c=3, not '{text}'") from None


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
