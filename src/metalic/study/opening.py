"""Create or open the ledger of a study, and check that its settings agree."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import LedgerError, StudyError
from ..families.base import Family
from .files import exists
from .knowledge import borrow
from .ledger import Ledger
from .reading import Reading
from .rows import PlayRow
from .settings import StudySettings, new_settings, source_hash, stored_settings


def open_ledger(
    place: Path | Reading, given: Mapping[str, Any], start_from: str | os.PathLike[str] | None, read_only: bool
) -> tuple[Ledger | Reading, StudySettings]:
    """The ledger of a study and its settings.

    Args:
        place: The file; it is created if it does not exist and a family is given. Or a reading of one.
        given: The settings that the user gives, by the names of the arguments of `new_settings`; None where not given.
        start_from: Another ledger from which a new study borrows plays.
        read_only: Whether to open the file only for reading.

    Raises:
        StudyError: The settings are not allowed or do not agree with the file.
        LedgerError: The file cannot be read or written.
    """
    path = place.path if isinstance(place, Reading) else place
    ledger: Ledger | Reading
    if isinstance(place, Reading):
        ledger = place
    elif read_only:
        ledger = Ledger(path)
    elif exists(path) or given["family"] is None:
        ledger = Ledger.writer(path, None)
    else:
        ledger = _begin(path, new_settings(**given), start_from)
    try:
        stored = ledger.settings()
        settings = _read(path, stored, given)
        if start_from is not None and stored["borrowed"] is None:
            raise StudyError(f"ledger '{path}' exists and has borrowed no plays; start_from is for a new one")
    except BaseException:
        ledger.close()
        raise
    _warn_of_changes(settings.family, stored, path)
    return ledger, settings


def _begin(path: Path, settings: StudySettings, start_from: str | os.PathLike[str] | None) -> Ledger:
    plays: list[PlayRow] = []
    if start_from is not None:
        plays, about = borrow(start_from, settings.to_dict())
        settings = replace(settings, borrowed=about)
    return Ledger.writer(path, settings.to_dict(), plays)


def _read(path: Path, stored: Mapping[str, Any], given: Mapping[str, Any]) -> StudySettings:
    if "library" in stored:
        raise StudyError(f"'{path}' is a library of solved members, not a study; start solves from it")
    try:
        return stored_settings(stored, path, **given)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LedgerError(f"ledger '{path}' is damaged: its settings cannot be read ({error})") from error


def _warn_of_changes(family: Family, stored: Mapping[str, Any], path: Path) -> None:
    if stored["source"] != source_hash(family):
        warnings.warn(
            f"the file that defines family '{family.name}' has changed since '{path}' was created; earlier and "
            "later plays are compared as if it had not",
            stacklevel=4,
        )
