"""How a new play is made: its PDE and seed from its number, its decisions from the rows that it has seen.

In a study with a champion, plays 2k - 1 and 2k are pair k: the champion and a challenger on the same PDE, with the
same seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..bandit import BanditChooser
from ..chooser import Chooser, FixedChooser
from ..errors import LedgerError
from ..pinn.chosen import chosen
from ..sets import Decision
from .experience import Experience, is_champion, pair_of
from .play import Task
from .rows import RUNNING, Numbers, PlayRow, now
from .settings import StudySettings

CONTEXT, SEED = 0, 1  # streams of random numbers of a play


class Asker:
    """Makes the plays of a study.

    Args:
        settings: Of the study.
        experience: What turns rows into what was learned.
        path: The ledger, for messages.
        networks: Whether outcomes contain the networks.
        check: Whether plays are checked.
    """

    def __init__(self, settings: StudySettings, experience: Experience, path: Path, networks: bool, check: bool):
        self.settings, self.experience, self.path = settings, experience, path
        self.networks, self.check = networks, check

    def new_row(self, rows: Sequence[PlayRow]) -> PlayRow:
        """The next play, without its decision."""
        number = max((row.number for row in rows if not row.borrowed), default=0) + 1
        paired = self.experience.paired
        source = number - 1 if paired and number % 2 == 0 else number  # a challenger has the PDE of its champion
        return PlayRow(
            number=number,
            status=RUNNING,
            parameters=self._context(source),
            seed=int(self._sequence(source, SEED).generate_state(1)[0]),
            phases=(),
            seen=Numbers.of(row.number for row in rows if row.taught),
            pending=Numbers.of(row.number for row in rows if row.status == RUNNING),
            started=now(),
            pair=pair_of(number) if paired else None,
        )

    def task(self, row: PlayRow, rows: Sequence[PlayRow], first: Decision | None = None) -> Task:
        """The task of a row; see `Study.task`."""
        settings, chooser = self.settings, self._chooser(row, rows, first)
        levels = chooser.begin(row.parameters)
        family, options = chosen(settings.family, settings.options, settings.schedule, levels)
        return Task(
            number=row.number,
            family=family,
            parameters=row.parameters,
            seed=row.seed,
            schedule=settings.schedule,
            options=options,
            reward=settings.reward,
            chooser=chooser,
            networks=self.networks,
            check=self.check or row.verdict is not None,  # a play that was checked is checked when it is repeated
            choices=levels,
        )

    def _chooser(self, row: PlayRow, rows: Sequence[PlayRow], first: Decision | None) -> Chooser:
        settings, others = self.settings, {other.number: other for other in rows}
        absent = [number for number in (*row.seen, *row.pending) if number not in others]
        if absent:
            raise LedgerError(f"ledger '{self.path}' is damaged: play {row.number} has seen play {absent[0]}, absent")
        if self.experience.paired and is_champion(row):
            return FixedChooser((settings.usual,))
        learned = self.experience.learned([others[number] for number in row.seen])
        pending = tuple(self.experience.started(others[number]) for number in row.pending)
        turn = pair_of(row.number) if self.experience.paired else row.number
        given = turn <= len(settings.bandit_settings.first)
        if not given and not self.experience.paired:
            turn += sum(other.borrowed for other in rows)
        return BanditChooser(learned, turn, (settings.seed, row.number), pending, first)

    def _sequence(self, number: int, stream: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.settings.seed, spawn_key=(number, stream))

    def _context(self, number: int) -> dict[str, float]:
        """Uniform in the box of the parameters."""
        rng = np.random.default_rng(self._sequence(number, CONTEXT))
        return {name: float(rng.uniform(low, high)) for name, (low, high) in self.settings.family.parameters.items()}
