"""Command lines drawn at random: each works, or exits with 2 and one line that names what is wrong.

Nothing is trained: commands that would train either get something that they must refuse, or are asked for help.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metalic.study import Ledger

ODD = [
    "",
    " ",
    "-1",
    "0",
    "nan",
    "inf",
    "1e999",
    "x",
    "é",
    "🙂",
    "a=b",
    "=",
    "--",
    "-",
    "/",
    ".",
    "None",
    "9" * 400,
    "\n",
]
GOOD = {
    "family": ["poisson", "advection", "burgers", "kdv"],
    "ledger": ["a.db", "old.db"],
    "parameter": ["s=5", "a=1", "s=51", "beta=20"],
    "file": ["out.csv", "out.json", "out.xyz", "nowhere/out.csv"],
}
BAD = {
    "family": ["poison", "no.py:A", "os:path", "a.db", "poisson:Poisson"],
    "ledger": ["none.db", "text.db", ".", "empty.db", "cut.db", "nowhere/x.db"],
    "parameter": ["s", "=5", "s=", "s=five", "q=1", "s=1=2"],
    "file": [".", "nowhere/out.csv", "out"],
}


def _value(chance: random.Random, kind: str, bad: float) -> str:
    roll = chance.random()
    if roll < bad / 2:
        return chance.choice(ODD)
    if roll < bad:
        return chance.choice(BAD[kind])
    return chance.choice(GOOD[kind])


# What a command takes: its positional words, its options and what they are given. Options of "must": one of these
# values, none of which is allowed, is always given, so that no training begins.
COMMANDS: dict[str, dict[str, Any]] = {
    "families": {"words": [], "options": {"--json": None}},
    "conditions": {"words": ["family"], "options": {"--json": None}},
    "show": {"words": ["ledger"], "options": {"--json": None}},
    "export": {"words": ["ledger", "file"], "options": {"--json": None}},
    "recommend": {
        "words": ["ledger"],
        "options": {
            "-p": "parameter",
            "--parameter": "parameter",
            "--top": ["1", "0", "-3", "x"],
            "--extrapolate": None,
        },
        "must": {"--family": ["poison", "", "a.db", "no.py:A"], "--top": ["0", "x", "1.5"], "-p": ["s", "="]},
    },
    "replay": {
        "words": ["ledger"],
        "options": {"--play": ["0", "-1", "x", "7", "1.5"], "--decisions": None, "--json": None},
        "must": {"--family": ["poison", "no.py:A"], "--play": ["0", "-5", "many"]},
    },
    "play": {
        "words": ["ledger"],
        "options": {"--policy": ["ucb", "x"], "--bandit": ["seq", "x"], "--seed": ["0", "-1"], "--quiet": None},
        "must": {
            "--plays": ["0", "-3", "x", ""],
            "--workers": ["0", "x", "-1", "1.5", ""],
            "--family": ["poison", "no.py:A", ":"],
            "--reward": ["luck", "error:3", "error+time:0", "error+time:x"],
            "--schedule": ["slow", ""],
            "--bandit": ["x", "Single"],
            "--policy": ["x", ""],
            "--kernel": ["x", ""],
            "--seed": ["-1", "x", "1.5"],
            "--start-from": ["none.db", "text.db", "poisson"],
        },
    },
    "solve": {
        "words": ["family"],
        "options": {"-p": "parameter", "--quiet": None, "--no-pin": None, "--json": None, "-c": ["u", "3"]},
        "must": {
            "-c": ["flux", "u,,q", "99999", "-1", "u;c;x", "none.db", "text.db"],
            "--schedule": ["slow", "", "FAST"],
            "--precision": ["float16", "", "1"],
            "--sampling": ["dice", " "],
            "--scaling": ["log", " "],
            "--seed": ["-1", "x", "1.5"],
            "--out": ["nowhere/a.npz", "."],
            "--plot": ["a.xyz", "a", "nowhere/a.png"],
            "-p": ["s", "q=1", "s=nan", "s=1e9"],
        },
    },
}


def line(chance: random.Random) -> list[str]:
    """A command line that trains nothing."""
    name = chance.choice([*COMMANDS, "frobnicate", "--frob", "Solve"])
    if name not in COMMANDS:
        return [name, chance.choice(ODD)]
    about = COMMANDS[name]
    words = [name]
    for kind in about["words"]:
        if chance.random() < 0.95:
            words.append(_value(chance, kind, 0.4))
    for option in chance.sample(list(about["options"]), chance.randint(0, len(about["options"]))):
        values = about["options"][option]
        words.append(option)
        if values is not None:
            words.append(chance.choice(values) if isinstance(values, list) else _value(chance, values, 0.5))
    if "must" in about:
        option = chance.choice(list(about["must"]))
        words += [option, chance.choice(about["must"][option])]
    if chance.random() < 0.1:
        words += [chance.choice(["--frob", "-z", "extra", "--help", "--json=3"])]
    return words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = {"family": {"name": "poisson"}, "seed": 1, "spec": "poisson"}
    Ledger.writer(tmp_path / "a.db", settings).close()
    old = Path(__file__).parent / "study" / "assets" / "ledger-v1.db"
    (tmp_path / "old.db").write_bytes(old.read_bytes())
    (tmp_path / "cut.db").write_bytes(old.read_bytes()[:5000])
    (tmp_path / "text.db").write_text("not a database")
    (tmp_path / "empty.db").touch()
    return tmp_path


def check(lines: list[list[str]], folder: Path, command: Callable[..., Any]) -> int:
    before = sorted(folder.iterdir())
    ledgers = {path: path.read_bytes() for path in before}
    refused = 0
    for words in lines:
        said = command(*words)
        assert said.code in (0, 2), (words, said)
        assert "Traceback" not in said.err, (words, said)
        if said.code == 2:
            refused += 1
            assert said.out == "", (words, said)
            assert said.err.startswith("error: "), (words, said)
            assert len(said.err.strip().splitlines()) == 1, (words, said)
            assert len(said.err) > 15, (words, said)
        for path in folder.glob("out*"):
            path.unlink()
        assert sorted(folder.iterdir()) == before, words
    assert {path: path.read_bytes() for path in before} == ledgers
    return refused


def test_five_hundred_command_lines(folder: Path, command: Callable[..., Any]) -> None:
    chance = random.Random(0)
    lines = [line(chance) for _ in range(500)]
    assert check(lines, folder, command) > 250


@pytest.mark.soak
def test_ten_thousand_command_lines(folder: Path, command: Callable[..., Any]) -> None:
    chance = random.Random(1)
    lines = [line(chance) for _ in range(10_000)]
    assert check(lines, folder, command) > 5000
