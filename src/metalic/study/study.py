"""A study: it chooses which set of conditions to play next, plays, remembers, and recommends.

The ledger is the state. The context and the seed of a play follow from the study's seed and the play's number, the
decisions from the rows of earlier plays. A study that was killed at any point therefore continues as if nothing had
happened.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..atomic import a_path
from ..bandit import Compared, Knowledge, Settings
from ..choices import Choice
from ..errors import LedgerError, StudyError
from ..families.base import Family
from ..notebook import show
from ..pinn import Report, Solution, train
from ..pinn.chosen import chosen
from ..progress import shown
from ..sets import Decision
from ..validation import integer
from . import tables
from .asking import Asker
from .closing import Closing
from .driver import Driver, Show
from .experience import Experience, is_champion, pair_of
from .integrity import problem
from .knowledge import find_ledger
from .library import Library
from .opening import open_ledger
from .play import Outcome, Task
from .protocol import Protocol
from .reading import Reading
from .recommendation import Effect, Recommendation, advise, condition_effects
from .rewards import Reward
from .rows import RUNNING, PlayRow
from .telling import check_outcome
from .warm import Warm
from .workers import open_pool


class Study(Closing):
    """A study and its ledger.

    An existing file is continued. Settings may then be left out; those that are given must agree with the file.

    Args:
        path: The ledger; or a `Reading` of one, which is only read.
        family: The family: a name, 'file.py:MyFamily', a class or an instance.
        bandit: `Sequential()`, `Single()` or `Paired()`; by default `Paired()` if there are choices, else
            `Sequential()`.
        schedule: A schedule or its name; 'fast' by default.
        reward: 'error' (default if the family has a reference), 'estimate' (default otherwise), 'residual' or
            'error+time:SECONDS'.
        seed: Decides contexts, points and ties; 0 by default.
        solver: Options of every solve, such as {'hidden': (20, 20)}.
        protocol: A published set of experiments whose settings to use ('authors').
        choices: What the study chooses besides the conditions, such as {"strip": [0.05, 0.1, 0.2]}: arguments of the
            family's `decompose`, or `lambda_boundary`, `lambda_interface` and `hidden` of the solver.
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
        choices: Mapping[str, Sequence[Any]] | Sequence[Choice] | None = None,
        start_from: str | os.PathLike[str] | None = None,
        networks: bool = True,
        check: bool = False,
        read_only: bool = False,
    ):
        reading = path if isinstance(path, Reading) else None
        self.path = _place(path, read_only)
        self._asked: set[int] = set()
        given = {
            "family": family,
            "bandit": bandit,
            "schedule": schedule,
            "reward": reward,
            "seed": seed,
            "solver": solver,
            "protocol": protocol,
            "choices": choices,
        }
        self._ledger, self.settings = open_ledger(
            self.path if reading is None else reading, given, start_from, read_only
        )
        self._experience = Experience(self.settings.bandit)
        self._asker = Asker(self.settings, self._experience, self.path, networks, check)

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
                task = self.task(row, rows, row.first_decision(self.settings.catalogue.names))
                break
        else:
            new = self._asker.new_row(rows)
            task = self.task(new, rows)
            first, levels = task.first_row(), dict(task.choices) or None
            self._ledger.write(replace(new, phases=(first,), choices=levels))
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
            check_outcome(result, self.settings.bandit.phases)
        row = row.finish(result, attempts)
        if row.taught and (nonsense := problem(row, len(rows))):
            raise StudyError(f"the outcome of play {task.number} cannot be kept: {nonsense}")
        self._ledger.write(row, None if isinstance(result, Exception) else result.networks)
        self._asked.discard(task.number)
        return row

    def play(
        self,
        plays: int,
        workers: int | str | Any = 1,
        progress: Show | bool | None = None,
        *,
        stop_when_level: bool = False,
    ) -> None:
        """Play more plays.

        After an interruption of any kind, play again to continue.

        Args:
            plays: The number of plays.
            workers: 1 to play in this process, N for a local cluster of N processes with one core each, or an
                existing cluster as 'tcp://host:port' or a Dask client.
            progress: Called with a `StudyProgress` after every play. True shows a progress bar, None does so in
                notebooks, False never.
            stop_when_level: Whether to stop early once nothing is expected to beat the champion (see `level`).

        Raises:
            KeyboardInterrupt: After Ctrl-C, once the plays in flight are finished and written. A second Ctrl-C raises
                it at once.
            StudyError: Several plays in a row failed, or workers cannot be reached.
        """
        self._must_write()
        if integer(plays, least=1) is None:
            raise StudyError(f"a study plays at least 1 more play, not {plays!r}")
        if self._experience.paired and (self.finished_count + plays) % 2:
            raise StudyError(
                f"this study plays in pairs with its champion: {self.finished_count} plays and {plays} more make an "
                "odd number; take one more"
            )
        if stop_when_level and not self._experience.paired:
            raise StudyError("only a study with a champion can be level with it: leave out stop_when_level")
        pool = open_pool(workers)
        try:
            with shown(progress) as show_play:
                Driver(self, pool, plays, show_play, enough=lambda: stop_when_level and self.level).run()
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
        learned = self._experience.learned(self._taught(after))
        if integer(top, least=1) is None:
            raise StudyError(f"top is how many sets to name, an integer of at least 1, not {top!r}")
        return advise(learned, self.family.name, values, self.settings.reward.meaning, top)

    def solve(
        self,
        parameters: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        extrapolate: bool = False,
        progress: Callable[[Report], Any] | bool | None = None,
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
        values, settings, sets = dict(advice.parameters), self.settings, list(advice.conditions[-1])
        family, options = chosen(self.family, settings.options, settings.schedule, advice.choices)
        library = Library(self.path, family)
        with shown(progress) as report:
            more: dict[str, Any] = {"seed": seed, "extrapolate": extrapolate, "progress": report}
            warm = Warm(library, conditions=sets, **more).solve(values)
            if warm is not None:
                return warm
            advice.chooser.begin(values)
            return train(family, advice.chooser, settings.schedule, values, options, **more)

    def effects(self, parameters: Mapping[str, Any] | None = None, **by_name: Any) -> tuple[dict[str, Effect], ...]:
        """Return the effect of each condition for one PDE, for every decision of a play."""
        values = self.family.check_parameters({**(parameters or {}), **by_name})
        learned, context = self.learned, tuple(values.values())
        return tuple(condition_effects(learned, context, phase) for phase in range(self.settings.bandit.decisions))

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

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
        from .pictures import plays_figure

        plays = self.plays
        best = sorted((play for play in plays if play.taught), key=lambda play: -(play.reward or -math.inf))[:5]
        rows = [(play.number, _context(play), play.arm, _error(play)) for play in best]
        draw = partial(plays_figure, plays, self.was_random) if best else None
        return show(repr(self)[1:-1], ("best plays", "PDE", "conditions", "error"), rows, draw=draw)

    # ---- how a play comes about

    def task(self, row: PlayRow, rows: Sequence[PlayRow], first: Decision | None = None) -> Task:
        """The task of a row.

        Args:
            row: The row.
            rows: All rows of the ledger; the decisions follow from those that the play has seen.
            first: The first decision, if it has been taken.
        """
        return self._asker.task(row, rows, first)

    def was_random(self, row: PlayRow) -> bool:
        """Whether the sets of a play are random: neither chosen by a model nor given at the start."""
        number = row.number
        if self._experience.paired:
            if is_champion(row):
                return False
            number = pair_of(number)
        return row.phases[0].mean is None and number > len(self.settings.bandit_settings.first)

    @property
    def learned(self) -> Knowledge:
        """The bandit with all finished plays, for predictions, effects and decisions."""
        return self._experience.learned(self._taught())

    @property
    def champion(self) -> Decision | None:
        """The arm that all others are compared with; None in a study without one."""
        return self.settings.usual if self._experience.paired else None

    @property
    def level(self) -> bool:
        """Whether the study is level with its champion: after 30 plays or more, nothing is expected to be better by
        more than 0.05 decades anywhere. Always False within a pair, and in a study without a champion."""
        if not self._experience.paired or len(self.plays) % 2:
            return False
        learned = self._experience.learned([row for row in self._ledger.plays() if row.taught])
        return isinstance(learned, Compared) and learned.level

    def _taught(self, after: int | None = None) -> list[PlayRow]:
        """The plays to learn from: all, or those up to a number, which include borrowed ones."""
        taught = [row for row in self._ledger.plays() if row.taught and (after is None or row.number <= after)]
        if not taught:
            raise StudyError(f"'{self.path}' has no finished plays to learn from; play first")
        return taught

    def _must_write(self) -> None:
        if not self._ledger.writable:
            raise StudyError(f"study '{self.path}' is open for reading; open it without read_only=True to play")


def _place(path: str | os.PathLike[str] | Reading, read_only: bool) -> Path:
    if isinstance(path, Reading):
        return path.path
    return find_ledger(path) if read_only else a_path(path)


def _context(row: PlayRow) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in row.parameters.items())


def _error(row: PlayRow) -> str:
    return "-" if row.error is None else f"{row.error:.2e}"
