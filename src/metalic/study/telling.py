"""Check that the outcome of a play fits its study."""

from __future__ import annotations

import math

from ..errors import StudyError
from .play import Outcome


def check_outcome(outcome: Outcome, phases: int) -> None:
    """Check what a play of this many phases gave.

    Raises:
        StudyError: It is not an outcome, or lacks a phase or a reward.
    """
    if outcome.status not in ("done", "diverged"):
        raise StudyError(f"an outcome is 'done' or 'diverged', not {outcome.status!r}; a failure is an exception")
    if not 1 <= len(outcome.phases) <= phases or (outcome.status == "done" and len(outcome.phases) < phases):
        raise StudyError(f"a play of this study has {phases} phases, not {len(outcome.phases)}")
    for phase in outcome.phases:
        if phase.reward is None or not math.isfinite(phase.reward):
            raise StudyError(f"a reward must be a finite number, not {phase.reward!r}")
