"""Cumulative regret of UCB and Thompson sampling on functions of the prior, compared with the theorem's bound."""

from __future__ import annotations

import numpy as np

from ..bandit.regret import regret_curves, regret_figure
from ..evaluation.figures import style
from ..evaluation.tables import Table
from .campaign import Campaign, Item, Made


def regret(campaign: Campaign) -> Made:
    result = regret_curves(**campaign.scale.regret)
    plays = np.arange(1, len(result.bound) + 1)
    means = {name: curves.mean(axis=0) for name, curves in result.regret.items()}
    rows = [(name, float(curve[-1]), float(curve[-1] / len(plays)), _exponent(curve)) for name, curve in means.items()]
    bound = (float(result.bound[-1]), float(result.bound[-1] / len(plays)), _exponent(result.bound))
    rows.append(("theorem's bound", *bound))
    columns = ("policy", f"regret after {len(plays)} plays", "per play", "growth exponent")
    notes = ("Growth exponent: slope of log regret against log plays over the second half; below 1 is sub-linear.",)
    table = Table("Regret on functions drawn from the prior", columns, tuple(rows), notes)
    header = ("play", *means, "bound")
    values = zip(plays.tolist(), *(curve.tolist() for curve in means.values()), result.bound.tolist())
    with style():
        figure = regret_figure(result)
    return campaign.save("regret", {"": figure}, Table("", header, tuple(values)), table, schedule="")


def _exponent(curve: np.ndarray) -> float:
    """How a curve grows over its second half: T to this power."""
    half = len(curve) // 2
    plays = np.arange(half, len(curve)) + 1.0
    return float(np.polyfit(np.log(plays), np.log(np.maximum(curve[half:], 1e-12)), 1)[0])


REGRET_ITEM = Item("regret", regret)
