"""`metalic families`."""

import json


def test_families(command) -> None:
    families = json.loads(command("families", "--json").out)
    assert [row["family"] for row in families][:4] == ["poisson", "advection", "reaction", "burgers"]
    assert {row["family"] for row in families} >= {"heat", "kdv", "poisson-unit"}
    assert "advection" in command("families").out
