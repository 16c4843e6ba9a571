"""A campaign: which ledgers exist, what must still be run, and where outputs go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.figure import Figure

from ..atomic import write_whole
from ..bandit import UCB, Random, Sequential, Settings, Single, Thompson
from ..errors import LedgerError, StudyError
from ..evaluation.figures import label
from ..evaluation.offline import KIND, OfflineTest, run_test
from ..evaluation.standing import finished_plays
from ..evaluation.tables import Table
from ..families.registry import BUILT_IN
from ..geometry.sampling import Points
from ..pinn.optimizers import LBFGS, Adam
from ..pinn.schedule import SCHEDULES, Phase, Schedule, find_schedule
from ..study import Ledger, Study
from ..study.driver import Show
from ..study.ledger import TRIALS
from ..study.protocol import find_protocol
from .paper import FAMILIES

DPI = 150


@dataclass(frozen=True)
class Scale:
    """How much is run: plays per study, PDEs per test, runs per cell of the preliminary study."""

    name: str
    plays: int
    random_plays: int
    pdes: int
    runs: int
    schedule: Schedule
    preliminary: Schedule
    families: tuple[str, ...]
    solver: Mapping[str, Any]
    map: int  # points per axis of a map of errors
    regret: Mapping[str, Any]


_TINY = Schedule("tiny", (Phase(Adam(1e-2), 5), Phase(Adam(1e-2), 5)))
_PRELIMINARY = Schedule(
    "preliminary",
    (Phase(Adam(1e-3), 500), Phase(LBFGS(gradient_tolerance=1e-9, change_tolerance=1e-12), 20_000)),
    sampling="random",
    scaling="none",
)
SCALES = {
    "full": Scale(
        "full",
        plays=200,
        random_plays=5,
        pdes=100,
        runs=10,
        schedule=SCHEDULES["fast"],
        preliminary=_PRELIMINARY,
        families=FAMILIES,
        solver={},
        map=161,
        regret={"plays": 1000, "draws": 10},
    ),
    "small": Scale(
        "small",
        plays=4,
        random_plays=2,
        pdes=2,
        runs=2,
        schedule=_TINY,
        preliminary=_TINY,
        families=FAMILIES[:1],
        solver={"hidden": (6,), "points": Points(36, 16, 8)},  # 36 is a square: grids need no program of their own
        map=41,
        regret={"plays": 60, "draws": 2, "conditions": 3, "grid": 5},
    ),
}


@dataclass
class Made:
    """What `reproduce` returns: the table, and all files written."""

    table: Table
    files: list[Path] = field(default_factory=list)


T = TypeVar("T")


class Campaign:
    """One call of `reproduce`: finds ledgers, runs what is missing, writes outputs. Every ledger is read once."""

    def __init__(
        self,
        out: Path,
        scale: Scale,
        ledgers: str | os.PathLike[str] | None = None,
        families: Sequence[str] | None = None,
        schedule: Any = None,
        workers: int | str | Any = 1,
        run: bool = True,
        progress: Callable[[str], Any] | None = None,
        protocol: str | None = None,
    ):
        self.out, self.scale, self.workers, self.run, self._progress = out, scale, workers, run, progress
        self.protocol = protocol if protocol is None else find_protocol(protocol).name
        if schedule is None and protocol is not None and scale.name == "full":
            schedule = find_protocol(protocol).schedule
        self.schedule = scale.schedule if schedule is None else find_schedule(schedule)
        self.families = tuple(families or scale.families)
        unknown = [name for name in self.families if name not in BUILT_IN]
        if unknown:
            raise StudyError(f"no family '{unknown[0]}': the paper's are {', '.join(FAMILIES)}")
        if ledgers is not None and not Path(ledgers).is_dir():
            raise StudyError(f"there is no directory '{ledgers}' of ledgers")
        self._known: dict[tuple[Any, ...], Any] = {}
        self._places = [self.out] if ledgers is None else [Path(ledgers), self.out]
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"cannot write into '{out}': {error.strerror}") from error

    # ---- ledgers

    def _read(self, reader: Callable[[Path], T], path: Path) -> T:
        """Return `reader(path)`; it is called again only if the file has changed."""
        state = path.stat()
        key = (reader, path, state.st_mtime_ns, state.st_size)
        if key not in self._known:
            self._known[key] = reader(path)
        return self._known[key]

    def _files(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """All ledgers with their settings."""
        found = {path.resolve(): path for place in self._places for path in sorted(place.rglob("*.db"))}
        for path in found.values():
            settings = self._read(_settings, path)
            if settings is not None:
                yield path, settings

    def _found(self, kind: str | None, family: str, name: str | None = None, schedule: str | None = None) -> list[Path]:
        wanted = schedule or self.schedule.name
        return [
            path
            for path, settings in self._files()
            if settings.get(TRIALS, {}).get("kind") == kind
            and settings.get("protocol") == self.protocol
            and settings["family"]["name"] == family
            and settings["schedule"]["name"] == wanted
            and (name is None or (label(settings) == name and _as_the_paper(settings)))
        ]

    def has_study(self, family: str, name: str) -> bool:
        return bool(self._found(None, family, name))

    def studies(self, family: str, name: str) -> list[Path]:
        """Return the ledgers of a family and a bandit ('Seq-UCB'), one per seed. If none lies outside the output
        directory and something may be run, one is played or continued."""
        found = self._found(None, family, name)
        if not self.run or any(not path.is_relative_to(self.out) for path in found):
            return found
        if found and self._read(_count_finished, found[0]) >= self.scale.plays:
            return found
        path = found[0] if found else self.out / "ledgers" / f"{family}-{name.lower()}-0.db"
        path.parent.mkdir(exist_ok=True)
        bandit = bandit_named(name, self.scale.random_plays)
        options: dict[str, Any] = {"solver": self.scale.solver, "protocol": self.protocol}
        with Study(path, family, bandit, self.schedule, seed=0, **options) as study:
            left = self.scale.plays - study.finished_count
            if left > 0:
                with self.progress(f"{family}, {name}: {left} plays") as show:
                    study.play(left, self.workers, show)
        return [path]

    @contextmanager
    def longest(self, family: str, name: str) -> Iterator[Study]:
        """The study with the most plays, open for reading."""
        studies = [Study(path, read_only=True) for path in self.studies(family, name)]
        try:
            yield max(studies, key=lambda study: len(finished_plays(study.plays)))
        finally:
            for study in studies:
                study.close()

    def test(self, family: str, name: str, methods: Sequence[str] = ()) -> OfflineTest | None:
        """Return the offline test of a bandit with these methods beside the learned choice; run it if it is missing.
        If nothing may be run, return a test with some of these methods, or None. Tests of longer studies go first."""
        wanted = set(methods) | {"learned"}
        paths = [path for path in self._found(KIND, family, name) if not (self.run and path.is_relative_to(self.out))]
        tests = [self._read(OfflineTest.read, path) for path in paths]
        tests.sort(key=lambda test: (-test.settings[TRIALS]["plays"], -len(wanted & set(test.methods))))
        for test in tests:
            if not self.run or wanted <= set(test.methods):
                return test
        if not self.run:
            return None
        path = self.out / "tests" / f"{family}-{name.lower()}.db"
        path.parent.mkdir(exist_ok=True)
        with self.longest(family, name) as study, self.progress(f"{family}, {name}: offline test") as show:
            options: dict[str, Any] = {"pdes": self.scale.pdes, "schedule": self.schedule, "workers": self.workers}
            return run_test(study, path, methods=tuple(methods), progress=show, **options)

    def nothing(self, what: str) -> StudyError:
        """The error if there is nothing to make an item from."""
        places = " or ".join(f"'{place}'" for place in self._places)
        families = ", ".join(self.families)
        return StudyError(
            f"no {what} in {places} ({families}; schedule '{self.schedule.name}'"
            + (f", protocol '{self.protocol}'" if self.protocol else "")
            + "), and nothing may be run"
        )

    def trials(self, kind: str, family: str) -> tuple[Path, bool]:
        """Return the file of a preliminary study, and whether it is ours to continue (else it is only read)."""
        found = self._found(kind, family, schedule=self.scale.preliminary.name)
        for path in found:
            if not self.run or not path.is_relative_to(self.out):
                return path, False
        if not self.run:
            raise self.nothing(f"runs of the {kind} study")
        path = self.out / "trials" / f"{kind}.db"
        path.parent.mkdir(exist_ok=True)
        return path, True

    @contextmanager
    def progress(self, text: str) -> Iterator[Show | None]:
        if self._progress is None:
            yield None
        else:
            with self._progress(text) as show:
                yield show

    # ---- outputs

    def save(
        self,
        name: str,
        figures: Mapping[str, Figure],
        data: Table,
        table: Table,
        schedule: str | None = None,
        overview: Table | None = None,
    ) -> Made:
        """Write figures as PDF and PNG, the numbers as csv, and the tables as Markdown.

        Args:
            name: The stem of all file names.
            figures: Figures by the end of their stem.
            data: All numbers.
            table: The table for readers.
            schedule: The schedule, if not that of the campaign; empty if nothing was trained.
            overview: A short table above the other.
        """
        files = [path for suffix, figure in figures.items() for path in self.draw(f"{name}{suffix}", figure)]
        files.append(data.to_csv(self.out / f"{name}.csv"))
        tables = [table] if overview is None else [overview, table]
        text = "\n".join(one.to_markdown() for one in tables)
        text += self.provenance(self.schedule.name if schedule is None else schedule)
        files.append(write_whole(self.out / f"{name}.md", lambda file: file.write(text.encode())))
        return Made(table, files)

    def draw(self, name: str, figure: Figure) -> list[Path]:
        drawn = {"pdf": {"CreationDate": None}, "png": None}  # no date: the same numbers give the same file
        return [
            write_whole(self.out / f"{name}.{kind}", partial(figure.savefig, format=kind, dpi=DPI, metadata=metadata))
            for kind, metadata in drawn.items()
        ]

    def provenance(self, schedule: str) -> str:
        """The last line of every page: scale, schedule, protocol."""
        line = f"\nScale `{self.scale.name}`" + (f", schedule `{schedule}`." if schedule else ".")
        if self.protocol and schedule:
            line = line.removesuffix(".") + f", protocol `{self.protocol}`."
        if self.scale.name == "small" and schedule:
            line += " Tiny networks trained for seconds: the numbers mean nothing."
        if not self.run:
            line += " Made from what there was; what is missing was not run."
        return line + "\n"


def _as_the_paper(settings: Mapping[str, Any]) -> bool:
    """Whether a study, or the study behind a test, learns as in the paper: from errors, after random sets, with the
    paper's constants. Random policies do not learn and always count."""
    bandit, learned_from = settings["bandit"], settings.get(TRIALS, settings)["reward"]
    if bandit["policy"]["name"] == "random":
        return True
    policy = bandit_named(label(settings), 0).policy.to_dict()
    return learned_from == "error" and bandit["policy"] == policy and not bandit.get("first")


def _settings(path: Path) -> dict[str, Any] | None:
    """The settings of a ledger; None if it cannot be read."""
    try:
        with Ledger(path) as ledger:
            return ledger.settings()
    except LedgerError:
        return None


def _count_finished(path: Path) -> int:
    with Ledger(path) as ledger:
        return len(finished_plays(ledger.plays()))


def bandit_named(name: str, random_plays: int) -> Settings:
    """'Seq-UCB', 'Single-TS', 'Random-Seq' ... as settings."""
    policies = {"UCB": UCB(), "TS": Thompson(), "Random": Random()}
    first, second = name.split("-")
    kind, policy = (second, first) if first == "Random" else (first, second)
    options: dict[str, Any] = {"policy": policies[policy], "random_plays": random_plays}
    return Sequential(**options) if kind == "Seq" else Single(**options)


@dataclass(frozen=True)
class Item:
    """A table or a figure to reproduce: its name, and the function that makes it."""

    name: str
    make: Callable[[Campaign], Made]
