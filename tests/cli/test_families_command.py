"""`metalic families`."""

import json


def test_families(command) -> None:
    families = json.loads(command("families", "--json").out)
    built_in = {"advection", "burgers", "heat", "kdv", "poisson", "poisson-unit", "reaction"}
    built_in |= {"layer", "materials", "oscillator", "turning"}
    assert [row["family"] for row in families] == sorted(built_in)
    assert "advection" in command("families").out
