"""The verdict on a solution: how wrong it probably is, with or without a reference, and why.

The estimate of the relative error comes from the correction in polynomials (see `correction`). Where that is not
reliable, because the solution has layers that are too thin for it or Newton's method fails, more Gauss-Newton
iterations on fresh points (see `refinement`) give a second estimate, and the larger one counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float

from .. import runtime
from ..conditions import Catalogue, complete_set
from ..errors import ScheduleError
from ..validation import real
from .correction import correction
from .defect import Defect
from .linearised import Row, loss_terms
from .refinement import refined
from .solution import ERROR_CAP

if TYPE_CHECKING:
    from .solution import Solution

GOOD, DOUBTFUL, WRONG = "good", "doubtful", "wrong"
GOOD_BELOW = 1e-3
WRONG_FROM = 30.0  # times `good_below`
LARGE = 0.03  # of the size of the terms: what is then named as a reason
POLYNOMIALS, NETWORKS, DIVERGED = "polynomials", "networks", "diverged"


@dataclass(frozen=True)
class Check:
    """What a check found. Measures are root mean squares on fresh points, relative to the size of the terms.

    Args:
        estimate: The estimate of the relative L2 error.
        verdict: 'good', 'doubtful' or 'wrong'.
        reasons: Why it is not good.
        advice: What to try.
        residual: How far each equation is violated.
        boundary: How far each boundary condition is violated, in the order of the family.
        jumps: How far each condition of the complete set is violated, by interface.
        method: What the estimate comes from: 'polynomials', 'networks' or 'diverged'.
        seconds: How long the check took.
        difference: The difference to an independent second solve, if there was one.

    Example:
        >>> found = Check(0.2, "wrong", ("the flux jumps",), ("more points",), (0.01,), (0.0,), {}, "networks", 1.0)
        >>> found.good, found.text
        (False, 'wrong: estimated relative error 2.0e-01; the flux jumps. Try more points')
    """

    estimate: float
    verdict: str
    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    residual: tuple[float, ...]
    boundary: tuple[float, ...]
    jumps: Mapping[str, Mapping[str, float]] = field(repr=False)
    method: str
    seconds: float
    difference: float | None = None

    @property
    def good(self) -> bool:
        """Whether the verdict is 'good'."""
        return self.verdict == GOOD

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return plain | {"jumps": {pair: dict(found) for pair, found in self.jumps.items()}}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Check:
        """What `to_dict` gave."""
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in record.items()}
        return cls(**values)

    @property
    def text(self) -> str:
        """One line: verdict, estimate, reasons and advice."""
        line = f"{self.verdict}: estimated relative error {self.estimate:.1e}"
        line += "".join(f"; {reason}" for reason in self.reasons)
        return line + (f". Try {', or '.join(self.advice)}" if self.advice else "")


def check(solution: Solution, good_below: float = GOOD_BELOW) -> Check:
    """Estimate the error of a solution and judge it; nothing of its training is trusted.

    Args:
        solution: What to check, from a solve or from a file.
        good_below: The estimate below which a solution is good.

    Returns:
        The check.

    Raises:
        ScheduleError: `good_below` is not a positive number.
    """
    if not (real(good_below) or 0) > 0:
        raise ScheduleError(f"good_below is a positive number such as 1e-3, not {good_below!r}")
    begun = time.perf_counter()
    if solution.diverged or not np.isfinite(solution.theta).all():
        return _diverged(time.perf_counter() - begun)
    with jax.enable_x64(True), runtime.programs_kept():
        defect = Defect(solution)
        estimate, method = _estimate(solution, defect)
        measures = _measures(defect)
    verdict = _verdict(estimate, good_below)
    return Check(
        estimate=estimate,
        verdict=verdict,
        reasons=() if verdict == GOOD else tuple(_reasons(measures)),
        advice=() if verdict == GOOD else tuple(_advice(solution, measures)),
        **measures,
        method=method,
        seconds=time.perf_counter() - begun,
    )


def _diverged(seconds: float) -> Check:
    return Check(
        estimate=ERROR_CAP,
        verdict=WRONG,
        reasons=("the run diverged: its loss is not a number",),
        advice=("another set of conditions", "another seed", "a residual without poles or overflow"),
        residual=(),
        boundary=(),
        jumps={},
        method=DIVERGED,
        seconds=seconds,
    )


def _verdict(estimate: float, good_below: float) -> str:
    if estimate < good_below:
        return GOOD
    return WRONG if estimate >= min(WRONG_FROM * good_below, 1.0) else DOUBTFUL


def _estimate(solution: Solution, defect: Defect) -> tuple[float, str]:
    """The relative error, and where it comes from."""
    grid, found = solution.family.error_points(), correction(defect)
    before = solution.values(grid)
    by_polynomials = relative(found.error, before + found.error)
    if found.reliable:
        return by_polynomials, POLYNOMIALS
    after = refined(solution).values(grid)
    return max((by_polynomials, POLYNOMIALS), (relative(after - before, after), NETWORKS))


def relative(error: Float[np.ndarray, "n m"], whole: Float[np.ndarray, "n m"]) -> float:
    """|error| / |whole| in L2, at most 100; the root mean square of the error where the whole is zero."""
    size = np.linalg.norm(whole)
    found = np.linalg.norm(error) / size if size else np.sqrt(np.mean(error**2))
    return float(min(found, ERROR_CAP)) if np.isfinite(found) else ERROR_CAP


# --- Measures --------------------------------------------------------------------------------------------------------


def _measures(defect: Defect) -> dict[str, Any]:
    """How far residual, boundary conditions and jumps are from zero, relative to the size of their terms."""
    names, count = defect.solution.family.decomposition.names, len(defect.problem.boundary)
    found = list(zip(loss_terms(defect.problem), defect.rows, defect.sizes))
    jumps: dict[str, dict[str, float]] = {}
    for place, rows, sizes in found[1 + count :]:
        for i, pair in enumerate(zip(place.block.a, place.block.b)):
            a, b = (names[defect.owners[k]] for k in pair)
            if a != b:
                of_pair = jumps.setdefault(f"{a}|{b}", {})
                of_pair[place.name] = max(of_pair.get(place.name, 0.0), *(_relative_row(row, sizes, i) for row in rows))
    return {
        "residual": tuple(_relative_row(row, found[0][2]) for row in found[0][1]),
        "boundary": tuple(max(_relative_row(row, sizes) for row in rows) for _, rows, sizes in found[1 : 1 + count]),
        "jumps": jumps,
    }


def _relative_row(row: Row, sizes: Float[np.ndarray, "C"], i: int | slice = slice(None)) -> float:
    """The root mean square of a row at the points of one pair, or of all, relative to the size of its terms."""
    slopes = np.mean(row.by_a[i] ** 2, axis=-1).reshape(-1, len(sizes)).mean(axis=0)
    size = np.sqrt(np.mean(np.nan_to_num(row.at_zero[i]) ** 2) + np.sum(slopes * sizes))
    found = np.sqrt(np.mean(row.r[i] ** 2))
    return float(found / size if size else found)


# --- Words -----------------------------------------------------------------------------------------------------------


def _reasons(measures: Mapping[str, Any]) -> Iterable[str]:
    found = False
    for what, value in _named(measures):
        if value > LARGE:
            found = True
            yield f"{what} by {value:.1g} of the size of its terms"
    if not found:
        yield "the equation and its conditions hold, but not accurately enough"


def _named(measures: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    """Every measure, with words for what it measures."""
    several = len(measures["residual"]) > 1
    for i, value in enumerate(measures["residual"], start=1):
        yield f"equation {i} is violated" if several else "the equation is violated", value
    for i, value in enumerate(measures["boundary"], start=1):
        yield f"boundary condition {i} is violated", value
    for pair, jumps in measures["jumps"].items():
        for name, value in jumps.items():
            yield f"{_what(name)} jumps at the interface {pair}", value


def _what(condition: str) -> str:
    return {"u": "the solution", "c": "the flux"}.get(condition, f"condition '{condition}'")


def _advice(solution: Solution, measures: Mapping[str, Any]) -> Iterable[str]:
    family, trained = solution.family, set(solution.phases[-1].conditions)
    missing = [condition.name for condition in complete_set(family) if condition.name not in trained]
    jumping = any(value > LARGE for jumps in measures["jumps"].values() for value in jumps.values())
    if missing and jumping:
        names = [name for name in (*solution.phases[-1].conditions, *missing) if name in Catalogue(family).names]
        yield f"conditions='{','.join(names)}'"
    if any(value > LARGE for value in measures["boundary"]):
        yield "a larger lambda_boundary"
    yield "schedule='accurate'"
    yield "more points, larger networks or another seed"
