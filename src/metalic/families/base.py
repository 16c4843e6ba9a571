"""A family of PDEs: one equation for each value of its parameters. Subclass `Family` to add your own.

    class Wave(mt.Family):
        parameters = {"c": (1.0, 5.0)}
        domain = mt.Box(x=(0, 1), t=(0, 1))
        decomposition = mt.split(domain, t=[0.5])
        def residual(self, u, p, c): return u.tt - c**2 * u.xx
        def boundary(self): return [mt.Dirichlet("x=0", "x=1", 0.0), ...]

`residual`, `flux` and boundary values are laws for *one point*: `u` is the unknown with its derivatives by name, `p`
the point (`p.x`, `p.t`, and the subdomain's coefficients), then the parameters by name. Batching is not your concern.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from ..errors import FamilyError, ParameterError
from ..geometry import Decomposition, Points, Region
from ..notebook import show
from ..validation import real
from .boundary import BoundaryCondition
from .fields import Field, Fields, Point

ReferenceFunction = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "..."]]


class Family:
    """A parametric family of PDEs on a decomposed domain. Subclass it to describe your own.

    A subclass sets `domain` and `decomposition` and defines `residual` and `boundary`; everything else is optional.
    Its `residual`, `flux` and boundary values are laws for one point.

    Attributes:
        name: The name in tables and messages; the class name in lower case by default.
        title: The equation, for tables.
        parameters: The parameters, each with its lowest and highest value.
        domain: The domain, a `Box` or a `Union` of boxes.
        decomposition: How the domain is cut into subdomains; see `split`.
        components: The names of the unknowns.
        coefficients: Numbers that differ by subdomain: {"k": {"left": 1.0, "right": 5.0}}; laws read them as `p.k`.
        conditions: Names and order of the interface conditions; None takes the whole catalogue.
        own_conditions: Conditions of the family's own, after those of the catalogue.
        default_conditions: The set for a solve that names none.
        complete_conditions: What must hold at the interfaces whatever set is trained, for the check of a solution.
        easy: Parameters at which the family is easiest to solve: where continuation begins.
        points: The numbers of points.
        solver_options: Options of `solve` that suit this family; they go before those of a schedule.
        grid: The number of points per axis on which the error is measured; about 10 000 in all by default.

    Raises:
        FamilyError: Something is missing or does not fit. It is raised before the first solve, not by the class.

    Example:
        >>> import metalic as mt
        >>> class Decay(mt.Family):
        ...     parameters = {"a": (0.5, 2.0)}
        ...     domain = mt.Box(t=(0, 1))
        ...     decomposition = mt.split(domain, t=[0.5])
        ...
        ...     def residual(self, u, p, a):
        ...         return u.t + a * u
        ...
        ...     def boundary(self):
        ...         return [mt.Dirichlet("t=0", 1.0)]
        >>> mt.find_family(Decay)
        <Decay: a in [0.5, 2]; 2 subdomains>
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""  # the equation, for tables
    parameters: ClassVar[Mapping[str, tuple[float, float]]] = {}
    domain: Region
    decomposition: Decomposition
    components: Sequence[str] = ("u",)
    coefficients: Mapping[str, Mapping[str, float]] = {}
    """Numbers that differ by subdomain: {"k": {"left": 1.0, "right": 5.0}}; laws read them as `p.k`."""
    conditions: Sequence[str] | None = None
    """Names and order of the interface conditions; None takes the whole catalogue that coordinates and flux give."""
    own_conditions: Sequence[Any] = ()
    """Conditions of the family's own (instances of `mt.Condition`), after those of the catalogue."""
    default_conditions: Sequence[str] | None = None
    complete_conditions: Sequence[str] | None = None
    """What must hold at the interfaces whatever set is trained, for the check of a solution; None derives it from the
    equation and the flux. A family in which u jumps rightly says so here."""
    easy: Mapping[str, float] = {}
    """Parameters at which the family is easiest to solve, by name: where continuation begins."""
    points: Points = Points()
    solver_options: Mapping[str, Any] = {}
    """Options of `solve` that suit this family, such as {"hidden": (40, 40)}; they go before those of a schedule."""
    grid: Sequence[int] | None = None
    """How many points per axis the error is measured on; None takes about 10 000 in all."""

    def residual(self, *u_p: Any, **parameters: Any) -> Any:
        """`residual(self, u, p, ...)`: F[u] - h at one point; a tuple for a system of equations."""
        raise NotImplementedError

    def boundary(self) -> Sequence[BoundaryCondition]:
        """The boundary and initial conditions."""
        raise NotImplementedError

    flux: Callable[..., Mapping[str, Any]] | None = None
    """Optional method `flux(u, p, **parameters)`: {coordinate: flux density}. It enables the condition `c`."""

    decompose: Callable[..., Decomposition] | None = None
    """Optional method `decompose(self, cut=0.5)`: the decomposition for a level of each argument, whose default is the
    usual one. It lets studies choose where to cut, and into how many parts."""

    reference: Callable[..., ReferenceFunction] | None = None
    """Optional method `reference(**parameters)`: a function from points (n, d) to the solution (n,) or (n, m)."""

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()

    def __eq__(self, other: object) -> bool:
        """Families are equal if they have the same class and the same settings, geometry included."""
        return type(self) is type(other) and frozen(vars(self)) == frozen(vars(other))

    def __hash__(self) -> int:
        for name, value in vars(self).items():
            try:
                hash(frozen(value))
            except TypeError as error:
                raise FamilyError(
                    f"family '{self.name}': attribute '{name}' cannot be a {type(value).__name__} ({error}), because "
                    "families are compared: write numbers, texts, tuples or NumPy arrays, such as np.asarray(...) for "
                    "a JAX array or a tuple for a set"
                ) from error
        return hash((type(self), frozen(vars(self))))

    def __repr__(self) -> str:
        boxes = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, (low, high) in self.parameters.items())
        return f"<{type(self).__name__}: {boxes or 'no parameters'}; {len(self.decomposition)} subdomains>"

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates, in the order of the domain."""
        return self.domain.names

    def unknown(self, lookup: Callable[..., Any]) -> Field | Fields:
        """The unknown of a law, which looks its derivatives up."""
        from .fields import make_unknown

        return make_unknown(lookup, self.components, self.coordinates)

    def point(self, coordinates: Any, coefficients: Any = ()) -> Point:
        """The point of a law: its coordinates and the coefficients of its subdomain, by name."""
        names = (*self.coordinates, *self.coefficients)
        return Point(dict(zip(names, (*coordinates, *coefficients))))

    def coefficient_table(self) -> Float[np.ndarray, "K c"]:
        """The coefficients of every subdomain, a row each."""
        subdomains = self.decomposition.names
        return np.array([[float(self.coefficients[c][k]) for c in self.coefficients] for k in subdomains]).reshape(
            len(subdomains), len(self.coefficients)
        )

    def error_points(self) -> Float[np.ndarray, "n d"]:
        """The fixed uniform grid on which errors are measured: those of its points that lie in the domain."""
        d = len(self.coordinates)
        counts = self.grid or [max(2, round(10_000 ** (1 / d)))] * d
        axes = [np.linspace(low, high, n) for (low, high), n in zip(self.domain.sides.values(), counts)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
        return points[self.domain.contains(points)]

    def check_parameters(self, given: Mapping[str, Any], extrapolate: bool = False) -> dict[str, float]:
        """The parameters as floats, in the family's order; every way to get them wrong has its own message."""
        boxes = self.parameters
        listing = ", ".join(f"{n} in [{low:g}, {high:g}]" for n, (low, high) in boxes.items()) or "none"
        for name in given:
            if name not in boxes:
                raise ParameterError(f"family '{self.name}' has no parameter '{name}'; its parameters: {listing}")
        checked = {}
        for name, (low, high) in boxes.items():
            if name not in given:
                raise ParameterError(f"parameter '{name}' is missing; family '{self.name}' needs: {listing}")
            try:
                value = float(given[name])
            except (TypeError, ValueError, OverflowError):
                raise ParameterError(f"parameter {name}={given[name]!r} is not a number") from None
            if not math.isfinite(value):
                raise ParameterError(f"parameter {name}={value} is not a finite number")
            if not extrapolate and not low <= value <= high:
                raise ParameterError(
                    f"parameter {name}={value:g} is outside its box [{low:g}, {high:g}]; "
                    "extrapolate=True (--extrapolate) allows it"
                )
            checked[name] = value
        return checked

    def check(self) -> None:
        """Raise a FamilyError if something is missing or does not fit; done once before the first solve."""
        label = f"family '{self.name}'"
        for attribute in ("domain", "decomposition"):
            if not hasattr(self, attribute):
                raise FamilyError(
                    f"{label} has no '{attribute}': set it on the class, see the page 'Your first family'"
                )
        for method in ("residual", "boundary"):
            if getattr(type(self), method) is getattr(Family, method):
                raise FamilyError(f"{label} has no method '{method}': every family defines residual and boundary")
        if self.decomposition.domain != self.domain:
            raise FamilyError(f"{label}: the decomposition is of {self.decomposition.domain!r}, not of {self.domain!r}")
        for name, table in self.coefficients.items():
            missing = [k for k in self.decomposition.names if k not in table]
            if missing:
                raise FamilyError(f"{label}: coefficient '{name}' has no value for subdomain '{missing[0]}'")
            for value in table.values():
                if real(value) is None:
                    raise FamilyError(
                        f"{label}: coefficient '{name}' is a number for each subdomain, not {value!r}; what depends on "
                        "the point belongs into the residual and the flux, as a function of p"
                    )
        for name, box in self.parameters.items():
            if len(box) != 2 or not all(math.isfinite(end) for end in box) or box[0] > box[1]:
                raise FamilyError(f"{label}: parameter '{name}' needs a box (low, high), not {box!r}")
        self._check_boundary(label)
        self._check_flux(label)
        hash(self)

    def _check_boundary(self, label: str) -> None:
        conditions = self.boundary()
        if not isinstance(conditions, list | tuple):
            raise FamilyError(f"{label}: boundary gives a list of conditions, not {conditions!r}")
        for condition in conditions:
            if not isinstance(condition, BoundaryCondition):
                raise FamilyError(f"{label}: boundary lists {condition!r}: take Dirichlet, Neumann, Robin, Periodic")
            try:
                condition.names(self.decomposition)
            except FamilyError as error:
                raise FamilyError(f"{label}: {error}") from None

    def _check_flux(self, label: str) -> None:
        """The flux names every direction in which the domain is cut; without one, `c` would ask for nothing there."""
        if self.flux is None:
            return
        middle = {name: np.float64(0.5 * (low + high)) for name, (low, high) in self.parameters.items()}
        point = self.point(np.full(len(self.coordinates), 0.5), np.ones(len(self.coefficients)))
        try:
            density = self.flux(self.unknown(lambda _: np.float64(0.0)), point, **middle)
        except Exception:  # whatever is wrong with the flux is reported when it is used
            return
        if not isinstance(density, Mapping) or not density or not set(density) <= set(self.coordinates):
            return
        axes = {patch.axis for pair in self.decomposition.interfaces for patch in pair.patches}
        for z in [self.coordinates[axis] for axis in sorted(axes)]:
            if z not in density:
                raise FamilyError(
                    f"{label}: the domain is cut across {z}, but the flux has no '{z}': give its density along {z} "
                    f"(it has {', '.join(density)}), or define no flux"
                )

    def _repr_html_(self) -> str:
        from .regions import regions_figure

        boxes = [(name, f"[{low:g}, {high:g}]") for name, (low, high) in self.parameters.items()]
        draw = partial(regions_figure, self) if len(self.coordinates) == 2 else None
        return show(self.title or self.name, ("parameter", "range"), boxes, draw=draw)

    def usual_levels(self) -> dict[str, Any]:
        """The arguments of `decompose`, with their defaults."""
        if self.decompose is None:
            return {}
        found = inspect.signature(self.decompose).parameters.values()
        open_ones = [one.name for one in found if one.default is one.empty or one.kind is one.VAR_KEYWORD]
        if open_ones:
            raise FamilyError(
                f"family '{self.name}': argument '{open_ones[0]}' of decompose needs a default, the usual level, as in "
                f"decompose(self, {open_ones[0]}=0.5)"
            )
        return {one.name: one.default for one in found}

    def decomposed(self, **levels: Any) -> Family:
        """This family on the decomposition for these levels; itself if that is its own."""
        assert self.decompose is not None, "checked by the caller"
        decomposition = self.decompose(**levels)
        return self if decomposition == self.decomposition else self.changed(decomposition=decomposition)

    def undivided(self) -> Family:
        """This family on one subdomain: what a single-domain PINN solves."""
        if self.coefficients:
            raise FamilyError(f"family '{self.name}' has coefficients per subdomain and cannot be undivided")
        names, points = self.decomposition.names, self.points
        more = Points(sum(map(points.inside, names)), points.boundary * len(names), points.interface)
        return self.changed(decomposition=self.decomposition.single(), points=more)

    def changed(self, **attributes: Any) -> Family:
        """A copy of this family with other attributes."""
        other = type(self).__new__(type(self))
        other.__dict__.update(vars(self) | attributes)
        return other


def parameters_text(parameters: Mapping[str, float]) -> str:
    """Parameters for messages: 'a=1, b=2.5'."""
    return ", ".join(f"{name}={value:g}" for name, value in parameters.items())


def frozen(thing: Any) -> Any:
    """A hashable picture of settings."""
    if isinstance(thing, Mapping):
        return tuple((key, frozen(value)) for key, value in sorted(thing.items()))
    if isinstance(thing, list | tuple):
        return tuple(frozen(item) for item in thing)
    if isinstance(thing, np.ndarray):
        return (thing.shape, thing.tobytes())
    return thing
