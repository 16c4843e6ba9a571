"""`metalic recommend`."""

import json
from pathlib import Path


def test_recommend(command, played: Path, family: str) -> None:
    said = command("recommend", "t.db", "--family", family, "-p", "a=1", "--json")
    assert said.code == 0, said.err
    advice = json.loads(said.out)
    assert advice["parameters"] == {"a": 1.0}
    assert len(advice["conditions"]) == 2
    said = command("recommend", "t.db", "--family", family, "-p", "a=1").out
    assert "expected, 95 % between" in said
    assert "effect in phase 2" in said
    assert "It beats the next best set with probability" in said
    assert "But: only 4 plays so far: too early to rely on, below some 30." in said


def test_bad_input(refused, ledger: Path, family: str) -> None:
    for words, message in (
        (("a.db", "--family", family, "-p", "a=nan"), "not a finite number"),
        (("a.db", "-p", "a=1"), "is of your family 'tiny'"),
        (("a.db", "--family", family, "-p", "a=1"), "no finished plays"),
        (("heat", "-p", "kappa=1"), "no ready-made ledger"),
    ):
        assert message in refused("recommend", *words)
