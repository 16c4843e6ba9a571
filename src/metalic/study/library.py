"""A library of solved members of a family: where later solves start.

A library is a ledger whose plays are members: parameters, networks, how good they are and where they came from. The
ledger of a study that kept its networks can be read as a library. Which networks a solve starts from:

- members whose estimate, error or verdict is bad are left out;
- members made one from the other by continuation are on one *branch*: their weights vary continuously with the
  parameters, and the start is their linear interpolation, theta = sum_i c_i theta_i with sum_i c_i = 1 and
  sum_i c_i p_i = p. Of all such c, the one with the smallest sum of c_i^2 |p_i - p|^2 is taken: with two neighbours on
  a line it is the usual linear interpolation, with more neighbours than needed a local least-squares fit;
- else the nearest member.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from jaxtyping import Float

from ..atomic import a_path
from ..conditions import Catalogue
from ..errors import LibraryError
from ..families.base import Family
from ..families.registry import find_family
from ..pinn.optimizers import Status
from ..pinn.options import VERSION_0_1, SolverOptions
from ..pinn.schedule import SCHEDULES
from ..pinn.solution import PhaseRecord, Solution, relative_error
from ..pinn.solver import reference_values
from ..pinn.start import COPIED, Start
from .files import exists
from .ledger import Ledger
from .networks import Networks
from .play import versions
from .rows import DIVERGED, DONE, PhaseRow, PlayRow
from .settings import family_spec, family_to_dict, source_hash, stored_family

WORST = 1e-2  # error or estimate of a member that is still used
WORST_LOSS = 1e4  # times the median of the library; where there is neither error nor estimate
WIDE = 10.0  # a positive box whose ends differ by this factor is measured in logarithms
LARGEST_COEFFICIENT = 2.5  # of an interpolation; a larger one is an extrapolation too far
KEY = "library"  # among the settings of a file


@dataclass(frozen=True)
class Member:
    """A solved member."""

    row: PlayRow
    networks: Networks

    @property
    def parameters(self) -> dict[str, float]:
        return self.row.parameters

    @property
    def error(self) -> float | None:
        return self.row.error

    @property
    def loss(self) -> float:
        loss = self.row.phases[-1].loss
        return float("inf") if loss is None else loss

    @property
    def conditions(self) -> tuple[str, ...]:
        """The set of its last phase."""
        return self.row.phases[-1].conditions

    @property
    def measure(self) -> float | None:
        """The error, or its estimate where there is no reference."""
        return self.row.estimate if self.row.error is None else self.row.error

    @property
    def usable(self) -> bool:
        """Whether a solve may start from it."""
        good = self.row.status == DONE and self.row.verdict != "failed" and bool(np.isfinite(self.networks.theta).all())
        return good and (self.measure is None or self.measure <= WORST)


class Library:
    """Solved members of a family in a file. A file that does not exist is begun with the first member.

    Args:
        path: The library, or the ledger of a study that kept its networks.
        family: The family; needed for a family of your own, and before the first member is added.
        solver: Options of every solve that begins here, such as {"lambda_boundary": 200}, for a new library.

    Raises:
        MetalicError: The file is damaged, of another family, or not a library.

    Example:
            library = Library("line.db")
            library.add(mt.solve("poisson", s=20))
            mt.solve("poisson", s=21, start=library)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        family: str | Family | type[Family] | None = None,
        *,
        solver: Mapping[str, Any] | SolverOptions | None = None,
    ):
        self.path = a_path(path)
        self._writer: Ledger | None = None
        self._family = None if family is None else find_family(family)
        self._spec = None if family is None else family_spec(family, find_family(family))
        self.options = SolverOptions.of(solver)
        self.members: list[Member] = []
        if exists(self.path):
            self._read()
        elif self._family is not None:
            self.options = self.options.settled(self._family, SCHEDULES["fast"])

    def _read(self) -> None:
        with Ledger(self.path) as ledger:
            settings, rows, networks = ledger.settings(), ledger.plays(), ledger.networks()
        if self._family is None:
            self._family = find_family(stored_family(settings, self.path))
        _check_family(settings, self._family, self.path)
        self.options = SolverOptions.of(settings.get(KEY, settings.get("solver"))).over(VERSION_0_1)
        kept = [row for row in rows if row.number in networks]
        kept = [row for row in kept if row.choices is None or networks[row.number].fit(self._family)]  # other cuts
        self.members = [Member(row, networks[row.number]) for row in kept]
        for member in self.members:
            if not member.networks.fit(self._family):
                raise LibraryError(
                    f"'{self.path}' holds networks of another decomposition or shape than those of "
                    f"'{self._family.name}' (member {member.row.number}); make a new library"
                )

    # ---- what it holds

    @property
    def family(self) -> Family:
        if self._family is None:
            raise LibraryError(f"library '{self.path}' is empty: name its family, as in Library(path, 'poisson')")
        return self._family

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __repr__(self) -> str:
        name = "no family yet" if self._family is None else self._family.name
        return f"<Library of {name} in '{self.path}': {len(self)} members>"

    def find(self, parameters: Mapping[str, float]) -> Member | None:
        """The member with these parameters, the best if there are several."""
        same = [member for member in self.members if member.parameters == dict(parameters)]
        return min(same, key=lambda member: (not member.usable, member.loss), default=None)

    # ---- adding

    def add(
        self, solution: Solution, *, branch: int | None = None, replace: bool = False, precision: str | None = None
    ) -> Member:
        """Keep a solution.

        Args:
            solution: Of the library's family.
            branch: The number of the branch it was continued on.
            replace: Put it in the place of a member with the same parameters; else such a member is an error.
            precision: Of the weights in the file, 'float32' or 'float64'; by default that of the solution.

        Returns:
            The member.
        """
        if self._family is None:
            self._family, self._spec = solution.family, family_spec(solution.family, solution.family)
            self.options = self.options.settled(self._family, SCHEDULES["fast"])
        networks = Networks.of(solution, branch, precision)
        if solution.family.name != self.family.name or not networks.fit(self.family):
            raise LibraryError(
                f"a solution of '{solution.family.name}' with networks {solution.hidden} does not belong to library "
                f"'{self.path}' of '{self.family.name}': its equations or its decomposition differ"
            )
        before = self.find(solution.parameters)
        if before is not None and not replace:
            raise LibraryError(
                f"library '{self.path}' has a member at {_told(solution.parameters)}; replace=True puts the new one in "
                "its place"
            )
        number = max((member.row.number for member in self.members), default=0) + 1
        return self._write(Member(_row(solution, number if before is None else before.row.number), networks))

    def merge(self, other: Library | str | os.PathLike[str]) -> int:
        """Take over the members of another library, or ledger, whose parameters are new here.

        Returns:
            How many there were.
        """
        found = other if isinstance(other, Library) else Library(other, self._family)
        if self._family is None:
            self._family, self._spec = found.family, found._spec
        if found.family != self.family:
            raise LibraryError(f"'{found.path}' is of '{found.family.name}', library '{self.path}' of another family")
        new = [member for member in found.members if self.find(member.parameters) is None]
        last = max((member.row.number for member in self.members), default=0)
        branches = max((member.networks.branch or 0 for member in self.members), default=0)
        for number, member in enumerate(new, start=last + 1):
            row = replace(member.row, number=number, seen=(), pending=(), borrowed=False)
            own = member.networks.branch
            self._write(Member(row, replace(member.networks, branch=None if own is None else own + branches)))
        return len(new)

    def _write(self, member: Member) -> Member:
        if self._writer is None:
            self._writer = Ledger.writer(self.path, self._settings())
            if KEY not in self._writer.settings():
                self.close()
                raise LibraryError(f"'{self.path}' is the ledger of a study, which only its plays are written to")
        self._writer.write(member.row, member.networks)
        self.members = [one for one in self.members if one.row.number != member.row.number] + [member]
        return member

    def _settings(self) -> dict[str, Any]:
        family = self.family
        return {
            "family": family_to_dict(family, Catalogue(family)),
            KEY: self.options.to_dict(),
            "spec": self._spec,
            "source": source_hash(family),
            "equations": equations_hash(family),
        }

    def close(self) -> None:
        """Give the file back to other writers."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- where to start

    @property
    def usable(self) -> list[Member]:
        """The members that a solve may start from."""
        good = [member for member in self.members if member.usable]
        usual = float(np.median([member.loss for member in good])) if good else 0.0
        return [member for member in good if member.measure is not None or member.loss <= WORST_LOSS * usual]

    def place(self, parameters: Mapping[str, float]) -> Float[np.ndarray, "c"]:
        """Parameters as a point of the unit box; wide boxes in logarithms."""
        found = []
        for name, (low, high) in self.family.parameters.items():
            value = float(parameters[name])
            if in_logarithms(low, high) and value > 0:
                low, high, value = np.log(low), np.log(high), np.log(value)
            found.append((value - low) / (high - low) if high > low else 0.0)
        return np.array(found)

    def between(self, a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
        """The parameters halfway between two."""
        boxes = self.family.parameters
        wide = {name for name, box in boxes.items() if in_logarithms(*box) and min(a[name], b[name]) > 0}
        return {name: float((a[name] * b[name]) ** 0.5 if name in wide else (a[name] + b[name]) / 2) for name in boxes}

    def nearest(self, parameters: Mapping[str, float]) -> list[Member]:
        """The usable members, nearest first."""
        here = self.place(parameters)
        return sorted(self.usable, key=lambda one: (_distance(self.place(one.parameters), here), one.row.number))

    def starts(self, parameters: Mapping[str, float]) -> list[Start]:
        """What a solve may start from, best first; empty if there is nothing.

        The interpolation of neighbours on one branch (if there is one), then the nearest member, then the nearest of
        the others.
        """
        order = self.nearest(parameters)
        if not order:
            return []
        found = [self._start(order[0], order[0].networks.theta, "nearest")]
        if _distance(self.place(order[0].parameters), self.place(parameters)) == 0:
            return found
        mixed = self._interpolated(order, parameters)
        others = [self._start(one, one.networks.theta, "nearest") for one in order[1:2]]
        return ([] if mixed is None else [mixed]) + found + others

    def start_of(self, member: Member) -> Start:
        """The networks of a member."""
        return self._start(member, member.networks.theta, COPIED)

    def _start(self, member: Member, theta: Float[np.ndarray, "K P"], kind: str) -> Start:
        one = member.networks
        parts = (np.asarray(theta, dtype=float), one.hidden, one.centre, one.slope)
        return Start(self.family, member.parameters, *parts, source=str(self.path), kind=kind)

    def _interpolated(self, order: Sequence[Member], parameters: Mapping[str, float]) -> Start | None:
        first = order[0]
        if first.networks.branch is None:
            return None
        here = self.place(parameters)
        group = [
            (one, self.place(one.parameters) - here)
            for one in order
            if one.networks.branch == first.networks.branch and one.networks.hidden == first.networks.hidden
        ]
        chosen = _neighbours(group)
        coefficients = _coefficients(np.array([away for _, away in chosen]))
        if coefficients is None:
            return None
        theta = sum(c * np.asarray(one.networks.theta, float) for c, (one, _) in zip(coefficients, chosen))
        return self._start(first, np.asarray(theta), "interpolated")

    def __call__(self, parameters: Mapping[str, Any] | None = None, **by_name: Any) -> Solution:
        """The member at any parameters without training, for a quick look: `library(s=17.3)(x=0.3, y=0.8)`."""
        values = self.family.check_parameters({**(parameters or {}), **by_name})
        starts = self.starts(values)
        if not starts:
            raise LibraryError(f"library '{self.path}' has no member that could be used")
        begun, member = starts[0], self.nearest(values)[0]
        solution = Solution(
            family=self.family,
            parameters=values,
            theta=begun.theta,
            hidden=begun.hidden,
            centre=begun.centre,
            slope=begun.slope,
            phases=(_untrained(member),),
            schedule="none",
            seed=member.row.seed,
            collocation=tuple(np.zeros((0, len(self.family.coordinates))) for _ in begun.theta),
            start=begun.to_dict(),
        )
        exact = reference_values(self.family, values)
        if exact is None:
            return solution
        values_there = solution(self.family.error_points()).reshape(exact.shape)
        return replace(solution, phases=(replace(_untrained(member), error=relative_error(values_there, exact)),))


def _untrained(member: Member) -> PhaseRecord:
    last = member.row.phases[-1]
    parts: dict[str, Any] = {"iterations": 0, "seconds": 0.0, "compile_seconds": 0.0, "loss": float("nan")}
    return PhaseRecord("none", last.conditions, last.index, **parts, error=None, status=Status.RUNNING, history=())


def in_logarithms(low: float, high: float) -> bool:
    """Whether a box is so wide that its parameter is measured in logarithms."""
    return low > 0 and high >= WIDE * low


def _distance(a: Float[np.ndarray, "c"], b: Float[np.ndarray, "c"]) -> float:
    return float(np.linalg.norm(a - b))


def _neighbours(group: Sequence[tuple[Member, Float[np.ndarray, "c"]]]) -> list[tuple[Member, Float[np.ndarray, "c"]]]:
    """Those to interpolate between, nearest first: on a line one on either side, or the two nearest beyond its end."""
    count = len(group[0][1])
    if count != 1:
        return list(group[: 2 * count + 1])
    sides = [[one for one in group if one[1][0] * sign > 0][:1] for sign in (1, -1)]
    return [*sides[0], *sides[1]] if all(sides) else list(group[:2])


def _coefficients(away: Float[np.ndarray, "n c"]) -> Float[np.ndarray, "n"] | None:
    """c with sum c = 1 and sum c_i away_i = 0, the smallest weighted with the distances; None if there is none."""
    count, size = away.shape
    if count < size + 1:
        return None
    weight = 1 / (np.linalg.norm(away, axis=1) + 1e-12)
    system = np.vstack([np.ones(count), away.T]) * weight
    right = np.r_[1.0, np.zeros(size)]
    found = np.linalg.lstsq(system, right, rcond=1e-10)[0]
    if not np.allclose(system @ found, right, atol=1e-6) or np.abs(found * weight).max() > LARGEST_COEFFICIENT:
        return None
    return found * weight


def _row(solution: Solution, number: int) -> PlayRow:
    names = Catalogue(solution.family).names
    phases = tuple(
        PhaseRow(
            conditions=phase.conditions,
            index=phase.index,
            arm=tuple(int(name in phase.conditions) for name in names),
            reward=0.0 if phase.error is None else -float(np.log10(max(phase.error, 1e-300))),
            error=phase.error,
            loss=phase.loss,
            seconds=phase.seconds,
            iterations=phase.iterations,
            stop_reason=phase.stop_reason,
            optimizer=phase.optimizer,
        )
        for phase in solution.phases
    )
    return PlayRow(
        number=number,
        status=DIVERGED if solution.diverged else DONE,
        parameters={name: float(value) for name, value in solution.parameters.items()},
        seed=solution.seed,
        phases=phases,
        versions=versions(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _check_family(settings: Mapping[str, Any], family: Family, path: Path) -> None:
    stored = settings["family"]
    ours = [family.name, list(family.parameters)]
    theirs = [stored["name"], list(stored["parameters"])]
    if theirs != ours:
        raise LibraryError(f"'{path}' is a library of '{theirs[0]}', not of '{family.name}'")
    known = settings.get("equations")
    if known is not None and known != equations_hash(family):
        warnings.warn(
            f"the equations of family '{family.name}' have changed since library '{path}' was made; solves that start "
            "from it converge to the new ones, but may need more iterations",
            stacklevel=4,
        )


def equations_hash(family: Family) -> str | None:
    """A hash of the class that defines a family, without its comments and docstrings; None if it has no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(type(family))))
    except (OSError, TypeError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    options = sorted((key, repr(value)) for key, value in vars(family).items())
    return hashlib.sha256((ast.dump(tree) + repr(options)).encode()).hexdigest()


def _told(parameters: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in parameters.items()) or "no parameters"
