"""The options of a solve: checked in one place, decided in one order.

An option that is None is left open. `SolverOptions.over` and `resolve` decide it: first the argument, then the family
(`Family.solver_options`), then the schedule, then the default of the package.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from ..conditions import Catalogue
from ..errors import GeometryError, MetalicError, ScheduleError
from ..families.base import Family
from ..geometry.sampling import SAMPLINGS, Points
from ..validation import real
from .activations import ACTIVATIONS
from .network import Network
from .sampler import SCALINGS

if TYPE_CHECKING:
    from .schedule import Schedule

PRECISIONS = ("float64", "float32")


@dataclass(frozen=True)
class SolverOptions:
    """How one PDE is solved, apart from its schedule and its seed; None leaves an option open.

    Args:
        hidden: The widths of the hidden layers.
        points: The numbers of points.
        precision: 'float64' or 'float32'.
        sampling: How points are drawn: 'random', 'grid', 'latin', 'sobol' or 'poisson'.
        scaling: How inputs are scaled: 'subdomain', 'domain' or 'none'.
        lambda_boundary: The weight of the boundary terms.
        lambda_interface: The weight of the interface terms: one number, or weights by condition.
        activation: The function between the layers: 'tanh' or 'sine'.

    Raises:
        ScheduleError: A value is not allowed; a GeometryError if it is about points.

    Example:
        >>> SolverOptions(hidden=[8], sampling="grid").over(DEFAULTS)
        SolverOptions(hidden=(8,), points=None, precision='float64', sampling='grid', scaling=None, \
lambda_boundary=20.0, lambda_interface=5.0, activation='tanh')
    """

    hidden: Sequence[int] | None = None
    points: Points | None = None
    precision: str | None = None
    sampling: str | None = None
    scaling: str | None = None
    lambda_boundary: float | None = None
    lambda_interface: float | Mapping[str, float] | None = None
    activation: str | None = None

    def __post_init__(self) -> None:
        _one_of("precision", self.precision, PRECISIONS, ScheduleError)
        _one_of("sampling", self.sampling, SAMPLINGS, GeometryError)
        _one_of("scaling", self.scaling, SCALINGS, ScheduleError)
        _one_of("activation", self.activation, tuple(ACTIVATIONS), ScheduleError)
        if self.points is not None and not isinstance(self.points, Points):
            raise GeometryError(f"points are given as Points(collocation, boundary, interface), not {self.points!r}")
        object.__setattr__(self, "hidden", _widths(self.hidden))
        if self.lambda_boundary is not None:
            object.__setattr__(self, "lambda_boundary", _weight("lambda_boundary", self.lambda_boundary))
        object.__setattr__(self, "lambda_interface", _interface(self.lambda_interface))

    @classmethod
    def of(cls, given: Mapping[str, Any] | SolverOptions | None) -> SolverOptions:
        """Options from a mapping such as {'hidden': (20, 20)}, as a user or a stored file has it."""
        if isinstance(given, SolverOptions):
            return given
        if given is not None and not isinstance(given, Mapping):
            raise ScheduleError(f"solver options are a mapping such as {{'hidden': (20, 20)}}, not {given!r}")
        options, known = dict(given or {}), [one.name for one in fields(cls)]
        unknown = [key for key in options if key not in known]
        if unknown:
            raise ScheduleError(f"no solver option '{unknown[0]}': allowed are {', '.join(known)}")
        if isinstance(options.get("points"), Mapping):
            options["points"] = _points(options["points"])
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an option that is open, or as in version 0.1, is left out."""
        usual = asdict(VERSION_0_1)
        given = asdict(self) | {"points": None if self.points is None else self.points.to_dict()}
        chosen = {key: value for key, value in sorted(given.items()) if value not in (None, usual[key])}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in chosen.items()}

    def over(self, *weaker: SolverOptions, conditions: Sequence[str] = ()) -> SolverOptions:
        """These options; what they leave open, the first of the weaker ones decides that does not.

        Args:
            weaker: Other options, the strongest first.
            conditions: All conditions of the family: weights by condition are completed with the weaker ones.

        Raises:
            ScheduleError: `lambda_interface` names a condition that is not among them.
        """
        levels = (self, *weaker)
        names = [one.name for one in fields(self)]
        decided = {name: _first(getattr(level, name) for level in levels) for name in names}
        if isinstance(decided["lambda_interface"], Mapping):
            decided["lambda_interface"] = _completed([level.lambda_interface for level in levels], conditions)
        return SolverOptions(**decided)

    def settled(self, family: Family, schedule: Schedule) -> SolverOptions:
        """With networks, weights and precision decided; points and their scaling stay with the schedule in use."""
        levels = (SolverOptions.of(family.solver_options), schedule.networks_and_weights(family), DEFAULTS)
        return self.over(*levels, conditions=Catalogue(family).names)

    def resolve(self, family: Family, schedule: Schedule) -> ResolvedOptions:
        """Every option decided, for this family and this schedule."""
        found: Any = self.settled(family, schedule)
        weights, names = found.lambda_interface, Catalogue(family).names
        return ResolvedOptions(
            hidden=found.hidden,
            points=found.points or schedule.points(family),
            precision=found.precision,
            sampling=found.sampling or schedule.sampling,
            scaling=found.scaling or schedule.scaling,
            lambda_boundary=found.lambda_boundary,
            lambda_interface=weights if isinstance(weights, Mapping) else dict.fromkeys(names, weights),
            activation=found.activation,
        )


@dataclass(frozen=True)
class ResolvedOptions:
    """Options of which none is open; a weight for each condition, in the order of the catalogue."""

    hidden: tuple[int, ...]
    points: Points
    precision: str
    sampling: str
    scaling: str
    lambda_boundary: float
    lambda_interface: Mapping[str, float]
    activation: str


def _one_of(name: str, given: Any, allowed: Sequence[str], error: type[MetalicError]) -> None:
    if given is not None and (not isinstance(given, str) or given not in allowed):
        raise error(f"no {name} '{given}': allowed are {', '.join(allowed)}")


def _widths(given: Any) -> tuple[int, ...] | None:
    if given is None:
        return None
    widths: Any = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else given
    return Network(1, 1, widths).hidden


def _points(given: Mapping[str, Any]) -> Points:
    try:
        return Points(**given)
    except TypeError as error:
        raise GeometryError(f"points are Points(collocation, boundary, interface), not {given!r}") from error


def _weight(name: str, given: Any) -> float:
    found = real(given, least=0)
    if found is None:
        raise ScheduleError(f"{name} is a number of at least 0, not {given!r}")
    return found


def _interface(given: Any) -> float | dict[str, float] | None:
    if isinstance(given, Mapping):
        return {name: _weight(f"lambda_interface of '{name}'", weight) for name, weight in given.items()}
    return None if given is None else _weight("lambda_interface", given)


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _completed(levels: Sequence[Any], conditions: Sequence[str]) -> dict[str, float]:
    """A weight for every condition, each from the first level that has one."""
    unknown = [name for level in levels if isinstance(level, Mapping) for name in level if name not in conditions]
    if unknown:
        raise ScheduleError(f"lambda_interface names no condition '{unknown[0]}': allowed are {', '.join(conditions)}")
    given = (level for level in levels if level is not None)
    weights = ChainMap(*(one if isinstance(one, dict) else dict.fromkeys(conditions, one) for one in given))
    return {name: weights[name] for name in conditions if name in weights}


VERSION_0_1 = SolverOptions(
    hidden=(20, 20), precision="float64", lambda_boundary=20.0, lambda_interface=5.0, activation="tanh"
)
"""What an option means that a stored file does not name. It never changes, whatever the defaults become."""
DEFAULTS = VERSION_0_1
