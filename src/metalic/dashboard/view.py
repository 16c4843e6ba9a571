"""One study, read at one moment and ready to be shown."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..conditions import default_conditions
from ..errors import MetalicError, StudyError
from ..evaluation.figures import label
from ..evaluation.narrative import sentences
from ..evaluation.standing import Standing, finished_plays
from ..pinn import Solution
from ..study import Reading, Recommendation, Study
from ..study.members import Member
from ..study.networks import Networks
from ..study.recommendation import caution
from ..study.rows import RUNNING, PlayRow

TRIALS = "trials"


@dataclass(frozen=True, eq=False)
class View:
    """What a ledger held. A study of a family that is not known has its plays, but no recommendations.

    Args:
        reading: The ledger.
        study: The study; None if its family is not known.
        trouble: Why there is none.
    """

    reading: Reading
    study: Study | None
    trouble: str = ""

    @classmethod
    def of(cls, path: Path, family: Any) -> View:
        """Read a ledger.

        Raises:
            MetalicError: It is not the ledger of a study, or cannot be read now.
        """
        reading = Reading.of(path)
        if "bandit" not in reading.stored or TRIALS in reading.stored:
            raise StudyError(f"'{path}' is not the ledger of a study, which is what the dashboard shows")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return cls(reading, Study(reading, family))
        except MetalicError as error:
            return cls(reading, None, str(error))

    @property
    def name(self) -> str:
        return self.reading.path.name

    @property
    def title(self) -> str:
        return f"{self.family}: {self.bandit}"

    @property
    def family(self) -> str:
        return str(self.reading.stored["family"]["name"])

    @property
    def bandit(self) -> str:
        return label(self.reading.stored)

    @property
    def boxes(self) -> dict[str, tuple[float, float]]:
        """The ranges of the parameters."""
        return {name: (low, high) for name, (low, high) in self.reading.stored["family"]["parameters"].items()}

    @cached_property
    def plays(self) -> list[PlayRow]:
        return [play for play in self.reading.rows if not play.borrowed]

    @cached_property
    def standing(self) -> Standing:
        default = None if self.study is None else default_conditions(self.study.family).index
        return Standing(self.reading.stored, default)

    @property
    def being_played(self) -> bool:
        """Whether a process holds the ledger open for writing."""
        return Path(f"{self.reading.path}.lock").exists() and self.running > 0

    @property
    def running(self) -> int:
        return sum(play.status == RUNNING for play in self.plays)

    def facts(self) -> list[tuple[str, str]]:
        """The progress in a few lines."""
        done = finished_plays(self.plays)
        seconds = [sum(phase.seconds or 0.0 for phase in play.phases) for play in done if play.taught]
        odd = [f"{n} {s}" for s in ("diverged", "failed") if (n := sum(play.status == s for play in done))]
        found = [("plays", f"{len(done)} finished" + (f", {self.running} running" if self.running else ""))]
        found += [("odd ones", ", ".join(odd))] if odd else []
        if seconds:
            found.append(("seconds of training per play", f"{statistics.median(seconds):.2g} (median)"))
        if done and done[-1].finished:
            found.append(("last play finished", done[-1].finished.replace("T", " ").replace("+00:00", " UTC")))
        comparison = self.standing.compare(self.plays)
        if comparison is not None:
            found.append(("chosen sets", comparison.text))
        return found

    @property
    def caution(self) -> str:
        return caution(sum(play.taught for play in self.plays))

    def known(self) -> Study:
        """The study.

        Raises:
            StudyError: Its family is not known.
        """
        if self.study is None:
            raise StudyError(self.trouble)
        return self.study

    @cached_property
    def words(self) -> list[str]:
        """What was learned, in sentences (fits the reward models)."""
        return sentences(self.known())

    def advice(self, at: Mapping[str, str]) -> Recommendation:
        """The recommendation at some parameters; those that are not given are at their middle."""
        middle = {name: 0.5 * (low + high) for name, (low, high) in self.boxes.items()}
        return self.known().recommend({**middle, **{name: at[name] for name in middle if name in at}})

    def play(self, number: int) -> PlayRow:
        """A play.

        Raises:
            StudyError: There is none of this number.
        """
        found = next((play for play in self.plays if play.number == number), None)
        if found is None:
            raise StudyError(f"'{self.name}' has no play {number}; it has {len(self.plays)}")
        return found

    def networks(self, number: int) -> Networks | None:
        """The networks of a play, if they were kept."""
        return self.reading.networks(number).get(number)

    def solution(self, number: int) -> Solution | None:
        """The solution of a play, if its networks were kept and its family is known."""
        networks = self.networks(number)
        if networks is None or self.study is None or not networks.fit(self.study.family):
            return None
        return Member(self.play(number), networks).solution(self.study.family)


class Watched:
    """A ledger that is read again whenever it has changed."""

    def __init__(self, path: Path, family: Any = None):
        self.path, self.family = path, family
        self.reads = 0
        self._view: View | None = None

    def now(self) -> View:
        """The ledger as it is now.

        Raises:
            MetalicError: It cannot be read.
        """
        if self._view is None or not self._view.reading.current:
            self._view = View.of(self.path, self.family)
            self.reads += 1
        return self._view
