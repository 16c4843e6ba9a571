"""A library of solved members of a family: where later solves start.

A library is a ledger whose plays are members: parameters, networks, how good they are and where they came from. The
ledger of a study that kept its networks can be read as a library. Which networks a solve starts from:

- members whose estimate, error or verdict is bad are left out;
- members made one from the other by continuation are on one *branch*: their weights vary continuously with the
  parameters, and the start is their linear interpolation;
- else the nearest member.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ..atomic import a_path
from ..conditions import Catalogue
from ..errors import LibraryError
from ..families.base import Family, parameters_text
from ..families.registry import find_family
from ..pinn.options import VERSION_0_1, SolverOptions
from ..pinn.schedule import SCHEDULES
from ..pinn.solution import Solution, relative_error
from ..pinn.solver import reference_values
from ..pinn.start import COPIED, Start
from .closing import Closing
from .equations import check_family, equations_hash
from .files import exists
from .interpolation import coefficients, neighbours, place_of
from .ledger import Ledger
from .members import Member, row_of, untrained
from .networks import Networks
from .settings import family_spec, family_to_dict, source_hash, stored_family

WORST_LOSS = 1e4  # times the median of the library; where there is neither error nor estimate
KEY = "library"  # among the settings of a file


class Library(Closing):
    """Solved members of a family in a file. A file that does not exist is created with the first member.

    Args:
        path: The library, or the ledger of a study that kept its networks.
        family: The family; needed for a family of your own, and before the first member is added.
        solver: Options of every solve that begins here, such as {"lambda_boundary": 200}, for a new library.
        adaptive: Whether its members, and the solves that start from it, gather collocation points where the residual
            is large, for a new library.

    Raises:
        MetalicError: The file is damaged, of another family, or not a library.

    Example:
        >>> library = Library("poisson-members.db", "poisson")
        >>> len(library), library.family.name  # `library.add(solution)` adds the first member
        (0, 'poisson')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        family: str | Family | type[Family] | None = None,
        *,
        solver: Mapping[str, Any] | SolverOptions | None = None,
        adaptive: bool = False,
    ):
        self.path = a_path(path)
        self._writer: Ledger | None = None
        self._family = None if family is None else find_family(family)
        self._spec = None if family is None else family_spec(family, find_family(family))
        self.options, self.adaptive = SolverOptions.of(solver), bool(adaptive)
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
        check_family(settings, self._family, self.path)
        self.options = SolverOptions.of(settings.get(KEY, settings.get("solver"))).over(VERSION_0_1)
        self.adaptive = bool(settings.get("adaptive", False))
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
        """The family of the members."""
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
        self,
        solution: Solution,
        *,
        branch: int | None = None,
        replace: bool = False,
        precision: str | None = None,
        history: bool = True,
    ) -> Member:
        """Keep a solution.

        Args:
            solution: Of the library's family.
            branch: The number of the branch it was continued on.
            replace: Put it in the place of a member with the same parameters; else such a member is an error.
            precision: Of the weights in the file, 'float32' or 'float64'; by default that of the solution.
            history: Whether the history of loss and error is kept, thinned out.

        Returns:
            The member.
        """
        if self._family is None:
            self._family, self._spec = solution.family, family_spec(solution.family, solution.family)
            self.options = self.options.settled(self._family, SCHEDULES["fast"])
        networks = Networks.of(solution, branch, precision, history)
        if solution.family.name != self.family.name or not networks.fit(self.family):
            raise LibraryError(
                f"a solution of '{solution.family.name}' with networks {solution.hidden} does not belong to library "
                f"'{self.path}' of '{self.family.name}': its equations or its decomposition differ"
            )
        before = self.find(solution.parameters)
        if before is not None and not replace:
            place = parameters_text(solution.parameters) or "no parameters"
            raise LibraryError(
                f"library '{self.path}' has a member at {place}; replace=True puts the new one in its place"
            )
        number = max((member.row.number for member in self.members), default=0) + 1
        return self._write(Member(row_of(solution, number if before is None else before.row.number), networks))

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

    def adopt(self, member: Member, own_branch: bool) -> Member:
        """Keep a member that was solved elsewhere, with a number of this library's; `own_branch` begins a branch."""
        number = max((one.row.number for one in self.members), default=0) + 1
        branch = max((one.networks.branch or 0 for one in self.members), default=0) + 1
        networks = replace(member.networks, branch=branch) if own_branch else member.networks
        return self._write(Member(replace(member.row, number=number), networks))

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
            "adaptive": self.adaptive,
            "spec": self._spec,
            "source": source_hash(family),
            "equations": equations_hash(family),
        }

    def close(self) -> None:
        """Release the file for other writers."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    # ---- where to start

    @property
    def usable(self) -> list[Member]:
        """The members that a solve may start from."""
        good = [member for member in self.members if member.usable]
        usual = float(np.median([member.loss for member in good])) if good else 0.0
        return [member for member in good if member.measure is not None or member.loss <= WORST_LOSS * usual]

    def place(self, parameters: Mapping[str, float]) -> Float[np.ndarray, "c"]:
        """Parameters as a point of the unit box; wide boxes in logarithms."""
        return place_of(self.family.parameters, parameters)

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
        where = str(self.path)
        return Start(self.family, member.parameters, *parts, source=where, kind=kind, activation=one.activation)

    def _interpolated(self, order: Sequence[Member], parameters: Mapping[str, float]) -> Start | None:
        first = order[0]
        if first.networks.branch is None:
            return None
        here = self.place(parameters)
        group = [
            (one, self.place(one.parameters) - here)
            for one in order
            if one.networks.branch == first.networks.branch and one.networks.layers == first.networks.layers
        ]
        chosen = neighbours(group)
        weights = coefficients(np.array([away for _, away in chosen]))
        if weights is None:
            return None
        theta = sum(c * np.asarray(one.networks.theta, float) for c, (one, _) in zip(weights, chosen))
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
            activation=begun.activation,
            centre=begun.centre,
            slope=begun.slope,
            phases=(untrained(member),),
            schedule="none",
            seed=member.row.seed,
            collocation=tuple(np.zeros((0, len(self.family.coordinates))) for _ in begun.theta),
            start=begun.to_dict(),
        )
        exact = reference_values(self.family, values)
        if exact is None:
            return solution
        values_there = solution(self.family.error_points()).reshape(exact.shape)
        return replace(solution, phases=(replace(untrained(member), error=relative_error(values_there, exact)),))


def _distance(a: Float[np.ndarray, "c"], b: Float[np.ndarray, "c"]) -> float:
    return float(np.linalg.norm(a - b))
