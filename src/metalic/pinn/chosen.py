"""Choices applied: the family and the options of a play, for a level of each choice.

A choice is an argument of `Family.decompose`, or an option of the solver: the weights `lambda_boundary` and
`lambda_interface`, and `hidden`, whose levels are written as '20x20'. The level 'undivided' of an argument of
`decompose` is one network on the whole domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ..choices import Choice
from ..errors import ChoiceError, MetalicError
from ..families.base import Family
from ..geometry import Decomposition
from ..registry import suggestion
from ..sets import Level
from .options import SolverOptions
from .schedule import Schedule

OPTIONS = ("lambda_boundary", "lambda_interface", "hidden")
UNDIVIDED = "undivided"


def usual_levels(family: Family, options: SolverOptions, schedule: Schedule) -> dict[str, Any]:
    """All that may be chosen for a family, with the usual level."""
    usual = {name: getattr(options.settled(family, schedule), name) for name in OPTIONS}
    return {**family.usual_levels(), **usual, "hidden": "x".join(map(str, usual["hidden"]))}


def chosen(
    family: Family, options: SolverOptions, schedule: Schedule, levels: Mapping[str, Level]
) -> tuple[Family, SolverOptions]:
    """The family and the options for a level of each choice; both as they are without levels.

    Args:
        family: What is solved.
        options: Options of the solve.
        schedule: The schedule, which knows the number of points.
        levels: The levels by name.

    Raises:
        ChoiceError: There is no such choice, or a level gives no valid decomposition, network or weight.
    """
    cuts = {name: level for name, level in levels.items() if name not in OPTIONS}
    weights = {name: _option(name, level) for name, level in levels.items() if name in OPTIONS}
    _check_names(cuts, family)
    try:
        options = replace(options, **weights)
        if UNDIVIDED in cuts.values():
            points = options.resolve(family, schedule).points.together(family.decomposition.names)
            return family.undivided(), replace(options, points=points)
        return (family.decomposed(**cuts) if cuts else family), options
    except Exception as error:  # of a user's `decompose`, whatever it is
        if isinstance(error, MetalicError | TypeError | ValueError | ArithmeticError):
            wanted = ", ".join(f"{name}={level}" for name, level in levels.items())
            raise ChoiceError(f"{wanted} cannot be chosen for family '{family.name}': {error}") from error
        raise


def check_choices(family: Family, options: SolverOptions, schedule: Schedule, choices: Sequence[Choice]) -> None:
    """Every level of every choice gives a valid play; places of a cut, which are not whole numbers, have one topology,
    so that all of them share their compiled programs.

    Raises:
        ChoiceError: A choice is unknown, or a level is not allowed.
    """
    _check_names([choice.name for choice in choices if choice.name not in OPTIONS], family)
    for choice in choices:
        if choice.name in OPTIONS:
            for level in choice.levels:
                chosen(family, options, schedule, {choice.name: level})
    cuts, usual = [choice for choice in choices if choice.name not in OPTIONS], family.usual_levels()
    for levels in product(*(choice.levels for choice in cuts)):
        found = {choice.name: level for choice, level in zip(cuts, levels)}
        made = chosen(family, options, schedule, found)[0].decomposition
        places = {name: usual[name] for name, level in found.items() if isinstance(level, float)}
        if not places or UNDIVIDED in levels:
            continue
        if topology(made) != topology(chosen(family, options, schedule, found | places)[0].decomposition):
            wanted = ", ".join(f"{name}={found[name]:g}" for name in places)
            raise ChoiceError(
                f"{wanted} divides family '{family.name}' into other subdomains or interfaces than usual "
                f"({', '.join(f'{name}={level:g}' for name, level in places.items())}): take a place that keeps "
                "them, or a choice of its own, whose levels are whole numbers"
            )


def topology(decomposition: Decomposition) -> tuple[Any, ...]:
    """What a compiled program depends on: subdomains, who neighbours whom, and which faces each has."""
    faces = tuple(frozenset(patch.name for patch in patches) for patches in decomposition.boundaries)
    return decomposition.names, tuple((pair.a, pair.b) for pair in decomposition.interfaces), faces


def _check_names(names: Any, family: Family) -> None:
    known = (*family.usual_levels(), *OPTIONS)
    for name in names:
        if name not in known:
            raise ChoiceError(
                f"family '{family.name}' has no choice '{name}': allowed are {', '.join(known)}."
                f"{suggestion(name, known)}"
            )


def _option(name: str, level: Level) -> Any:
    """The value of an option: widths are written as '20x20'."""
    if name != "hidden":
        return level
    try:
        return tuple(int(width) for width in str(level).split("x"))
    except ValueError:
        raise ChoiceError(f"a level of choice 'hidden' is the widths of layers, as in 20x20, not {level!r}") from None
