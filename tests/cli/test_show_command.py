"""`metalic show`."""

import json
from pathlib import Path

import pytest


def test_show(command, played: Path) -> None:
    shown = json.loads(command("show", "t.db", "--json").out)
    assert (shown["plays"], shown["done"], shown["failed"]) == (4, 4, 0)
    assert shown["bandit"]["policy"]["name"] == "random"
    said = command("show", "t.db").out
    assert "best plays" in said
    assert f"best error {shown['best_error']:.2e} in play {shown['best_play']['number']}" in said


def test_bad_input(refused) -> None:
    assert "there is no ledger" in refused("show", "none.db")


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_study_without_plays(command, ledger: Path, words: tuple[str, ...]) -> None:
    said = command("show", "a.db", *words)
    assert (said.code, said.err) == (0, "")
