"""A study: it chooses which set of conditions to play next, plays, remembers, and recommends.

The ledger is the state. The context and the seed of a play follow from the study's seed and the play's number, the
decisions from the rows of earlier plays. A study that was killed at any point therefore continues as if nothing had
happened.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import a_path
from ..bandit import BanditChooser, Learned, Played, PlayedPhase, Settings
from ..errors import LedgerError, StudyError
from ..families.base import Family
from ..notebook import show
from ..pinn import Report, Solution, train
from ..sets import Decision
from ..validation import integer
from . import tables
from .driver import Driver, Show
from .files import exists
from .integrity import problem
from .knowledge import borrow, find_ledger
from .ledger import Ledger
from .library import Library
from .play import Outcome, Task
from .protocol import Protocol
from .reading import Reading
from .recommendation import Effect, Recommendation, advise, condition_effects
from .rewards import Reward
from .rows import RUNNING, Numbers, PlayRow, now
from .settings import StudySettings, new_settings, source_hash, stored_settings
from .warm import Warm
from .workers import open_pool

CONTEXT, SEED = 0, 1  # streams of random numbers of a play


class Study:
    """A study and its ledger.

    An existing file is continued. Settings may then be left out; those that are given must agree with the file.

    Args:
        path: The ledger; or a `Reading` of one, which is only read.
        family: The family: a name, 'file.py:MyFamily', a class or an instance.
        bandit: `Sequential()` (default) or `Single()`.
        schedule: A schedule or its name; 'fast' by default.
        reward: 'error' (default if the family has a reference), 'residual' or 'error+time:SECONDS'.
        seed: Decides contexts, points and ties; 0 by default.
        solver: Options of every solve, such as {'hidden': (20, 20)}.
        protocol: A published set of experiments whose settings to use ('authors').
        start_from: Another ledger, or the name of a family with a ready-made one, whose plays a new study knows from
            the start.
        networks: Whether to keep the trained networks of each play in the ledger (about 8 kB per play), from which
            later solves can start.
        check: Whether to keep an estimate of the error and a verdict for each play, with or without a reference. A
            check takes about a second for each play. It does not change the plays.
        read_only: Whether to open the file only for reading, which is possible while another process writes.

    Raises:
        StudyError: The settings are not allowed or do not agree with the file.
        LedgerError: The file cannot be read or written.

    Example:
        >>> with Study("poisson", read_only=True) as study:  # the ledger shipped with the package
        ...     len(study.plays), study.settings.schedule.name
        (200, 'fast')
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Reading,
        family: str | Family | type[Family] | None = None,
        bandit: Settings | None = None,
        schedule: Any = None,
        reward: str | Reward | None = None,
        seed: int | None = None,
        *,
        solver: Mapping[str, Any] | None = None,
        protocol: str | Protocol | None = None,
        start_from: str | os.PathLike[str] | None = None,
        networks: bool = True,
        check: bool = False,
        read_only: bool = False,
    ):
        reading = path if isinstance(path, Reading) else None
        self.path = _place(path, read_only)
        self._asked: set[int] = set()
        self._keep_networks, self._checks = networks, check
        self._last_learned: tuple[tuple[int, ...], Learned] | None = None
        self._history: dict[int, Played] = {}
        given = (family, bandit, schedule, reward, seed, solver, protocol)
        self._ledger: Ledger | Reading
        if reading is not None:
            self._ledger = reading
        elif read_only:
            self._ledger = Ledger(self.path)
        elif exists(self.path) or family is None:
            self._ledger = Ledger.writer(self.path, None)
        else:
            self._ledger = _begin(self.path, new_settings(family, *given[1:]), start_from)
        try:
            stored = self._ledger.settings()
            self.settings: StudySettings = _read(self.path, stored, given)
            if start_from is not None and stored["borrowed"] is None:
                raise StudyError(f"ledger '{self.path}' exists and has borrowed no plays; start_from is for a new one")
        except BaseException:
            self._ledger.close()
            raise
        _warn_of_changes(self.settings.family, stored, self.path)

    # ---- what has been played

    @property
    def family(self) -> Family:
        """The family that is studied."""
        return self.settings.family

    @property
    def plays(self) -> list[PlayRow]:
        """All plays of this study in the order of their numbers, running ones included."""
        return [play for play in self._ledger.plays() if not play.borrowed]

    @property
    def borrowed(self) -> list[PlayRow]:
        """The plays of another ledger that this study started from."""
        return [play for play in self._ledger.plays() if play.borrowed]

    @property
    def finished_count(self) -> int:
        """The number of finished plays, failed ones included."""
        return sum(play.status != RUNNING for play in self.plays)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row per play: parameters by name, `error_1`, `error_2`... for the phases."""
        return tables.to_pandas(self.plays)

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the table of `to_pandas` to a .csv, .json or .parquet file and return its path."""
        return tables.export(self.plays, path)

    # ---- playing

    def ask(self) -> Task:
        """Return the next play: one that was interrupted, or a new one. It is written to the ledger as running.

        Run it with `task.run()`, and pass the outcome to `tell`.
        """
        self._must_write()
        rows = self._ledger.plays()
        for row in rows:
            if row.status == RUNNING and row.number not in self._asked:
                task = self.task(row, rows, row.phases[0].decision(self.settings.catalogue.names))
                break
        else:
            task = self._new_task(rows)
        self._asked.add(task.number)
        return task

    def tell(self, task: Task, result: Outcome | Exception, attempts: int = 1) -> PlayRow:
        """Write the outcome of a play to the ledger.

        Args:
            task: The play, as returned by `ask`.
            result: Its outcome, or the exception by which it failed for good.
            attempts: The number of times that it was tried.

        Returns:
            The row that was written.

        Raises:
            StudyError: The play is not running, or the outcome is not one of this study.
        """
        self._must_write()
        rows = self._ledger.plays()
        row = next((row for row in rows if row.number == task.number), None)
        if row is None or row.status != RUNNING:
            raise StudyError(
                f"play {task.number} is not running: report the outcome of a play that `ask` returned, once"
            )
        if not isinstance(result, Exception):
            self._check(result)
        row = row.finish(result, attempts)
        if row.taught and (nonsense := problem(row, len(rows))):
            raise StudyError(f"the outcome of play {task.number} cannot be kept: {nonsense}")
        self._ledger.write(row, None if isinstance(result, Exception) else result.networks)
        self._asked.discard(task.number)
        return row

    def play(self, plays: int, workers: int | str | Any = 1, progress: Show | None = None) -> None:
        """Play more plays.

        After an interruption of any kind, play again to continue.

        Args:
            plays: The number of plays.
            workers: 1 to play in this process, N for a local cluster of N processes with one core each, or an
                existing cluster as 'tcp://host:port' or a Dask client.
            progress: Called with a `StudyProgress` after every play.

        Raises:
            KeyboardInterrupt: After Ctrl-C, once the plays in flight are finished and written. A second Ctrl-C raises
                it at once.
            StudyError: Several plays in a row failed, or workers cannot be reached.
        """
        self._must_write()
        if integer(plays, least=1) is None:
            raise StudyError(f"a study plays at least 1 more play, not {plays!r}")
        pool = open_pool(workers)
        try:
            Driver(self, pool, plays, progress).run()
        finally:
            pool.close()
            self._asked.clear()

    # ---- what was learned

    def recommend(
        self,
        parameters: Mapping[str, Any] | None = None,
        *,
        top: int = 5,
        extrapolate: bool = False,
        after: int | None = None,
        **by_name: Any,
    ) -> Recommendation:
        """Recommend a set of conditions per phase for one PDE. Pass the result to `solve`.

        Args:
            parameters: The parameters of the PDE; also as keywords: `study.recommend(s=17)`.
            top: The number of sets to list per phase.
            extrapolate: Whether parameters may lie outside their ranges.
            after: Use only the plays up to this number.
            **by_name: Parameters by name.

        Raises:
            StudyError: There are no finished plays to learn from.
            ParameterError: A parameter is missing, unknown or out of range.

        Example:
            >>> with Study("poisson", read_only=True) as study:
            ...     study.recommend(s=17).plays
            200
        """
        values = self.family.check_parameters({**(parameters or {}), **by_name}, extrapolate)
        learned = self._learned(self._taught(after))
        if integer(top, least=1) is None:
            raise StudyError(f"top is how many sets to name, an integer of at least 1, not {top!r}")
        return advise(learned, self.family.name, values, self.settings.reward.meaning, top)

    def solve(
        self,
        parameters: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        extrapolate: bool = False,
        progress: Callable[[Report], Any] | None = None,
        **by_name: Any,
    ) -> Solution:
        """Solve a member with the recommended sets, from the networks of neighbouring plays: `study.solve(s=17.3)`.

        Args:
            parameters: The parameters of the member; they can also be given by name.
            seed: Decides the points, and the weights of a cold start.
            extrapolate: Allow parameters outside their boxes.
            progress: Called as by `metalic.solve`.
            **by_name: Parameters by name.

        Returns:
            The solution; it started cold (`solution.start` is None) if no play was near enough.
        """
        advice = self.recommend(parameters, extrapolate=extrapolate, **by_name)
        values, library = dict(advice.parameters), Library(self.path, self.family)
        sets = list(advice.conditions[-1])
        warm = Warm(library, seed, conditions=sets, extrapolate=extrapolate, progress=progress).solve(values)
        if warm is not None:
            return warm
        chooser, settings = advice.chooser, self.settings
        chooser.begin(values)
        more: dict[str, Any] = {"seed": seed, "extrapolate": extrapolate, "progress": progress}
        return train(self.family, chooser, settings.schedule, values, settings.options, **more)

    def effects(self, parameters: Mapping[str, Any] | None = None, **by_name: Any) -> tuple[dict[str, Effect], ...]:
        """Return the effect of each condition for one PDE, for every decision of a play."""
        values = self.family.check_parameters({**(parameters or {}), **by_name})
        learned, context = self.learned, tuple(values.values())
        return tuple(condition_effects(learned, context, phase) for phase in range(self.settings.bandit.decisions))

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            plays = self.plays
        except (LedgerError, AttributeError):
            return f"<Study of '{self.path}'>"
        errors = [play.error for play in plays if play.taught and play.error is not None]
        best = f", best error {min(errors):.2e}" if errors else ""
        bandit, policy = self.settings.bandit_settings.name, self.settings.bandit_settings.policy.name
        done = sum(play.status != RUNNING for play in plays)
        return f"<Study of {self.family.name} in '{self.path}': {bandit} {policy}, {done} plays{best}>"

    def _repr_html_(self) -> str:
        best = sorted((play for play in self.plays if play.taught), key=lambda play: -(play.reward or -math.inf))[:5]
        rows = [(play.number, _context(play), play.sets, _error(play)) for play in best]
        return show(repr(self)[1:-1], ("best plays", "PDE", "conditions", "error"), rows)

    # ---- how a play comes about

    def _new_task(self, rows: Sequence[PlayRow]) -> Task:
        number = max((row.number for row in rows if not row.borrowed), default=0) + 1
        row = PlayRow(
            number=number,
            status=RUNNING,
            parameters=self._context(number),
            seed=int(self._sequence(number, SEED).generate_state(1)[0]),
            phases=(),
            seen=Numbers.of(row.number for row in rows if row.taught),
            pending=Numbers.of(row.number for row in rows if row.status == RUNNING),
            started=now(),
        )
        task = self.task(row, rows)
        self._ledger.write(replace(row, phases=(task.first_row(),)))
        return task

    def task(self, row: PlayRow, rows: Sequence[PlayRow], first: Decision | None = None) -> Task:
        """The task of a row.

        Args:
            row: The row.
            rows: All rows of the ledger; the decisions follow from those that the play has seen.
            first: The first decision, if it has been taken.
        """
        settings, others = self.settings, {other.number: other for other in rows}
        absent = [number for number in (*row.seen, *row.pending) if number not in others]
        if absent:
            raise LedgerError(f"ledger '{self.path}' is damaged: play {row.number} has seen play {absent[0]}, absent")
        learned = self._learned([others[number] for number in row.seen])
        pending = tuple(_started(others[number]) for number in row.pending)
        given = row.number <= len(settings.bandit_settings.first)
        turn = row.number + (0 if given else sum(other.borrowed for other in rows))
        chooser = BanditChooser(learned, turn, (settings.seed, row.number), pending, first)
        chooser.begin(row.parameters)
        return Task(
            number=row.number,
            family=self.family,
            parameters=row.parameters,
            seed=row.seed,
            schedule=settings.schedule,
            options=settings.options,
            reward=settings.reward,
            chooser=chooser,
            networks=self._keep_networks,
            check=self._checks or row.verdict is not None,  # a play that was checked is checked when it is repeated
        )

    def _sequence(self, number: int, stream: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.settings.seed, spawn_key=(number, stream))

    def _context(self, number: int) -> dict[str, float]:
        """Uniform in the box of the parameters."""
        rng = np.random.default_rng(self._sequence(number, CONTEXT))
        return {name: float(rng.uniform(low, high)) for name, (low, high) in self.family.parameters.items()}

    def _learned(self, seen: Sequence[PlayRow]) -> Learned:
        """The bandit with these plays; kept until there are others, so that models are fitted once."""
        numbers = tuple(row.number for row in seen)
        if self._last_learned is None or self._last_learned[0] != numbers:
            self._last_learned = numbers, Learned(self.settings.bandit, tuple(map(self._experienced, seen)))
        return self._last_learned[1]

    def _experienced(self, row: PlayRow) -> Played:
        """A finished play as bandits see it. It never changes, so it is made and checked once."""
        if row.number not in self._history:
            bandit = self.settings.bandit
            self._history[row.number] = bandit.checked(_played(row, bandit.phases), row.number)
        return self._history[row.number]

    def was_random(self, row: PlayRow) -> bool:
        """Whether the sets of a play are random: neither chosen by a model nor given at the start."""
        return row.phases[0].mean is None and row.number > len(self.settings.bandit_settings.first)

    @property
    def learned(self) -> Learned:
        """The bandit with all finished plays, for predictions, effects and decisions."""
        return self._learned(self._taught())

    def _taught(self, after: int | None = None) -> list[PlayRow]:
        """The plays to learn from: all, or those up to a number, which include borrowed ones."""
        taught = [row for row in self._ledger.plays() if row.taught and (after is None or row.number <= after)]
        if not taught:
            raise StudyError(f"'{self.path}' has no finished plays to learn from; play first")
        return taught

    def _must_write(self) -> None:
        if not self._ledger.writable:
            raise StudyError(f"study '{self.path}' is open for reading; open it without read_only=True to play")

    def _check(self, outcome: Outcome) -> None:
        if outcome.status not in ("done", "diverged"):
            raise StudyError(f"an outcome is 'done' or 'diverged', not {outcome.status!r}; a failure is an exception")
        phases = self.settings.bandit.phases
        if not 1 <= len(outcome.phases) <= phases or (outcome.status == "done" and len(outcome.phases) < phases):
            raise StudyError(f"a play of this study has {phases} phases, not {len(outcome.phases)}")
        for phase in outcome.phases:
            if phase.reward is None or not math.isfinite(phase.reward):
                raise StudyError(f"a reward must be a finite number, not {phase.reward!r}")


def _place(path: str | os.PathLike[str] | Reading, read_only: bool) -> Path:
    if isinstance(path, Reading):
        return path.path
    return find_ledger(path) if read_only else a_path(path)


def _begin(path: Path, settings: StudySettings, start_from: str | os.PathLike[str] | None) -> Ledger:
    plays: list[PlayRow] = []
    if start_from is not None:
        plays, about = borrow(start_from, settings.to_dict())
        settings = replace(settings, borrowed=about)
    return Ledger.writer(path, settings.to_dict(), plays)


def _read(path: Path, stored: Mapping[str, Any], given: tuple[Any, ...]) -> StudySettings:
    if "library" in stored:
        raise StudyError(f"'{path}' is a library of solved members, not a study; start solves from it")
    try:
        return stored_settings(stored, path, *given)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LedgerError(f"ledger '{path}' is damaged: its settings cannot be read ({error})") from error


def _warn_of_changes(family: Family, stored: Mapping[str, Any], path: Path) -> None:
    if stored["source"] != source_hash(family):
        warnings.warn(
            f"the file that defines family '{family.name}' has changed since '{path}' was created; earlier and "
            "later plays are compared as if it had not",
            stacklevel=3,
        )


def _started(row: PlayRow) -> Played:
    """A play in flight as bandits see it; the driver knows only its first decision."""
    return Played(tuple(row.parameters.values()), (PlayedPhase(row.phases[0].arm),))


def _played(row: PlayRow, phases: int) -> Played:
    """A finished play as bandits see it.

    A phase that a diverged run did not reach counts as its last one: the same set and reward, a loss that is NaN.
    """
    found, loss = [], None
    for number in range(phases):
        phase = row.phases[min(number, len(row.phases) - 1)]
        found.append(PlayedPhase(phase.arm, phase.reward, loss))
        loss = math.nan if phase.loss is None else phase.loss
    return Played(tuple(row.parameters.values()), tuple(found))


def _context(row: PlayRow) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in row.parameters.items())


def _error(row: PlayRow) -> str:
    return "-" if row.error is None else f"{row.error:.2e}"
