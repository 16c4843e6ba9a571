"""`metalic families`: the built-in families."""

from __future__ import annotations

from typing import Any

from ..options import Json
from ..printing import print_json, print_rows


def command(as_json: Json = False) -> None:
    """List the built-in families of PDEs."""
    from ...conditions import Catalogue
    from ...families import BUILT_IN

    found: list[dict[str, Any]] = []
    for name, make in BUILT_IN.items():
        family = make()
        found.append(
            {
                "family": name,
                "equation": family.title,
                "parameters": {p: list(box) for p, box in family.parameters.items()},
                "domain": {c: list(side) for c, side in family.domain.sides.items()},
                "subdomains": len(family.decomposition),
                "conditions": list(Catalogue(family).names),
                "choices": family.usual_levels(),
                "reference": family.reference is not None,
            }
        )
    if as_json:
        print_json(found)
        return
    rows = []
    for row in found:
        boxes = ", ".join(f"{p} in [{low:g}, {high:g}]" for p, (low, high) in row["parameters"].items())
        sides = " x ".join(f"{c} [{low:.3g}, {high:.3g}]" for c, (low, high) in row["domain"].items())
        choices = ", ".join(f"{name}={level:g}" for name, level in row["choices"].items())
        rows.append((row["family"], row["equation"], boxes or "-", sides, ", ".join(row["conditions"]), choices))
    print_rows(("family", "equation", "parameters", "domain", "conditions", "choices, usual level"), rows)
