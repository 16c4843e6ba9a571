"""`metalic conditions`."""

import json


def test_conditions(command) -> None:
    conditions = json.loads(command("conditions", "burgers", "--json").out)
    assert [row["name"] for row in conditions] == ["u", "uavg", "r", "rc", "gr", "c", "x", "xx", "tt"]
    assert [row["bit"] for row in conditions] == list(range(9))
    said = command("conditions", "poisson").out
    assert "solution continuity" in said
    assert "512 sets" in said


def test_bad_input(refused) -> None:
    assert "Did you mean 'poisson'" in refused("conditions", "poison")
