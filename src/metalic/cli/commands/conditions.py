"""`metalic conditions`: the interface conditions of a family."""

from __future__ import annotations

import typer

from ..options import FamilyName, Json
from ..printing import print_json, print_rows


def command(family: FamilyName, as_json: Json = False) -> None:
    """List the interface conditions of a family, in the order of their bits."""
    from ...conditions import Catalogue
    from ...families import find_family

    found = [
        {"bit": i, "name": condition.name, "description": condition.description, "formula": condition.formula}
        for i, condition in enumerate(Catalogue(find_family(family)).conditions)
    ]
    if as_json:
        print_json(found)
        return
    columns = ("bit", "name", "condition", "at one point (' is the other side)")
    print_rows(columns, [[str(value) for value in row.values()] for row in found])
    typer.echo(f"{2 ** len(found)} sets; the index of a set is the sum of 2^bit over its conditions.")
