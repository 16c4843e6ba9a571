"""`metalic export`."""

import json
from pathlib import Path


def test_export(command, played: Path, tmp_path: Path) -> None:
    assert command("export", "t.db", "out.csv").out == "4 plays written to out.csv\n"
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 5
    said = command("export", "t.db", "out.json", "--json")
    assert json.loads(said.out) == {"out": "out.json", "plays": 4}
    assert [row["number"] for row in json.loads((tmp_path / "out.json").read_text())] == [1, 2, 3, 4]


def test_bad_input(refused, ledger: Path) -> None:
    assert ".csv, .json, .parquet" in refused("export", "a.db", "out.xls")
    assert "no directory 'nowhere'" in refused("export", "a.db", "nowhere/out.csv")
