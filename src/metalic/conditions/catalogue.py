"""The catalogue of a family: its interface conditions in a fixed order, and named sets of them."""

from __future__ import annotations

from typing import Any

from ..errors import ConditionError
from ..families.base import Family
from ..families.registry import find_family
from ..sets import ALL, ConditionSet
from .laws import Condition, DerivativeContinuity, conditions_of


class Catalogue:
    """The conditions of one family in their fixed order, of which sets are made.

    Args:
        family: A family, its class, its name, or 'file.py:Name'.

    Attributes:
        family_name: The name of the family.
        conditions: The conditions.
        names: Their names.

    Raises:
        ConditionError: The family lists a condition that it does not have, or two of the same name.
        FamilyError: There is no such family.

    Example:
        >>> catalogue = Catalogue("poisson")
        >>> catalogue.names
        ('u', 'uavg', 'r', 'rc', 'gr', 'c', 'x', 'xx', 'yy')
        >>> catalogue.parse("uavg,c,yy").index
        290
    """

    def __init__(self, family: str | Family | type[Family]):
        family = find_family(family)
        known = {condition.name: condition for condition in conditions_of(family)}
        chosen = family.conditions if family.conditions is not None else tuple(known)
        missing = [name for name in chosen if name not in known]
        if missing:
            raise ConditionError(
                f"family '{family.name}' lists condition '{missing[0]}', but has only {', '.join(known)}"
            )
        self.family_name = family.name
        self.conditions: tuple[Condition, ...] = (*(known[name] for name in chosen), *family.own_conditions)
        self.names = tuple(condition.name for condition in self.conditions)
        if len(set(self.names)) < len(self.names) or "" in self.names:
            raise ConditionError(f"conditions of family '{family.name}' need distinct names, not {self.names}")

    def __len__(self) -> int:
        return len(self.names)

    def parse(self, conditions: Any) -> ConditionSet:
        """A set from any notation: 'uavg,c,yy', ['u', 'c'], a 0/1 vector, an index, 'none', 'all'.

        Raises:
            ConditionError: The notation is unknown or ambiguous, or this family has no such condition.
        """
        return ConditionSet.parse(self.names, conditions, f" for family '{self.family_name}'")


def xpinn_set(catalogue: Catalogue) -> ConditionSet:
    """{uavg, rc}, or those of the two that the catalogue has."""
    return catalogue.parse([name for name in ("uavg", "rc") if name in catalogue.names])


def cpinn_set(catalogue: Catalogue) -> ConditionSet:
    """{uavg, c}; where the catalogue has no c, {uavg, u}: across a cut in time the flux is u itself."""
    across = "c" if "c" in catalogue.names else "u"
    return catalogue.parse([name for name in ("uavg", across) if name in catalogue.names])


def textbook_sets(family: Family) -> list[ConditionSet]:
    """The sets that people use: the default, that of cPINN, that of XPINN, and all conditions; each once."""
    catalogue = Catalogue(family)
    known = [default_conditions(family), cpinn_set(catalogue), xpinn_set(catalogue), catalogue.parse(ALL)]
    return list(dict.fromkeys(known))


def default_conditions(family: Family) -> ConditionSet:
    """A sensible set where the user names none: continuity of the solution and of the flux, or, without a flux, of
    the first derivatives across the interfaces."""
    catalogue = Catalogue(family)
    if family.default_conditions is not None:
        return catalogue.parse(family.default_conditions)
    axes = {patch.axis for interface in family.decomposition.interfaces for patch in interface.patches}
    slopes = [DerivativeContinuity(family.coordinates[axis], 1).name for axis in sorted(axes)]
    across = ["c"] if family.flux is not None else slopes
    return catalogue.parse([name for name in ("u", *across) if name in catalogue.names])
