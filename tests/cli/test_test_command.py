"""`metalic test`, and what other commands make of its file."""

import json
from pathlib import Path

import decay

FAMILY = f"{Path(decay.__file__)}:Decay"


def test_test_and_report(command, tmp_path: Path) -> None:
    decay.play(tmp_path / "a.db", 12, family=FAMILY)
    words = ("test", "a.db", "--family", FAMILY, "--methods", "all,fixed", "--oracle", 1)
    said = command(*words, "--pdes", 1, "--json")
    assert said.code == 0, said.err
    assert "PDE 1  all conditions  u,uavg,x  error" in said.err
    answer = json.loads(said.out)
    assert answer["out"] == "a-test.db"
    assert [row["method"] for row in answer["methods"]] == ["learned", "all", "fixed", "oracle"]
    said = command(*words, "--pdes", 2, "--quiet")
    assert (said.code, said.err) == (0, "")
    assert "relative L2 error on unseen PDEs" in said.out
    assert "best fixed set" in said.out
    said = command("show", "a-test.db", "--json")
    assert json.loads(said.out)["plays"] == 8
    assert command("export", "a-test.db", "t.csv").code == 0
    said = command("report", "a.db", "a-test.db", "--family", FAMILY, "--out", "r.html")
    assert (said.code, said.out) == (0, "report written to r.html\n")
    assert "On unseen PDEs" in (tmp_path / "r.html").read_text()


def test_bad_input(refused, tmp_path: Path) -> None:
    decay.play(tmp_path / "a.db", 0, family=FAMILY)
    for words, message in (
        (("none.db",), "there is no ledger"),
        (("a.db",), "of your family 'decay'"),
        (("a.db", "--family", FAMILY), "no finished plays"),
        (("a.db", "--family", FAMILY, "--out", "no/t.db"), "no directory 'no'"),
        (("a.db", "--family", FAMILY, "--workers", "many"), "--workers is a number"),
    ):
        assert message in refused("test", *words)
