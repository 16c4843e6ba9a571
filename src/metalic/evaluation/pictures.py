"""The figures of a report: what each shows of the studies of one family.

Every concrete `Picture` in this module is in every report. One of your own is given by `metalic report --figure
file.py:Name`, or in Python by `write_report(..., figures=[Name()])`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from matplotlib.figure import Figure

from ..bandit import Compared
from ..errors import StudyError
from ..registry import Registry
from ..study import PlayRow, Study
from .curves import medians_figure
from .figures import effects_figure, errors_figure, frequency_figure, label, sets_figure
from .gains import gains_figure
from .standing import standing_of


class Picture(ABC):
    """A figure, or several of a kind, about studies of one family that have finished plays."""

    name: ClassVar[str]
    caption: ClassVar[str]

    @abstractmethod
    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        """The titles and the figures."""


class RunningErrors(Picture):
    name = "running-errors"
    caption = (
        "A mark is a play, a line the median of the latest plays: it falls as better sets are found. The errors of "
        "different PDEs differ by themselves, which is why single plays scatter."
    )

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        for study in studies:
            groups = standing_of(study).groups(study.plays)
            if groups:
                yield f"Errors against plays: {study_title(study)}", medians_figure(groups)
        together = {name: [row for row in rows if row.error is not None] for name, rows in _groups(studies).items()}
        if len(studies) > 1 and all(together.values()):
            yield "Errors against plays, together", medians_figure(together)


class Effects(Picture):
    name = "effects"
    caption = (
        "What switching a condition on adds to the reward, averaged over the other conditions: 1 is a factor of ten in "
        "error. Bands hold 95 % of what the reward model thinks possible."
    )

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        for study in studies:
            names = study.settings.catalogue.names
            figure = effects_figure(study.learned, names, study.family.parameters)
            yield f"Which condition helps where: {study_title(study)}", figure


class Gains(Picture):
    name = "gains"
    caption = (
        "The error of each level, with the champion's set, relative to the champion's error: 0.1 is ten times better. "
        "Bands hold 95 % of what the model thinks possible. A dot is a pair of plays. The ribbon at the bottom has the "
        "colour of what is recommended."
    )

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        for study in studies:
            if not study.family.parameters or not isinstance(study.learned, Compared):
                continue
            for choice in study.settings.choices:
                figure = gains_figure(study.learned, choice, study.family.parameters)
                yield f"What the choice of {choice.name} gains: {study_title(study)}", figure


class SetsPlayed(Picture):
    name = "sets"
    caption = "A dot is a play; the number is the index of the set."

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        for parameter in studies[0].family.parameters:
            for name, rows in _groups(studies).items():
                yield f"Sets against {parameter}: {name}", sets_figure(rows, parameter)


class Errors(Picture):
    name = "errors"
    caption = "A mark is a play."

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        for parameter in studies[0].family.parameters:
            yield f"Error against {parameter}", errors_figure(_groups(studies), parameter)


class Frequency(Picture):
    name = "frequency"
    caption = "Random sets hold each condition half of the time."

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        names = studies[0].settings.catalogue.names
        yield "How often each condition was chosen", frequency_figure(_groups(studies), names)


FIGURES: Registry[type[Picture]] = Registry("figure", Picture, __name__, StudyError)


def find_picture(given: str | Picture | type[Picture]) -> Picture:
    """A figure from its name, its place (`file.py:Name`), its class, or itself."""
    found: Picture = FIGURES.make(FIGURES.find(given) if isinstance(given, str) else given)
    return found


def study_title(study: Study) -> str:
    """A study's file, its bandit and its schedule."""
    return f"{study.path.name} ({label(study.settings.to_dict())}, schedule {study.settings.schedule.name})"


def _groups(studies: Sequence[Study]) -> dict[str, list[PlayRow]]:
    groups: dict[str, list[PlayRow]] = {}
    for study in studies:
        groups.setdefault(label(study.settings.to_dict()), []).extend(study.plays)
    return groups
