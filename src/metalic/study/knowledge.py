"""Earlier plays: the ledgers shipped with the package, and plays borrowed from another ledger."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..atomic import a_path
from ..errors import LedgerError, StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN
from .files import exists
from .ledger import Ledger
from .rows import PlayRow

SHIPPED = Path(__file__).parent.parent / "knowledge"
MEMBERS = SHIPPED / "members"


def shipped() -> dict[str, Path]:
    """The ledgers inside the package, by the name of their family."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.db"))}


def shipped_library(family: Family) -> Path | None:
    """The library of solved members inside the package for a built-in family as it is, if there is one."""
    kind, path = BUILT_IN.get(family.name), MEMBERS / f"{family.name}.db"
    return path if kind is not None and family == kind() and path.is_file() else None


def find_ledger(given: str | os.PathLike[str]) -> Path:
    """Find a ledger.

    Args:
        given: A path, or a family's name for the ledger shipped with the package.

    Raises:
        LedgerError: There is no such file, and no ledger of that name in the package.
    """
    path = a_path(given)
    if exists(path) or path.suffix or path.name != str(given):
        return path
    known = shipped()
    if str(given) not in known:
        listing = ", ".join(known) or "none"
        raise LedgerError(
            f"there is no file '{given}', and no ready-made ledger of that name (there are: {listing}); "
            f"`metalic play {given}.db --family {given}` makes one"
        )
    return known[str(given)]


def borrow(source: str | os.PathLike[str], wanted: Mapping[str, Any]) -> tuple[list[PlayRow], dict[str, Any]]:
    """Read the finished plays of another ledger, for a new study to learn from.

    Args:
        source: The other ledger, as in `find_ledger`.
        wanted: The settings of the new study.

    Returns:
        The plays, renumbered to end at 0, and the entry about them in the new settings.

    Raises:
        StudyError: The settings of the two do not agree, or there are no finished plays.
    """
    path = find_ledger(source)
    with Ledger(path) as ledger:
        settings, plays = ledger.settings(), [play for play in ledger.plays() if play.taught]
    for name, theirs, ours in (
        ("family", settings["family"]["name"], wanted["family"]["name"]),
        ("parameters", settings["family"]["parameters"], wanted["family"]["parameters"]),
        ("conditions", settings["family"]["conditions"], wanted["family"]["conditions"]),
        ("phases", len(settings["schedule"]["phases"]), len(wanted["schedule"]["phases"])),
        ("reward", settings["reward"], wanted["reward"]),
        ("protocol", settings.get("protocol"), wanted.get("protocol")),
    ):
        if theirs != ours:
            raise StudyError(f"a study cannot start from '{path}': its {name} is {theirs}, the new one's {ours}")
    if not plays:
        raise StudyError(f"a study cannot start from '{path}': it has no finished plays")
    borrowed = [
        replace(play, number=number, borrowed=True, seen=(), pending=())
        for number, play in enumerate(plays, start=1 - len(plays))
    ]
    content = json.dumps([asdict(play) for play in borrowed], sort_keys=True)
    return borrowed, {"plays": len(borrowed), "hash": hashlib.sha256(content.encode()).hexdigest()}
