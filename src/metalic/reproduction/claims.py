"""The paper's claims one by one: confirmed, not confirmed, or not decided by the ledgers that there are.

A claim is a number that must lie above a bound. It is confirmed if its whole 95 % interval does, not confirmed if none
of it does, and not decided otherwise. Intervals of ratios are bootstrapped over PDEs; where both methods have solved
the same PDEs from the same seeds, pairs are drawn. Intervals of shares are Wilson's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..evaluation.figures import chosen_share
from ..evaluation.standing import finished_plays
from ..evaluation.tables import Table
from ..study import Ledger
from ..study.recommendation import NORMAL_95
from .campaign import Campaign, Item, Made
from .offline import BEST, Errors, errors_of
from .paper import OFFLINE

DRAWS = 4000
LEAST_PAIRS = 5  # fewer common PDEs are not compared in pairs
TEN = 10.0
PER_PHASE = "a set per phase is better than one set, except on Burgers"
RATIOS: tuple[tuple[str, str, str, float], ...] = (
    ("random sets are ten times worse than learned ones", "Random-Single", "Single-UCB", TEN),
    ("random sets are ten times worse than learned ones", "Random-Seq", "Seq-UCB", TEN),
    ("learned sets are better than one network", "PINN-Sub", "Seq-UCB", 1.0),
    ("learned sets are better than one network of twice the width", "PINN-Merge-H", "Seq-UCB", 1.0),
    ("learned sets are better than one network of twice the depth", "PINN-Merge-V", "Seq-UCB", 1.0),
    (PER_PHASE, "Single-UCB", "Seq-UCB", 1.0),
    (PER_PHASE, "Single-TS", "Seq-TS", 1.0),
    ("UCB is mostly better than TS", "Single-TS", "Single-UCB", 1.0),
    ("UCB is mostly better than TS", "Seq-TS", "Seq-UCB", 1.0),
)
ONLINE = ("Seq-UCB", "Single-UCB", "Seq-TS", "Single-TS")
CHOSEN: tuple[tuple[str, str, int | None, bool], ...] = (  # family, condition, phase (None: any), chosen or left out
    ("poisson", "c", None, True),
    ("poisson", "gr", None, False),
    ("advection", "uavg", 0, True),
    ("reaction", "x", None, True),
    ("burgers", "c", None, True),
)


@dataclass(frozen=True)
class Finding:
    """One claim on one family."""

    claim: str
    family: str
    measure: str
    value: float
    low: float
    high: float
    bound: float
    paper: float | None = None

    @property
    def verdict(self) -> str:
        if self.low >= self.bound:
            return "confirmed"
        return "not confirmed" if self.high < self.bound else "not decided"


def claims(campaign: Campaign) -> Made:
    """The table of claims, and each cell of Table 1 with the interval of its mean."""
    found = {(name, family): errors_of(campaign, family, name) for family in campaign.families for name in OFFLINE}
    findings = [
        one
        for family in campaign.families
        for part in (
            _decisive(found, family),
            _ratios(found, family),
            _growth(campaign, family),
            _sets(campaign, family),
        )
        for one in part
    ]
    if not findings:
        raise campaign.nothing("offline tests or studies")
    order = list(dict.fromkeys(one.claim for one in findings))
    findings.sort(key=lambda one: order.index(one.claim))
    rows = [
        (f.claim, f.family, f.measure, f.bound, f.value, f"{f.low:.2g} to {f.high:.2g}", f.paper, f.verdict)
        for f in findings
    ]
    columns = ("claim", "family", "measure", "must be at least", "ours", "95 % interval", "paper's", "verdict")
    table = Table(
        "Claims of the paper", columns, tuple(rows), ("paper's: the same ratio of the means that it prints.",)
    )
    cells = _cells(found)
    return campaign.save("claims", {}, Table("", columns, tuple(rows)), cells, overview=table)


def _cells(found: Mapping[tuple[str, str], Errors]) -> Table:
    rows = []
    for (name, family), errors in found.items():
        if not errors:
            continue
        value, low, high = bootstrap(lambda e: float(np.mean(e[0])), np.array([[*errors.values()]]))
        paper = OFFLINE[name].get(family)
        ratio = None if paper is None else value / paper
        near = None if ratio is None else "yes" if 0.5 <= ratio <= 2 else "no"
        rows.append((family, name, len(errors), value, f"{low:.1e} to {high:.1e}", paper, ratio, near))
    columns = ("family", "method", "PDEs", "mean", "95 % interval", "paper", "ratio", "within a factor of 2")
    return Table("Cells of Table 1", columns, tuple(rows))


def _decisive(found: Mapping[tuple[str, str], Errors], family: str) -> Iterator[Finding]:
    """How far apart random sets are: the ratio of the 90th to the 10th percentile of their errors."""
    for name in ("Random-Single", "Random-Seq"):
        errors = np.array([[*found[name, family].values()]])
        if errors.size >= LEAST_PAIRS:
            spread = bootstrap(lambda e: float(np.quantile(e[0], 0.9) / np.quantile(e[0], 0.1)), errors)
            measure = f"{name}: 90th / 10th percentile of the errors"
            yield Finding("the choice of conditions is decisive", family, measure, *spread, bound=TEN)


def _ratios(found: Mapping[tuple[str, str], Errors], family: str) -> Iterator[Finding]:
    for claim, worse, better, bound in RATIOS:
        if claim == PER_PHASE and family == "burgers":
            worse, better = better, worse
        errors = found[worse, family], found[better, family]
        if min(map(len, errors)) < LEAST_PAIRS:
            continue
        paper = OFFLINE[worse].get(family), OFFLINE[better].get(family)
        printed = None if paper[0] is None or paper[1] is None else paper[0] / paper[1]
        yield Finding(claim, family, f"{worse} / {better}", *ratio_of_means(*errors), bound=bound, paper=printed)


def _growth(campaign: Campaign, family: str) -> Iterator[Finding]:
    """Sub-linear growth: the mean error of the earlier half of the plays against that of the later half."""
    for name in ONLINE:
        for path in campaign.studies(family, name):
            with Ledger(path) as ledger:
                plays = finished_plays([play for play in ledger.plays() if not play.borrowed])
            errors = [play.error for play in plays if play.error is not None]
            half = len(errors) // 2
            if half >= LEAST_PAIRS:
                halves: tuple[Errors, Errors] = (
                    dict(enumerate(errors[:half])),
                    dict(enumerate(errors[half:], start=half)),
                )
                measure = f"{name}, {len(errors)} plays: mean error, earlier / later half"
                claim = "the accumulated error grows sub-linearly"
                yield Finding(claim, family, measure, *ratio_of_means(*halves), bound=1.0)


def _sets(campaign: Campaign, family: str) -> Iterator[Finding]:
    """Conditions that the paper finds chosen, or left out, in most of its tests."""
    claims = [one for one in CHOSEN if one[0] == family]
    test = campaign.test(family, BEST) if claims else None
    rows = [] if test is None else list(test.rows["learned"].values())
    if test is None or len(rows) < LEAST_PAIRS:
        return
    names = test.settings["family"]["conditions"]
    for _, condition, phase, wanted in claims:
        phases = range(max(len(row.phases) for row in rows)) if phase is None else [phase]
        share = float(np.mean([chosen_share(rows, names, one)[names.index(condition)] for one in phases]))
        share = share if wanted else 1 - share
        measure = f"share of PDEs in which {BEST} {'has' if wanted else 'leaves out'} {condition}"
        measure += "" if phase is None else f" in phase {phase + 1}"
        yield Finding("which conditions are chosen", family, measure, share, *wilson(share, len(rows)), bound=0.5)


# --- Statistics ------------------------------------------------------------------------------------------------------


def bootstrap(
    statistic: Callable[[Float[np.ndarray, "k n"]], float], samples: Float[np.ndarray, "k n"]
) -> tuple[float, float, float]:
    """A statistic of n joint samples, and its 95 % interval by the percentile bootstrap."""
    rng = np.random.default_rng(0)
    draws = [statistic(samples[:, rng.integers(samples.shape[1], size=samples.shape[1])]) for _ in range(DRAWS)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return statistic(samples), float(low), float(high)


def ratio_of_means(worse: Errors, better: Errors) -> tuple[float, float, float]:
    """mean(worse) / mean(better) and its 95 % interval, in pairs where enough PDEs are common to both."""
    common = [key for key in worse if key in better]
    if len(common) >= LEAST_PAIRS:
        pairs = np.array([[errors[key] for key in common] for errors in (worse, better)])
        return bootstrap(lambda e: float(np.mean(e[0]) / np.mean(e[1])), pairs)
    rng, values = np.random.default_rng(0), [np.array([*errors.values()]) for errors in (worse, better)]
    means = np.array([[rng.choice(one, size=len(one)).mean() for _ in range(DRAWS)] for one in values])
    low, high = np.quantile(means[0] / means[1], [0.025, 0.975])
    return float(values[0].mean() / values[1].mean()), float(low), float(high)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    Example:
        >>> low, high = wilson(0.5, 100)
        >>> round(low, 3), round(high, 3)
        (0.404, 0.596)
    """
    z2 = NORMAL_95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = NORMAL_95 / (1 + z2 / count) * np.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return float(middle - half), float(middle + half)


CLAIMS_ITEM = Item("claims", claims)
