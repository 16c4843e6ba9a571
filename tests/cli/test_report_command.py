"""`metalic report`; test_test_command.py writes a page with an offline test."""

import json
from pathlib import Path

import decay

FAMILY = f"{Path(decay.__file__)}:Decay"


def test_report(command, tmp_path: Path) -> None:
    decay.play(tmp_path / "a.db", 6, family=FAMILY)
    said = command("report", "a.db", "--family", FAMILY, "--out", "r.html", "--json")
    assert (said.code, json.loads(said.out)) == (0, {"out": "r.html"})
    assert "data:image/svg" in (tmp_path / "r.html").read_text()


def test_bad_input(refused, tmp_path: Path) -> None:
    decay.play(tmp_path / "a.db", 0, family=FAMILY)
    assert "there is no ledger" in refused("report", "none.db")
    assert "no directory 'no'" in refused("report", "a.db", "--family", FAMILY, "--out", "no/r.html")
