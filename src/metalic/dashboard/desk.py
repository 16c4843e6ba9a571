"""Makes the pages, and keeps what it has read and drawn: ten tabs cost one reading and one drawing per change."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from tornado.template import Loader

from ..errors import MetalicError, StudyError
from ..evaluation.curves import choices_figure, history_figure, medians_figure
from ..evaluation.figures import effects_figure
from ..evaluation.standing import KINDS
from ..pinn.figures import solution_figure
from ..study.recommendation import Recommendation
from ..study.rows import STATUSES, PlayRow
from ..study.tables import csv_text
from .drawing import image, inline
from .query import AT, ROWS, Query
from .view import View, Watched

HERE = Path(__file__).parent
KEPT = 64  # pages and figures
FIGURES = ("medians", "errors", "effects", "play", "solution")


class Desk:
    """The pages of some ledgers.

    Args:
        ledgers: Their paths.
        family: The family of those that do not say where it is defined.

    Raises:
        MetalicError: A ledger cannot be read.
    """

    def __init__(self, ledgers: Sequence[Path], family: Any = None):
        self.watched = [Watched(path, family) for path in ledgers]
        self.drawn = 0
        self._pages, self._lock = Kept(), threading.Lock()
        self._loader = Loader(str(HERE / "templates"), autoescape="xhtml_escape")
        for number in range(len(self.watched)):
            self.view(number)

    def view(self, number: int) -> View:
        """A study as it is now.

        Raises:
            MetalicError: There is no such study, or it cannot be read.
        """
        if not 0 <= number < len(self.watched):
            raise StudyError(f"there is no study {number}; the dashboard shows {len(self.watched)}")
        with self._lock:
            return self.watched[number].now()

    def seen(self, *numbers: int) -> str:
        """A text that changes whenever one of the studies does."""
        return token(*(self.view(number) for number in numbers))

    @property
    def reads(self) -> int:
        """How often ledgers were read."""
        return sum(one.reads for one in self.watched)

    # ---- pages

    def overview(self, number: int, query: Query) -> str:
        """Progress, figures and plays of a study."""
        return self._page("study", number, query, self._overview)

    def learned(self, number: int, query: Query) -> str:
        """What to use where (fits the reward models if there are new plays)."""
        return self._page("learned", number, query, self._learned)

    def has_learned(self, number: int, query: Query) -> bool:
        """Whether the page `learned` is there already."""
        return self._key("learned", number, query) in self._pages

    def waiting(self, number: int, query: Query) -> str:
        """The page that is shown while the reward models are fitted."""
        view = self.view(number)
        at = {name: _number(query.at.get(name), *box) for name, box in view.boxes.items()}
        return self._template("learned", number, query, view=view, at=at, advice=None, prefix=AT, trouble="")

    def play(self, number: int, play: int, query: Query) -> str:
        """One play in detail."""
        return self._page(f"play {play}", number, query, lambda n, v, q: self._play(n, v, q, play))

    def compare(self, number: int, query: Query) -> str:
        """Two studies side by side."""
        other = int(query.other) if query.other.isdecimal() else (1 if number == 0 else 0)
        both = [self.view(number), self.view(other)]
        key = ("compare", number, other, query.address(), token(*both))
        return self._pages.get(key, lambda: self._compare(number, other, both, query))

    def problem(self, message: str) -> str:
        """A page with one sentence."""
        return self._generate("problem", title="Something is wrong", message=message, studies=[])

    def csv(self, number: int) -> bytes:
        """All plays as a table."""
        return csv_text(self.view(number).plays)

    def png(self, number: int, name: str, query: Query, play: int | None = None) -> bytes:
        """A figure as PNG.

        Raises:
            StudyError: There is no such figure.
        """
        if name not in FIGURES:
            raise StudyError(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
        view = self.view(number)
        figure = self._figure(view, name, query, play)
        if figure is None:
            raise StudyError(f"'{view.name}' has nothing to draw there yet")
        return image(figure, "png")

    # ---- how they are made

    def _key(self, name: str, number: int, query: Query) -> tuple[Any, ...]:
        return self._key_of(name, number, self.view(number), query)

    def _key_of(self, name: str, number: int, view: View, query: Query) -> tuple[Any, ...]:
        return (name, number, query.address(), token(view))

    def _page(self, name: str, number: int, query: Query, make: Callable[[int, View, Query], str]) -> str:
        view = self.view(number)
        return self._pages.get(self._key_of(name, number, view, query), lambda: make(number, view, query))

    def _overview(self, number: int, view: View, query: Query) -> str:
        rows = query.rows(view.plays, view.standing)
        base = f"/study/{number}/play/"
        drawings = {name: self._svg(number, view, name, query) for name in ("medians", "errors")}
        return self._template(
            "study",
            number,
            query,
            view=view,
            rows=rows[:ROWS],
            count=len(rows),
            base=base,
            drawings=drawings,
            statuses=STATUSES,
            kinds=KINDS,
            parameters=list(view.boxes),
        )

    def _learned(self, number: int, view: View, query: Query) -> str:
        at = {name: _number(query.at.get(name), *box) for name, box in view.boxes.items()}
        try:
            advice = view.advice({name: str(value) for name, value in at.items()})
            more: dict[str, Any] = {"advice": described(advice), "words": view.words, "trouble": ""}
            more["drawing"] = self._svg(number, view, "effects", query)
        except MetalicError as error:
            more = {"advice": None, "trouble": str(error)}
        return self._template("learned", number, query, view=view, at=at, prefix=AT, **more)

    def _play(self, number: int, view: View, query: Query, play: int) -> str:
        row = view.play(play)
        drawings = {name: self._svg(number, view, name, query, play) for name in ("play", "solution")}
        rows: dict[str, Any] = {
            "play": row,
            "kind": view.standing.kind(row) if row.taught else "",
            "drawings": drawings,
        }
        return self._template("play", number, query, view=view, **rows)

    def _compare(self, number: int, other: int, views: Sequence[View], query: Query) -> str:
        groups: dict[str, list[PlayRow]] = {}
        for view in views:
            name = view.name if view.name not in groups else f"{view.name} (2)"
            groups[name] = [play for play in view.plays if play.taught and play.error is not None]
        medians = None
        if views[0].family == views[1].family and any(groups.values()):
            medians = inline(medians_figure({name: rows for name, rows in groups.items() if rows}), "errors of both")
            self.drawn += 1
        each = [(n, v, self._svg(n, v, "errors", query)) for n, v in zip((number, other), views)]
        parts: dict[str, Any] = {"each": each, "medians": medians, "other": other}
        return self._template("compare", number, query, view=views[0], **parts)

    def _svg(self, number: int, view: View, name: str, query: Query, play: int | None = None) -> str | None:
        """A figure of a study as it is in pages; it does not change with what is sorted and filtered."""
        key = ("figure", name, number, play, query.axis if name == "errors" else "", view.reading.version)
        return self._pages.get(key, lambda: self._draw(number, view, name, query, play))

    def _draw(self, number: int, view: View, name: str, query: Query, play: int | None) -> str | None:
        figure = self._figure(view, name, query, play, number)
        if figure is None:
            return None
        self.drawn += 1
        tips = {_link(number)(row): _tip(row) for row in view.plays} if play is None else None
        return inline(figure, name, tips)

    def _figure(self, view: View, name: str, query: Query, play: int | None = None, number: int = 0) -> Figure | None:
        link = _link(number)
        if name == "medians":
            groups = view.standing.groups(view.plays)
            return medians_figure(groups, link) if groups else None
        if name == "errors":
            shown = [row for row in view.plays if row.taught and row.error is not None]
            axis = query.axis if query.axis in view.boxes else next(iter(view.boxes), None)
            return choices_figure(shown, axis, link) if shown and axis else None
        if name == "effects":
            study = view.known()
            return effects_figure(study.learned, study.settings.catalogue.names, study.family.parameters)
        row = view.play(-1 if play is None else play)
        if name == "play":
            networks = view.networks(row.number)
            return history_figure(networks.history if networks else (), row.phases) if row.taught else None
        solution = view.solution(row.number)
        return None if solution is None else solution_figure(solution)

    def _template(self, template: str, number: int, query: Query, **values: Any) -> str:
        view: View = values["view"]
        shown = [(place, one.path.name) for place, one in enumerate(self.watched)]
        common = {"title": view.title, "studies": shown, "number": number, "query": query, "seen": token(view)}
        return self._generate(template, **common, **values)

    def _generate(self, template: str, **values: Any) -> str:
        helpers = {"text": text, "context": context, "seconds": seconds}
        return self._loader.load(f"{template}.html").generate(**helpers, **values).decode()


class Kept:
    """The latest things that were made, by key; each is made once."""

    def __init__(self) -> None:
        self._things: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self._things

    def get(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if key not in self._things:
            self._things[key] = make()
            while len(self._things) > KEPT:
                self._things.popitem(last=False)
        return self._things[key]


def token(*views: View) -> str:
    """A text that identifies what was read; a page holds that of the views it was made from, not of the files now."""
    return hashlib.sha256(repr([view.reading.version for view in views]).encode()).hexdigest()[:16]


def described(advice: Recommendation) -> dict[str, Any]:
    """A recommendation as plain values for a template."""
    names = list(advice.phases[0].effects)
    effects = [(name, [phase.effects[name] for phase in advice.phases]) for name in names]
    return {
        "sets": [str(phase.best.conditions) for phase in advice.phases],
        "others": [[str(one.conditions) for one in phase.suggestions[1:]] for phase in advice.phases],
        "expected": advice.expected,
        "interval": advice.interval,
        "meaning": advice.meaning,
        "plays": advice.plays,
        "certainty": advice.certainty,
        "effects": effects,
    }


def text(value: float | None) -> str:
    """A number for readers."""
    return "-" if value is None else f"{value:.2e}" if value and not 0.01 <= abs(value) < 1000 else f"{value:.3g}"


def context(values: Mapping[str, float]) -> str:
    """Parameters for readers."""
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items())


def seconds(row: PlayRow) -> float:
    """The training time of a play."""
    return sum(phase.seconds or 0.0 for phase in row.phases)


def _link(number: int) -> Callable[[PlayRow], str]:
    return lambda row: f"/study/{number}/play/{row.number}"


def _tip(row: PlayRow) -> str:
    return f"play {row.number}: {context(row.parameters)}, {row.sets}, error {text(row.error)}"


def _number(given: str | None, low: float, high: float) -> float:
    """A parameter from an address, inside its box."""
    try:
        return min(max(float(given or "nan"), low), high) if given else 0.5 * (low + high)
    except ValueError:
        return 0.5 * (low + high)
