"""`metalic reproduce`."""

import json
from pathlib import Path


def test_reproduce(command, tmp_path: Path) -> None:
    said = command("reproduce", "regret", "--scale", "small", "--out", "again", "--json")
    assert said.code == 0, said.err
    answer = json.loads(said.out)
    assert {Path(name).suffix for name in answer["files"]} >= {".pdf", ".png", ".csv"}
    assert all((tmp_path / name).stat().st_size for name in answer["files"])
    assert answer["rows"][-1][0] == "theorem's bound"


def test_bad_input(refused) -> None:
    assert "allowed are full, small" in refused("reproduce", "online", "--scale", "tiny")
