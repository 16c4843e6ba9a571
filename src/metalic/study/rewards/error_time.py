"""The error and the time it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from ...errors import StudyError
from ...pinn.solution import ERROR_CAP, PhaseRecord
from ...validation import real
from .base import Reward, decades


@final
@dataclass(frozen=True)
class ErrorTime(Reward):
    """-log10 error - seconds / exchange: `exchange` seconds of training are worth a factor of ten in error."""

    exchange: float = 60.0

    name: ClassVar[str] = "error+time"
    timed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (real(self.exchange) or 0) > 0:
            raise StudyError(f"error+time trades a positive number of seconds for a decade, not {self.exchange!r}")

    @classmethod
    def with_option(cls, option: str) -> ErrorTime:
        try:
            return cls(float(option)) if option else cls()
        except ValueError:
            raise StudyError(f"error+time:SECONDS takes a number of seconds, not '{option}'") from None

    def __str__(self) -> str:
        return f"{self.name}:{self.exchange:g}"

    def of(self, record: PhaseRecord, seconds: float) -> float:
        return -decades(record.error, ERROR_CAP) - seconds / self.exchange
