"""Many members of a family at once: a range, a grid, a path or a list of parameters, solved by continuation."""

from __future__ import annotations

import csv
import io
import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.io import netcdf_file

from ..atomic import a_path, write_whole
from ..errors import FileError, ParameterError, StudyError
from ..families.base import Family, parameters_text
from ..families.registry import find_family
from ..pinn.options import SolverOptions
from ..pinn.schedule import Schedule
from ..pinn.trained import evaluate
from ..progress import shown
from ..validation import integer
from .continuation import Pass, Step, spread
from .library import Library
from .members import Member
from .study import Study
from .waves import Waves

PREPARED = 200  # Gauss-Newton iterations of a member that others will start from
MEMBERS = 17
FORMATS = (".npz", ".nc")
SHOWN = 4  # members in a figure


@dataclass(frozen=True)
class Sweep:
    """Solved members in the order they were asked for. `failures` says why a member is missing, by its number."""

    library: Library
    parameters: tuple[dict[str, float], ...]
    failures: Mapping[int, str]
    _place: Any = field(default=None, repr=False)  # a temporary directory lives as long as this

    @property
    def members(self) -> list[Member | None]:
        """The members, None where one failed."""
        return [self.library.find(values) for values in self.parameters]

    @property
    def errors(self) -> Float[np.ndarray, "n"]:
        """The error of each member, or its estimate; NaN where there is neither."""
        found = [None if member is None else member.measure for member in self.members]
        return np.array([np.nan if one is None else one for one in found], dtype=float)

    def values(self, points: Any = None) -> Float[np.ndarray, "n p m"]:
        """All members at points (p, d), by default those where errors are measured; NaN for members that failed."""
        family = self.library.family
        where = family.error_points() if points is None else np.atleast_2d(np.asarray(points, dtype=float))
        found = np.full((len(self.parameters), len(where), len(family.components)), np.nan)
        for n, member in enumerate(self.members):
            if member is not None:
                begun = self.library.start_of(member)
                found[n] = evaluate(family, begun.network, begun.theta, where, begun.centre, begun.slope)
        return found

    def plot(self) -> Any:
        """A matplotlib Figure: some members side by side, and the error or estimate of all along the parameter."""
        from ..pinn.figures import members_figure

        family = self.library.family
        found = [(number, member) for number, member in enumerate(self.members) if member is not None]
        names = [name for name in family.parameters if len({one[name] for one in self.parameters}) > 1]
        single = len(names) == 1
        along = [one[names[0]] if single else float(n) for n, one in enumerate(self.parameters, start=1)]
        chosen = sorted(found, key=lambda one: along[one[0]])
        chosen = [chosen[i] for i in np.unique(np.linspace(0, len(found) - 1, SHOWN).round().astype(int)) if chosen]
        solutions = [member.solution(family) for _, member in chosen]
        return members_figure(solutions, along, self.errors.tolist(), names[0] if single else "number of the member")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all members on a grid to an .npz file or to netCDF (.nc), which xarray and others read."""
        place, variables = check_format(path), self._variables()
        if place.suffix == ".nc":
            return write_whole(place, lambda file: _write_netcdf(file, variables, self.library.family))
        arrays: dict[str, Any] = {name: array for name, (_, array) in variables.items()}
        return write_whole(place, lambda file: np.savez_compressed(file, **arrays))

    def _variables(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Dimensions and array of everything that is written, by name."""
        family, values = self.library.family, self.values()
        points = family.error_points()
        axes = {name: np.unique(points[:, i]) for i, name in enumerate(family.coordinates)}
        shape, dims = tuple(len(axis) for axis in axes.values()), tuple(axes)
        found: dict[str, Any] = {name: ((name,), axis) for name, axis in axes.items()}
        if np.prod(shape) != len(points):  # not a grid
            shape, dims = (len(points),), ("point",)
            found = {name: (dims, points[:, i]) for i, name in enumerate(family.coordinates)}
        for name in family.parameters:
            label = f"parameter_{name}" if name in found else name
            found[label] = (("member",), np.array([one[name] for one in self.parameters]))
        for i, component in enumerate(family.components):
            found[component] = (("member", *dims), values[:, :, i].reshape(len(values), *shape))
        return found | {"error": (("member",), self.errors)}


def _write_netcdf(file: Any, variables: Mapping[str, tuple[tuple[str, ...], np.ndarray]], family: Family) -> None:
    buffer = io.BytesIO()
    content = netcdf_file(buffer, "w")
    content.family, content.equation = family.name, family.title
    for dims, array in variables.values():
        for name, size in zip(dims, array.shape):
            if name not in content.dimensions:
                content.createDimension(name, size)
    for name, (dims, array) in variables.items():
        content.createVariable(name, "f8", dims)[:] = array
    content.flush()
    file.write(buffer.getvalue())


def check_format(path: str | os.PathLike[str]) -> Path:
    """A path that a sweep can be written to."""
    place = a_path(path)
    if place.suffix not in FORMATS:
        raise FileError(f"'{place}': a sweep is written to a file that ends in {' or '.join(FORMATS)}")
    return place


def sweep(
    family: str | Family | type[Family],
    parameters: Iterable[Mapping[str, Any]] | str | os.PathLike[str] | None = None,
    *,
    library: str | os.PathLike[str] | Library | None = None,
    conditions: Any = None,
    schedule: str | Schedule = "fast",
    solver: Mapping[str, Any] | SolverOptions | None = None,
    seed: int = 0,
    iterations: int = 20,
    extrapolate: bool = False,
    workers: Any = 1,
    progress: Callable[[Step], Any] | bool | None = None,
    **ranges: Any,
) -> Sweep:
    """Solve many members of a family, each started from its neighbours.

    Args:
        family: A family, its class, its name, or 'file.py:Name'.
        parameters: A list of parameters, or a CSV file with a column per parameter; or give `ranges`.
        library: A file for the members. Run again with the same file, a sweep that was stopped continues. By default a
            temporary one.
        conditions: The set of every member; by default that of the family.
        schedule: For the first member, and others that cannot be started from a neighbour.
        solver: Options of every solve, such as {'hidden': (12, 12)}, for a new library.
        seed: Decides the points, and the weights of cold starts.
        iterations: Gauss-Newton iterations that every member gets at least.
        extrapolate: Allow parameters outside their boxes.
        workers: The number of processes, the address of a Dask scheduler, or a Dask client. The members do not depend
            on it.
        progress: Called with a `Step` after each member. True shows a progress bar, None does so in notebooks, False
            never.
        **ranges: For each parameter a triple (first, last, count), a list of values, or a number. Several ranges make
            a grid.

    Returns:
        The members, in the order asked for.

    Raises:
        MetalicError: Parameters are missing, outside their box, or fewer than two members; nothing has been solved.

    Example:
        >>> import metalic as mt
        >>> class Decay(mt.Family):
        ...     parameters = {"a": (0.5, 2.0)}
        ...     domain = mt.Box(t=(0, 1))
        ...     decomposition = mt.split(domain, t=[0.5])
        ...     conditions, points, solver_options = ("u",), mt.Points(16, 1, 1), {"hidden": (4,)}
        ...
        ...     def residual(self, u, p, a):
        ...         return u.t + a * u
        ...
        ...     def boundary(self):
        ...         return [mt.Dirichlet("t=0", 1.0)]
        >>> found = mt.sweep(Decay, a=[0.9, 1.0, 1.1])
        >>> found.values([[1.0]]).ravel().round(2)  # at t = 1, where the solution is exp(-a)
        array([0.41, 0.37, 0.33])
    """
    found = find_family(family)
    wanted = _wanted(found, parameters, ranges, extrapolate)
    place = tempfile.TemporaryDirectory(prefix="metalic-") if library is None else None
    where = Path(place.name) / "sweep.db" if place is not None else library
    kept = where if isinstance(where, Library) else Library(a_path(where), family, solver=solver)
    one = Pass(kept, conditions, schedule, int(seed), iterations, extrapolate=extrapolate)
    run = Waves(one, workers)
    try:
        with shown(progress) as one.progress:
            run.run(wanted)
    finally:
        kept.close()
    return Sweep(kept, tuple(wanted), run.failures, place)


def prepare(
    path: str | os.PathLike[str],
    family: str | Family | type[Family] | None = None,
    *,
    study: str | os.PathLike[str] | Study | None = None,
    members: int = MEMBERS,
    iterations: int = PREPARED,
    refine: int = 2,
    adaptive: bool = False,
    begin: Mapping[str, Any] | None = None,
    conditions: Any = None,
    schedule: str | Schedule = "fast",
    solver: Mapping[str, Any] | SolverOptions | None = None,
    seed: int = 0,
    precision: str = "float32",
    progress: Callable[[Step], Any] | bool | None = None,
) -> Library:
    """Make a library that covers the box of a family, by continuation.

    Args:
        path: The library; one that exists is completed.
        family: The family; with a study, that of the study.
        study: A study whose recommended sets the members are solved with.
        members: How many, spread over the box.
        iterations: Gauss-Newton iterations that every member gets at least, on fresh points every 50. Later solves
            cannot be much more accurate than the members that they start from.
        refine: How often a step between two members may be halved, where ten iterations from in between do not lead to
            a loss like theirs. Families of one parameter only.
        adaptive: Let collocation points gather where the residual is large, for sharp fronts; solves that start from
            the library do the same.
        begin: Parameters near which the first member is solved, cold; by default the easy end of the family, else the
            smallest parameters. Begin where solutions have most detail: networks lose it more easily than they
            gain it.
        conditions: A set instead of the default or the recommended one.
        schedule: For the first member, and others that cannot be started from a neighbour.
        solver: Options of every solve.
        seed: Decides the points, and the weights of cold starts.
        precision: Of the weights in the file; 'float32' is enough to start from.
        progress: Called with a `Step` after each member. True shows a progress bar, None does so in notebooks, False
            never.

    Returns:
        The library.

    Raises:
        MetalicError: There are fewer than two members, or neither a family nor a study.

    Example:
        >>> import metalic as mt
        >>> class Decay(mt.Family):
        ...     parameters = {"a": (0.5, 2.0)}
        ...     domain = mt.Box(t=(0, 1))
        ...     decomposition = mt.split(domain, t=[0.5])
        ...     conditions, points, solver_options = ("u",), mt.Points(16, 1, 1), {"hidden": (4,)}
        ...
        ...     def residual(self, u, p, a):
        ...         return u.t + a * u
        ...
        ...     def boundary(self):
        ...         return [mt.Dirichlet("t=0", 1.0)]
        >>> library = mt.prepare("decay.db", Decay, members=2)
        >>> sorted(round(member.parameters["a"], 2) for member in library)[::len(library) - 1]
        [0.5, 2.0]
    """
    if integer(members, least=2) is None:
        raise StudyError(f"a library is prepared with 2 or more members, not {members!r}")
    if integer(iterations, least=1) is None:
        raise StudyError(f"a member gets at least 1 iteration, not {iterations!r}")
    opened = Study(study, family, read_only=True) if isinstance(study, str | os.PathLike) else study
    about = family if opened is None else opened.family
    if about is None:
        raise StudyError("say which family to prepare a library for, or give a study")
    if opened is not None and conditions is None:
        conditions = lambda values: list(opened.recommend(values).conditions[-1])  # noqa: E731
    options = opened.settings.options if opened is not None and solver is None else solver
    library = Library(path, about, solver=options, adaptive=adaptive)
    wanted = spread(library.family, members)
    first = None if begin is None else library.family.check_parameters({**wanted[0], **begin})
    kept: dict[str, Any] = {"precision": precision, "history": False, "fresh": not adaptive, "begin": first}
    run = Pass(library, conditions, schedule, int(seed), iterations, redraw=True, **kept)
    try:
        with shown(progress) as run.progress:
            run.run(wanted)
            if len(library.family.parameters) == 1:
                run.refine(wanted, refine)
    finally:
        library.close()
    return library


def _wanted(family: Family, given: Any, ranges: Mapping[str, Any], extrapolate: bool) -> list[dict[str, float]]:
    if given is not None and ranges:
        raise ParameterError("a sweep takes a list of parameters or ranges by name, not both")
    if isinstance(given, str | os.PathLike):
        given = _from_csv(a_path(given))
    rows = _grid(ranges) if given is None else list(given)
    found = [family.check_parameters(row, extrapolate) for row in rows]
    if len(found) < 2:
        raise ParameterError(f"a sweep has at least two members, not {len(found)}; solve solves a single one")
    twice = [one for i, one in enumerate(found) if one in found[:i]] if len(found) < 10_000 else []
    if twice:
        raise ParameterError(f"a sweep names {parameters_text(twice[0])} twice")
    return found


def _grid(ranges: Mapping[str, Any]) -> list[dict[str, Any]]:
    axes = [_axis(name, given) for name, given in ranges.items()]
    return [dict(zip(ranges, row)) for row in itertools.product(*axes)]


def _axis(name: str, given: Any) -> Sequence[Any]:
    if isinstance(given, tuple) and len(given) == 3 and integer(given[2], least=1) is not None:
        try:
            return [float(value) for value in np.linspace(float(given[0]), float(given[1]), int(given[2]))]
        except (TypeError, ValueError):
            pass
    if isinstance(given, tuple):
        raise ParameterError(f"a range is (first, last, count), as in {name}=(0, 1, 11), not {given!r}")
    return list(given) if isinstance(given, list | np.ndarray) else [given]


def _from_csv(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot read '{path}': {error}") from error
    if any(None in row or None in row.values() for row in rows):
        raise FileError(f"'{path}': every line has as many values as the first has names")
    return rows
