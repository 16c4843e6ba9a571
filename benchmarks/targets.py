"""What the benchmark is to reach, and where each figure is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from benchmarks.growth import SERIES
from benchmarks.time_to_accuracy import summary


def float64_times(found: list[dict[str, Any]]) -> list[dict[str, float]]:
    return [row["ms"] for row in found if row["precision"] == "float64"]


def of_adam(peer: str, found: list[dict[str, Any]]) -> float:
    """The median over families of a peer's Adam step over ours."""
    return median(ms[f"{peer} adam"] / ms["adam"] for ms in float64_times(found))


def of_search(found: list[dict[str, Any]]) -> float:
    """The worst family's L-BFGS iteration over its Adam step."""
    return max(ms["lbfgs"] / ms["adam"] for ms in float64_times(found))


def of_limit(method: str, found: list[dict[str, Any]]) -> float:
    (row,) = [row for row in found if (row["family"], row["precision"]) == ("poisson", "float64")]
    return row[method]["ratio"]


def within(keys: str, found: Any) -> float:
    """found["a"]["b"] for 'a/b'."""
    for key in keys.split("/"):
        found = found[key]
    return found


@dataclass(frozen=True)
class Target:
    """A figure to reach: which part measures it and how it is read, the goal, and whether that is the least or most."""

    what: str
    part: str
    read: Callable[[Any], float | None]
    goal: float
    least: bool = False
    unit: str = "x"

    def met(self, value: float) -> bool:
        return value >= self.goal if self.least else value <= self.goal

    @property
    def wanted(self) -> str:
        return f"{'at least' if self.least else 'at most'} {self.goal:g}{self.unit}"


def percent(keys: str) -> Callable[[Any], float]:
    return lambda found: 100 * within(keys, found)


def newton_growth(found: Any) -> float | None:
    """The exponent in subdomains, if the largest number of them was measured: a few small ones say little."""
    sizes = [row["size"] for row in found["rows"] if row["series"] == "subdomains" and "gauss-newton" in row["ms"]]
    return within("exponents/subdomains/gauss-newton", found) if max(SERIES["subdomains"]) in sizes else None


TARGETS = (
    Target("Adam step: eager PyTorch / ours (float64, median family)", "steps", partial(of_adam, "torch"), 12, True),
    Target("Adam step: DeepXDE / ours (float64, median family)", "steps", partial(of_adam, "deepxde"), 8, True),
    Target("Adam step / arithmetic limit (float64 Poisson)", "limit", partial(of_limit, "adam"), 1.5),
    Target("L-BFGS iteration / Adam step (float64, worst family)", "steps", of_search, 1.3),
    Target("Gauss-Newton iteration / its limit (float64 Poisson)", "limit", partial(of_limit, "gauss-newton"), 2),
    Target(
        "time to accuracy: PyTorch on `paper` (extrapolated) / `fast`, median", "time_to_accuracy", summary, 100, True
    ),
    Target("Adam, 64 subdomains of 1/32 of the points / 2 of all", "growth", partial(within, "comparison/ratio"), 1.5),
    Target("exponent of Gauss-Newton in subdomains (linear, and a tenth)", "growth", newton_growth, 1.1, unit=""),
    Target("share outside the optimizer in a study", "memory", percent("share_outside"), 5, unit=" %"),
    Target("growth of memory in a study from play 20 on", "memory", percent("study/growth"), 5, unit=" %"),
    Target("plays per hour: two workers / one", "workers", partial(within, "ratio"), 1.9, True),
    Target("before the first iteration of `metalic solve`, warm", "startup", partial(within, "seconds"), 6, unit=" s"),
)


def judged(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every target with its figure from {part: what it found}, or None where it was not measured."""
    rows = []
    for target in TARGETS:
        try:
            value = target.read(found[target.part])
        except (LookupError, TypeError, ValueError):  # not run, or ended before it had this figure
            value = None
        met = None if value is None else target.met(value)
        row = {"what": target.what, "part": target.part, "target": target.wanted, "unit": target.unit}
        rows.append(row | {"value": value, "met": met})
    return rows
