"""A report about one or several studies: a self-contained HTML page for screens, phones and paper.

Files of offline tests may be given, too; they appear with their family. All text from a ledger is escaped, and the page
does not allow loading anything.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from matplotlib.figure import Figure

from .. import __version__
from ..atomic import write_whole
from ..choices import levels_text
from ..errors import StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN
from ..look import data_uri
from ..pinn.figures import comparison_figure
from ..study import Ledger, PlayRow, Study
from ..study.knowledge import find_ledger
from ..study.ledger import TRIALS
from .baselines import METHODS
from .figures import label, methods_figure
from .narrative import sentences
from .offline import OfflineTest, planner
from .pictures import FIGURES, Picture, find_picture, study_title
from .standing import finished_plays
from .tables import Table, summary_table

PAGE = Path(__file__).with_name("page.html")
WIDE = 7.0  # inches; on a phone a wider figure is scrolled instead of shrunk
MAPS = ("learned", "random-seq", "pinn-sub")


@dataclass
class Chapter:
    """The studies and tests of one family."""

    studies: list[Study] = field(default_factory=list)
    tests: list[OfflineTest] = field(default_factory=list)


def write_report(
    ledgers: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    family: str | Family | type[Family] | None = None,
    maps: bool = False,
    figures: Sequence[str | Picture | type[Picture]] = (),
) -> Path:
    """Write a page about studies and offline tests.

    Args:
        ledgers: Ledgers of studies and files of offline tests.
        out: The page.
        family: The family of ledgers that do not say where it is defined.
        maps: Whether to solve one PDE per family again and show its point-wise errors (minutes).
        figures: Figures of your own to add, by their place (`file.py:Name`) or themselves.

    Returns:
        The path of the page.

    Raises:
        StudyError: There are no ledgers.
        LedgerError: A ledger cannot be read.
    """
    shown = [find_picture(one) for one in (*FIGURES, *figures)]
    chapters = _read(ledgers, family)
    try:
        text = page(chapters, shown, maps)
    finally:
        for chapter in chapters.values():
            for study in chapter.studies:
                study.close()
    return write_whole(Path(out), lambda file: file.write(text.encode()))


def _read(ledgers: Sequence[str | os.PathLike[str]], family: Any) -> dict[str, Chapter]:
    if not ledgers:
        raise StudyError("a report needs at least one ledger")
    chapters: dict[str, Chapter] = {}
    for path in ledgers:
        with Ledger(find_ledger(path)) as ledger:
            settings = ledger.settings()
        chapter = chapters.setdefault(settings["family"]["name"], Chapter())
        if TRIALS in settings:
            chapter.tests.append(OfflineTest.read(path))
        else:
            own = settings["family"]["name"] not in BUILT_IN
            chapter.studies.append(Study(path, family if own else None, read_only=True))
    for chapter in chapters.values():  # studies that learn come first
        chapter.studies.sort(key=lambda study: not study.settings.bandit_settings.policy.needs_model)
    return chapters


def page(chapters: Mapping[str, Chapter], figures: Sequence[Picture], maps: bool = False) -> str:
    """The whole page as text."""
    names = list(chapters)
    body = "\n".join(_chapter(name, chapter, figures, maps) for name, chapter in chapters.items())
    plays = sum(len(finished_plays(study.plays)) for chapter in chapters.values() for study in chapter.studies)
    made = datetime.now(UTC).isoformat(timespec="minutes")
    return Template(PAGE.read_text()).substitute(
        title=f"What was learned: {html.escape(', '.join(names))}",
        lead=f"Which interface conditions make a multi-domain PINN accurate, learned from {plays} plays.",
        links=" ".join(f'<a href="#{_anchor(name)}">{html.escape(name)}</a>' for name in names),
        body=body,
        foot=f"Made by metalic {__version__}, {made}.",
    )


def _anchor(name: str) -> str:
    return "family-" + "".join(letter if letter.isalnum() else "-" for letter in name)


def _chapter(name: str, chapter: Chapter, figures: Sequence[Picture], maps: bool) -> str:
    parts = [f'<section><h2 id="{_anchor(name)}">{html.escape(name)}</h2>']
    parts += [_problem(study) for study in chapter.studies[:1]]
    teachers = [study for study in chapter.studies if any(play.taught for play in study.plays)]
    for study in teachers:
        parts.append(f"<h3>In words: {html.escape(study_title(study))}</h3>")
        parts.append('<ul class="learned">' + "".join(f"<li>{html.escape(s)}</li>" for s in sentences(study)) + "</ul>")
    if teachers:
        parts += _pictures(teachers, figures)
    for test in chapter.tests:
        parts += _test(test)
    if maps and teachers:
        parts.append(_maps(teachers[0]))
    for study in chapter.studies:
        parts.append(f"<h3>Plays: {html.escape(study_title(study))}</h3>")
        parts.append(f'<div class="plays">{plays_table(study.plays).to_html()}</div>')
    for study in chapter.studies:
        parts.append(f"<h3>Settings: {html.escape(study_title(study))}</h3>")
        parts.append(f'<div class="settings">{settings_table(study).to_html()}</div>')
    return "\n".join([*parts, "</section>"])


def _pictures(studies: Sequence[Study], figures: Sequence[Picture]) -> list[str]:
    drawn = [(picture.caption, *one) for picture in figures for one in picture.draw(studies)]
    return [f"<h3>{html.escape(title)}</h3>" + _picture(figure, caption) for caption, title, figure in drawn]


def _test(test: OfflineTest) -> list[str]:
    summary = test.summary()
    spread = {one.title: list(test.measures(one.method).values()) for one in summary}
    return [
        f"<h3>On unseen PDEs: {html.escape(label(test.settings))}</h3>",
        summary_table(summary, test.settings).to_html(),
        _picture(methods_figure(spread), _compared(test)),
    ]


def _compared(test: OfflineTest) -> str:
    """On what the methods were compared."""
    counts = {one.pdes for one in test.summary()}
    if len(counts) == 1:
        return f"Errors of every method on the same {counts.pop()} PDEs, from the same seeds."
    return (
        f"Methods were tried on {min(counts)} to {max(counts)} PDEs, the number next to the name; those that two share "
        "are the same PDEs with the same seeds. The ratio in the table compares PDE by PDE."
    )


def _problem(study: Study) -> str:
    """The equation, the parameters, and what the interface conditions mean."""
    family = study.family
    boxes = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, (low, high) in family.parameters.items())
    equation = (family.title or family.name) + (f", with {boxes}" if boxes else "")
    rows = [(one.name, one.description, one.formula) for one in study.settings.catalogue.conditions]
    table = Table("", ("condition", "meaning", "at one point (' is the other side)"), tuple(rows))
    return f"<p>{html.escape(equation)}</p>{table.to_html()}"


def _maps(study: Study) -> str:
    """One PDE of the family, at the middle of its box, by three methods."""
    middle = {name: 0.5 * (low + high) for name, (low, high) in study.family.parameters.items()}
    plan = planner(study)
    names = [name for name in MAPS if not (name.startswith("pinn") and study.family.coefficients)]
    solutions = {METHODS[name].title: plan.at(METHODS[name], middle, seed=0).solve() for name in names}
    where = ", ".join(f"{name} = {value:g}" for name, value in middle.items())
    return f"<h3>Point-wise error {html.escape(where)}</h3>" + _picture(
        comparison_figure(solutions), "Absolute error; the same points and starting weights for all.", "png"
    )


def _picture(figure: Figure, caption: str, kind: str = "svg") -> str:
    """A figure inside the page."""
    text = html.escape(caption, quote=True)
    source = data_uri(figure, kind)
    wide = ' class="wide"' if figure.get_figwidth() > WIDE else ""
    return f'<figure><div><img{wide} src="{source}" alt="{text}"></div><figcaption>{text}</figcaption></figure>'


def plays_table(plays: Sequence[PlayRow]) -> Table:
    """A row for every play."""
    parameters = list(plays[0].parameters) if plays else []
    rows = []
    for play in plays:
        seconds = sum(phase.seconds or 0.0 for phase in play.phases)
        sets = " then ".join(dict.fromkeys(",".join(phase.conditions) or "none" for phase in play.phases))
        sets = " ".join(filter(None, (sets, levels_text(play.choices or {}))))
        values = [float(f"{value:.4g}") for value in play.parameters.values()]
        rows.append((play.number, play.status, *values, sets, play.error, play.reward, seconds))
    return Table("", ("play", "status", *parameters, "sets", "error", "reward", "seconds"), tuple(rows))


def settings_table(study: Study) -> Table:
    """The settings of a study, and the versions that its plays were made with."""
    values: dict[str, Any] = {key: value for key, value in study.settings.to_dict().items() if value is not None}
    values.pop("spec", None)
    found = {json.dumps(play.versions, sort_keys=True) for play in study.plays if play.versions}
    values["versions"] = [json.loads(text) for text in sorted(found)]
    return Table("", ("setting", "value"), tuple(_flat(values)))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name, value) of all settings; nested names are joined by dots, plain lists by commas."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value, start=1):
            yield from _flat(item, name if len(value) == 1 else f"{name} {number}")
    elif isinstance(value, list):
        yield name, ", ".join(map(str, value)) or "none"
    else:
        yield name, "none" if value is None or value == {} else str(value)
