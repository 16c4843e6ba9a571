"""How neighbours are stitched: the catalogue of interface conditions, and sets of them.

A condition is one law for one point of an interface, seen from side `a` with the other side `b` and the normal `n`
from a to b. Its loss term is the mean of squares over the interface points, summed over ordered pairs of neighbours:

    u      solution continuity            u - u'
    uavg   average solution continuity    u - (u + u')/2
    r      residual                       r ; r'                          r = F[u] - h
    rc     residual continuity            r - r'
    gr     gradient-enhanced residual     dr/dz ; dr'/dz                  for every coordinate z
    c      flux continuity                (phi(u) - phi(u')) . n          if the family has a flux
    z      first derivative continuity    u_z - u'_z                      one condition per coordinate z
    zz     second derivative continuity   u_zz - u'_zz                    one condition per coordinate z

`uavg` is `u` with a quarter of its weight: the two differ in weight, not in what they ask for.
"""

from __future__ import annotations

from typing import Any

from ..families.base import Family
from ..families.fields import components_of
from .side import Side


class Condition:
    """An interface condition. A condition of your own sets `name` and defines `law` for one point.

    List instances in `own_conditions` of a family.

    Attributes:
        name: The name in sets, such as 'u' in 'u,c'.
        description: What it asks for, for tables.
        formula: The law, for tables; a prime marks the other side.
        symmetric: Swapping the sides changes no more than signs, so that one evaluation serves both ordered pairs.

    Example:
        >>> class Slope(Condition):
        ...     name, description, formula, symmetric = "slope", "continuity of u_x", "u_x - u'_x", True
        ...
        ...     def law(self, a, b, n):
        ...         return a.u.x - b.u.x
        >>> Slope()
        <condition slope: continuity of u_x>
    """

    name: str = ""
    description: str = ""
    formula: str = ""
    symmetric: bool = False

    def law(self, a: Side, b: Side, n: Any) -> Any:
        """What should be zero at a point of an interface: a number, or a tuple of numbers.

        Args:
            a: One side: the unknown `a.u` with its derivatives, the point `a.p`, `a.residual()` and `a.flux()`.
            b: The other side.
            n: The normal from a to b, an entry per coordinate.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<condition {self.name}: {self.description}>"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.name))


class SolutionContinuity(Condition):
    name, description, formula, symmetric = "u", "solution continuity", "u - u'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return tuple(f.value - g.value for f, g in zip(components_of(a.u), components_of(b.u)))


class AverageContinuity(Condition):
    name, description, formula, symmetric = "uavg", "average solution continuity", "u - (u + u')/2", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        pairs = zip(components_of(a.u), components_of(b.u))
        return tuple(f.value - (f.value + g.value) / 2 for f, g in pairs)


class Residual(Condition):
    name, description, formula, symmetric = "r", "residual", "r ; r'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual(), b.residual()


class ResidualContinuity(Condition):
    name, description, formula, symmetric = "rc", "residual continuity", "r - r'", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual() - b.residual()


class ResidualGradient(Condition):
    name, description, formula, symmetric = "gr", "gradient-enhanced residual", "dr/dz ; dr'/dz for every z", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return a.residual_gradient(), b.residual_gradient()


class FluxContinuity(Condition):
    name, description, formula, symmetric = "c", "flux continuity", "(phi(u) - phi(u')) . n", True

    def law(self, a: Side, b: Side, n: Any) -> Any:
        return (a.flux() - b.flux()) @ n


NAMES = ("u", "uavg", "r", "rc", "gr", "c")
"""Of the conditions above; a coordinate may have such a name too."""


class DerivativeContinuity(Condition):
    """`x`, `t`... for order 1, `xx`, `tt`... for order 2; `d_r`, `d_rr` if the coordinate has another's name."""

    symmetric = True

    def __init__(self, coordinate: str, order: int):
        self.coordinate, self.order = coordinate, order
        letters = coordinate * order
        self.name = f"d_{letters}" if coordinate in NAMES else letters
        ordinal = {1: "first", 2: "second", 3: "third"}.get(order, f"{order}th")
        self.description = f"{ordinal} derivative continuity in {coordinate}"
        self.formula = f"u_{letters} - u'_{letters}"

    def law(self, a: Side, b: Side, n: Any) -> Any:
        along = (self.coordinate,) * self.order
        return tuple(f.d(*along) - g.d(*along) for f, g in zip(components_of(a.u), components_of(b.u)))


def conditions_of(family: Family) -> list[Condition]:
    """The whole catalogue that coordinates and flux give, in order."""
    found: list[Condition] = [
        SolutionContinuity(),
        AverageContinuity(),
        Residual(),
        ResidualContinuity(),
        ResidualGradient(),
    ]
    if family.flux is not None:
        found.append(FluxContinuity())
    return found + [DerivativeContinuity(z, order) for order in (1, 2) for z in family.coordinates]
