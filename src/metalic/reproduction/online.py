"""Accumulated error against plays: two rows of panels (Single, Seq), a column per family.

A seed decides the problems of a study, so that methods of one seed have played the same ones; random sets and a method
are compared over the seeds and as many plays as both have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from ..evaluation.figures import accumulated, online_figure, running_errors
from ..evaluation.standing import WINDOW, finished_plays
from ..evaluation.tables import Table
from ..study import Ledger, PlayRow
from .campaign import Campaign, Item, Made

POLICIES = ("UCB", "TS", "Random")
COLUMNS = ("family", "method", "seeds", "plays", "sum", "late median", "compared", "ratio")
Runs = dict[int, list[PlayRow]]  # the finished plays of each seed; of several studies with one seed the longest


def online(campaign: Campaign) -> Made:
    curves: dict[str, dict[str, list[Float[np.ndarray, "_plays"]]]] = {}
    medians: dict[str, dict[str, list[Float[np.ndarray, "_plays"]]]] = {}
    data, rows = [], []
    for kind in ("Single", "Seq"):
        for family in campaign.families:
            panel: dict[str, Runs] = {}
            for policy in POLICIES:
                name = f"Random-{kind}" if policy == "Random" else f"{kind}-{policy}"
                panel[name] = _runs(campaign.studies(family, name))
            where = f"{family}, {kind}"
            curves[where] = {name: [accumulated(plays) for plays in runs.values()] for name, runs in panel.items()}
            medians[where] = {name: [running_errors(plays) for plays in runs.values()] for name, runs in panel.items()}
            data += [one for name, runs in panel.items() for one in _data(family, name, runs)]
            rows += _rows(family, panel)
    if not data:
        raise campaign.nothing("studies")
    notes = (
        "The paper shows curves and prints no numbers. sum: of the errors of all plays, mean over the seeds; "
        "late median: of the later half of the plays; ratio: random's sum over the method's on the same "
        "problems, for as many plays of the same seeds as are compared.",
    )
    table = Table("Online: accumulated error", COLUMNS, tuple(rows), notes)
    numbers = Table("", ("family", "method", "seed", "play", "error", "accumulated"), tuple(data))
    drawn = {"": online_figure(curves), "-medians": online_figure(medians, f"median error of {WINDOW} plays")}
    return campaign.save("online", drawn, numbers, table)


def _runs(paths: Sequence[Path]) -> Runs:
    found: Runs = {}
    for path in paths:
        with Ledger(path) as ledger:
            seed = ledger.settings()["seed"]
            plays = finished_plays([play for play in ledger.plays() if not play.borrowed])
        found[seed] = max(found.get(seed, []), plays, key=len)
    return found


def _data(family: str, name: str, runs: Runs) -> list[tuple[Any, ...]]:
    return [
        (family, name, seed, play.number, play.error, float(total))
        for seed, plays in runs.items()
        for play, total in zip(plays, accumulated(plays))
    ]


def _rows(family: str, panel: Mapping[str, Runs]) -> list[tuple[Any, ...]]:
    chance = next((runs for name, runs in panel.items() if name.startswith("Random")), {})
    rows: list[tuple[Any, ...]] = []
    for name, runs in panel.items():
        if not runs:
            continue
        counts = [len(plays) for plays in runs.values()]
        total = float(np.mean([_total(plays) for plays in runs.values()]))
        later = [play.error for plays in runs.values() for play in plays[len(plays) // 2 :] if play.error is not None]
        compared, ratio = _against(chance, runs)
        late = float(np.median(later)) if later else None
        plays_text = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
        rows.append((family, name, len(runs), plays_text, total, late, compared or None, ratio))
    return rows


def _against(chance: Runs, runs: Runs) -> tuple[int, float | None]:
    """Over how many plays random sets and a method can be compared, and the ratio of their accumulated errors."""
    least = {seed: min(len(chance[seed]), len(runs[seed])) for seed in chance if seed in runs}
    theirs, ours = (sum(_total(one[seed][:count]) for seed, count in least.items()) for one in (chance, runs))
    return sum(least.values()), theirs / ours if ours else None


def _total(plays: list[PlayRow]) -> float:
    return float(accumulated(plays)[-1]) if plays else 0.0


ONLINE_ITEM = Item("online", online)
