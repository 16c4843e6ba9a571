"""The paper's reward: the relative L2 error against the family's reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from ...pinn.solution import ERROR_CAP, PhaseRecord
from .base import Reward, decades


@final
@dataclass(frozen=True)
class Error(Reward):
    """-log10 of the relative error."""

    name: ClassVar[str] = "error"
    meaning: ClassVar[str | None] = "relative error"

    def of(self, record: PhaseRecord, seconds: float) -> float:
        return -decades(record.error, ERROR_CAP)
