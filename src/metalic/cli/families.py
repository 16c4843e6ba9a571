"""`metalic families` and `metalic conditions`."""

from __future__ import annotations

import json
from typing import Any

import typer

from .options import FamilyName, Json


def list_families(as_json: Json = False) -> None:
    """List the built-in families of PDEs."""
    from ..conditions import Catalogue
    from ..families import BUILT_IN

    rows: list[dict[str, Any]] = []
    for name, make in BUILT_IN.items():
        family = make()
        rows.append(
            {
                "family": name,
                "equation": family.title,
                "parameters": {p: list(box) for p, box in family.parameters.items()},
                "domain": {c: list(side) for c, side in family.domain.sides.items()},
                "subdomains": len(family.decomposition),
                "conditions": list(Catalogue(family).names),
                "reference": family.reference is not None,
            }
        )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("family", "equation", "parameters", "domain", "conditions")
    for row in rows:
        boxes = ", ".join(f"{p} in [{low:g}, {high:g}]" for p, (low, high) in row["parameters"].items())
        sides = " x ".join(f"{c} [{low:.3g}, {high:.3g}]" for c, (low, high) in row["domain"].items())
        table.add_row(row["family"], row["equation"], boxes or "-", sides, ", ".join(row["conditions"]))
    Console().print(table)


def list_conditions(family: FamilyName, as_json: Json = False) -> None:
    """List the interface conditions of a family, in the order of their bits."""
    from ..conditions import Catalogue
    from ..families import find_family

    catalogue = Catalogue(find_family(family))
    rows: list[dict[str, Any]] = [
        {"bit": i, "name": condition.name, "description": condition.description, "formula": condition.formula}
        for i, condition in enumerate(catalogue.conditions)
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("bit", "name", "condition", "at one point (' is the other side)")
    for row in rows:
        table.add_row(str(row["bit"]), row["name"], row["description"], row["formula"])
    console = Console()
    console.print(table)
    console.print(f"{2 ** len(rows)} sets; the index of a set is the sum of 2^bit over its conditions.")
