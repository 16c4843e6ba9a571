"""Accumulated error against plays: two rows of panels (Single, Seq), a column per family."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...study import Ledger, PlayRow
from ..figures import accumulated, finished, online_figure
from ..tables import Table
from .workshop import Made, Workshop

POLICIES = ("UCB", "TS", "Random")


def online(shop: Workshop) -> Made:
    curves: dict[str, dict[str, list[np.ndarray]]] = {}
    data, rows = [], []
    for kind in ("Single", "Seq"):
        for family in shop.families:
            panel = curves.setdefault(f"{family}, {kind}", {})
            for policy in POLICIES:
                name = f"Random-{kind}" if policy == "Random" else f"{kind}-{policy}"
                plays = [_plays(path) for path in shop.studies(family, name)]
                if plays:
                    panel[name] = [accumulated(one) for one in plays]
                    data += _data(family, name, plays)
            rows += _rows(family, panel)
    curves = {title: panel for title, panel in curves.items() if panel}
    if not curves:
        raise shop.nothing("studies")
    columns = ("family", "method", "seeds", "plays", "accumulated error", "mean error a play", "random / method")
    notes = ("The paper shows curves and prints no numbers. Compared over as many plays as both have.",)
    table = Table("Online: accumulated error", columns, tuple(rows), notes)
    figure = online_figure(curves)
    numbers = Table("", ("family", "method", "run", "play", "error", "accumulated"), tuple(data))
    return shop.save("online", {"": figure}, numbers, table)


def _plays(path: Path) -> list[PlayRow]:
    with Ledger(path) as ledger:
        return finished([play for play in ledger.plays() if not play.borrowed])


def _data(family: str, name: str, runs: Sequence[Sequence[PlayRow]]) -> list[tuple[Any, ...]]:
    return [
        (family, name, number, play.number, play.error, float(total))
        for number, plays in enumerate(runs)
        for play, total in zip(plays, accumulated(plays))
    ]


def _rows(family: str, panel: dict[str, list[np.ndarray]]) -> list[tuple[Any, ...]]:
    chance = next((runs for name, runs in panel.items() if name.startswith("Random")), [])
    rows: list[tuple[Any, ...]] = []
    for name, runs in panel.items():
        length = min(len(run) for run in runs)
        common = min([length, *(len(run) for run in chance)]) if chance else 0
        total = float(np.mean([run[length - 1] for run in runs])) if length else np.nan
        ratio = _mean_at(chance, common) / _mean_at(runs, common) if common else np.nan
        rows.append((family, name, len(runs), length, total, total / max(length, 1), ratio))
    return rows


def _mean_at(runs: Sequence[np.ndarray], plays: int) -> float:
    return float(np.mean([run[plays - 1] for run in runs]))
