"""How long, and with what, a problem is trained: a schedule is a tuple of phases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..errors import ScheduleError
from ..families.base import Family
from ..geometry.sampling import Points
from ..registry import Registry
from ..validation import integer, real
from .optimizers import LBFGS, Adam, GaussNewton, Optimizer
from .options import SolverOptions


@dataclass(frozen=True)
class Continue:
    """Move parameters in steps from easy values to those of the member, for members too hard to be solved at once.

    Args:
        parameter: The parameter; None moves those that the family names in `easy`.
        start: Its value at the beginning.
        steps: Values on the way, the first and the last included: in equal steps, or of equal ratio if both ends are
            positive.

    Raises:
        ScheduleError: A parameter without a start or the reverse, or fewer than two steps.

    Example:
        >>> Continue("nu", start=0.02, steps=3).values({"nu": 0.005}, {})
        [{'nu': 0.02}, {'nu': 0.01}, {'nu': 0.005}]
    """

    parameter: str | None = None
    start: float | None = None
    steps: int = 10

    def __post_init__(self) -> None:
        if (self.parameter is None) != (self.start is None):
            raise ScheduleError("Continue takes a parameter and where it starts, as in Continue('nu', start=0.02)")
        if self.start is not None and real(self.start) is None:
            raise ScheduleError(f"Continue starts at a number, not {self.start!r}")
        if integer(self.steps, least=2) is None:
            raise ScheduleError(f"Continue takes 2 or more steps, not {self.steps!r}")

    def values(self, wanted: Mapping[str, float], easy: Mapping[str, float]) -> list[dict[str, float]]:
        """The parameters at each step; `easy` are those of the family."""
        starts = dict(easy) if self.parameter is None or self.start is None else {self.parameter: float(self.start)}
        unknown = [name for name in starts if name not in wanted]
        if unknown:
            raise ScheduleError(f"Continue names no parameter '{unknown[0]}': allowed are {', '.join(wanted)}")
        paths = {name: self._path(first, wanted[name]) for name, first in starts.items()}
        return [{**wanted, **{name: path[n] for name, path in paths.items()}} for n in range(self.steps)]

    def _path(self, first: float, last: float) -> list[float]:
        space = np.geomspace if min(first, last) > 0 else np.linspace
        return [float(value) for value in space(first, last, self.steps)[:-1]] + [last]


@dataclass(frozen=True)
class Phase:
    """One optimizer with a budget, and maybe a set of conditions of its own.

    Args:
        optimizer: `Adam()`, `GaussNewton()`, `LBFGS()`, or one of your own.
        iterations: The budget.
        conditions: A set for this phase; it goes before what a solve is given.
        resample: Draw fresh points every n iterations; None keeps them.
        adaptive: Let half of the collocation points gather where the residual is large, whenever points are drawn.
        always: Run this phase also in a solve that has a start, where a phase that only finds a start for the next
            one (Adam, or one that continues) is left out.
        continues: Move parameters from easy values to those of the member, in steps that share the iterations.
        recheck: Compare the residual on fresh points with that on the points trained on, every n iterations and at the
            end. If it is much larger, as in a thin layer between the points, gather points there, and train for as
            many iterations more if the budget is used up, at most for the budget again.

    Raises:
        ScheduleError: The optimizer or a number is not allowed, or `adaptive` is given without `resample`.

    Example:
        >>> Phase(GaussNewton(), 100, resample=25, adaptive=True).resample
        25
    """

    optimizer: Optimizer
    iterations: int
    conditions: Any = None
    resample: int | None = None
    adaptive: bool = False
    always: bool = False
    continues: Continue | None = None
    recheck: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.optimizer, Optimizer):
            raise ScheduleError(f"a phase has an optimizer, such as Adam() or GaussNewton(), not {self.optimizer!r}")
        iterations = integer(self.iterations, least=1)
        if iterations is None:
            raise ScheduleError(f"a phase has a budget of at least 1 iteration, not {self.iterations!r}")
        object.__setattr__(self, "iterations", iterations)
        object.__setattr__(self, "resample", _every("points are drawn again", self.resample))
        object.__setattr__(self, "recheck", _every("fresh points are looked at", self.recheck))
        if self.adaptive and self.resample is None:
            raise ScheduleError("adaptive points need 'resample': after how many iterations to move them")
        if isinstance(self.continues, Mapping):  # as a stored file has it
            object.__setattr__(self, "continues", Continue(**self.continues))
        if self.continues is not None and not isinstance(self.continues, Continue):
            raise ScheduleError(f"a phase continues as Continue('nu', start=0.02) says, not {self.continues!r}")
        if self.continues is not None and (self.resample or self.recheck or iterations < self.continues.steps):
            raise ScheduleError("a phase that continues has an iteration or more for each step, and fixed points")
        if self.resample and self.recheck:
            raise ScheduleError("a phase has 'resample' or 'recheck', not both: the first draws fresh points anyway")

    @property
    def finds_start(self) -> bool:
        """Whether its work is to find a start for the next phase."""
        return not self.always and (self.optimizer.finds_start or self.continues is not None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        budget = {key: getattr(self, key) for key in ("iterations", "resample", "adaptive")}
        newer = {"continues": self.continues and asdict(self.continues), "recheck": self.recheck}
        added = {key: value for key, value in newer.items() if value is not None}  # older files do not have them
        return {"optimizer": self.optimizer.to_dict(), **budget, **added}


def _every(what: str, given: Any) -> int | None:
    found = integer(given, least=1)
    if given is not None and found is None:
        raise ScheduleError(f"{what} every 1 or more iterations, not {given!r}")
    return found


@dataclass(frozen=True)
class Schedule:
    """Phases in order, and options of the solver for when neither the solve nor the family decides them.

    Args:
        name: The name.
        phases: At least one.
        sampling: How points are drawn.
        scaling: How inputs are scaled.
        interface_line: The largest number of interface points along a straight piece of an interface (to the power of
            the interface's dimension); None leaves the family's own number.
        hidden: The widths of the hidden layers; None takes the default of the package, as for the weights.
        lambda_boundary: The weight of the boundary terms.
        lambda_interface: The weight of the interface terms: one number, or weights by condition.
        collocation: The number of collocation points per subdomain, for families that do not set their points.
        shrink: Make networks and points smaller as the number K of subdomains grows: beyond two, points per subdomain
            fall like K^(-1/2), and widths like K^(-1/4), so that weights fall like points.
        balance: Where subdomains have coefficients, multiply the residual of each by a factor, so that all depend
            equally on their networks at the start.

    Raises:
        ScheduleError: There is no phase, or an option is not allowed.

    Example:
        >>> short = Schedule("short", (Phase(Adam(), 100), Phase(GaussNewton(), 50)))
        >>> [phase.iterations for phase in short.phases]
        [100, 50]
    """

    name: str
    phases: tuple[Phase, ...]
    sampling: str = "sobol"
    scaling: str = "subdomain"
    interface_line: int | None = None
    hidden: Sequence[int] | None = None
    lambda_boundary: float | None = None
    lambda_interface: float | Mapping[str, float] | None = None
    collocation: int | None = None
    shrink: bool = False
    balance: bool = False

    def __post_init__(self) -> None:
        if not self.phases:
            raise ScheduleError("a schedule needs at least one phase")
        checked = SolverOptions(
            hidden=self.hidden,
            sampling=self.sampling,
            scaling=self.scaling,
            lambda_boundary=self.lambda_boundary,
            lambda_interface=self.lambda_interface,
        )
        object.__setattr__(self, "hidden", checked.hidden)
        if self.collocation is not None:
            Points(collocation=self.collocation)

    def networks_and_weights(self, family: Family) -> SolverOptions:
        """The options that stay when a solve takes its points from another schedule."""
        hidden = None if self.hidden is None else [max(4, round(n * self._share(family) ** 0.5)) for n in self.hidden]
        return SolverOptions(
            hidden=hidden, lambda_boundary=self.lambda_boundary, lambda_interface=self.lambda_interface
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; sets of its phases are not part of it."""
        keys = ("hidden", "lambda_boundary", "lambda_interface", "collocation", "shrink", "balance")
        newer = {key: getattr(self, key) for key in keys}
        return {
            "phases": [phase.to_dict() for phase in self.phases],
            **{key: getattr(self, key) for key in ("name", "sampling", "scaling", "interface_line")},
            **{key: value for key, value in newer.items() if value is not None and value is not False},
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Schedule:
        """The schedule that `to_dict` wrote.

        Raises:
            ScheduleError: It is not one, or a phase has an optimizer that is not built in.
        """
        try:
            phases = [{**phase, "optimizer": Optimizer.from_dict(phase["optimizer"])} for phase in values["phases"]]
            return Schedule(**{**values, "phases": tuple(Phase(**phase) for phase in phases)})
        except (KeyError, TypeError) as error:
            raise ScheduleError(f"{values} is not a schedule ({error})") from error

    def _share(self, family: Family) -> float:
        """How many points and weights a subdomain has, as a part of what each of two has."""
        return min(1.0, (2 / len(family.decomposition)) ** 0.5) if self.shrink else 1.0

    @property
    def first_with_start(self) -> int:
        """The first phase that a solve with a start runs: those before it would only find one. The last one runs."""
        return next((n for n, one in enumerate(self.phases) if not one.finds_start), len(self.phases) - 1)

    def points(self, family: Family) -> Points:
        """The family's numbers of points, or those of the schedule; thinned out on interfaces if it says so."""
        found, pairs = family.points, family.decomposition.interfaces
        if found.collocation == Points.collocation:  # the family leaves it open
            count = self.collocation or found.collocation
            found = replace(found, collocation=round(count * self._share(family)))
        if self.interface_line is None or not pairs:
            return found
        pieces = max(len(pair.patches) for pair in pairs)
        most = pieces * self.interface_line ** (len(family.coordinates) - 1)
        return replace(found, interface=min(found.interface, most))


# Four layers of 12 have as many weights as two of 20 and errors several times smaller: docs/decisions/0007
_DEEP: dict[str, Any] = {"hidden": (12,) * 4, "lambda_boundary": 200.0}
_COMMON: dict[str, Any] = {"interface_line": 101, "shrink": True, "balance": True}


PAPER = Schedule(
    "paper",
    (Phase(Adam(1e-3), 10_000), Phase(LBFGS(gradient_tolerance=1e-6, change_tolerance=1e-9), 50_000)),
    sampling="random",
    scaling="none",
)
FAST = Schedule("fast", (Phase(Adam(5e-3), 300), Phase(GaussNewton(), 200, recheck=50)), **_DEEP, **_COMMON)
ACCURATE = Schedule("accurate", (Phase(Adam(5e-3), 300), Phase(GaussNewton(), 1000, resample=150)), **_DEEP, **_COMMON)
QUICK = Schedule("quick", (Phase(Adam(5e-3), 100), Phase(GaussNewton(), 50)), **_DEEP, **_COMMON)
SHARP = Schedule(
    "sharp",
    (Phase(Adam(5e-3), 300), Phase(GaussNewton(), 200, resample=25, adaptive=True)),
    hidden=(20,) * 3,
    collocation=2000,
    **_COMMON,
)
SCHEDULES: Registry[Schedule] = Registry("schedule", Schedule, __name__, ScheduleError, instances=True)


def find_schedule(given: str | Schedule | Sequence[Phase]) -> Schedule:
    """A schedule from its name, its place, its phases, or itself."""
    if isinstance(given, Schedule):
        return given
    if isinstance(given, str):
        return SCHEDULES.find(given)
    phases = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(phase, Phase) for phase in phases):
        raise ScheduleError(f"a schedule is a name, a Schedule or a sequence of Phase, not {given!r}")
    return Schedule("custom", phases)
