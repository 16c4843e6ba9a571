"""`metalic show`: a study's settings, its plays in numbers, and the best of them."""

from __future__ import annotations

import math
from pathlib import Path

from ..options import Json, LedgerName
from ..printing import context, number, print_json, print_rows, print_summary, seconds, summarize

COLUMNS = ("play", "context", "conditions", "error", "reward", "seconds")


def command(ledger: LedgerName, as_json: Json = False) -> None:
    """Show a study: its settings, how its plays went, the best ones."""
    from ...study import Ledger
    from ...study.files import ledger_errors
    from ...study.knowledge import find_ledger

    with Ledger(find_ledger(ledger)) as reader, ledger_errors(reader.path):
        plays = [row for row in reader.plays() if not row.borrowed]
        summary = summarize(plays, reader.settings())
    if as_json:
        print_json(summary)
        return
    print_summary(Path(ledger), summary)
    rows = []
    for row in sorted((row for row in plays if row.taught), key=lambda row: -(row.reward or -math.inf))[:10]:
        reward = "-" if row.reward is None else f"{row.reward:.2f}"
        rows.append((str(row.number), context(row), row.arm, number(row.error), reward, f"{seconds(row):.1f}"))
    print_rows(COLUMNS, rows, title="best plays")
