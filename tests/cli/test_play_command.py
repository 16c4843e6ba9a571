"""`metalic play`, through real processes where it plays."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import METALIC, Tiny

from metalic.study import Ledger, Study

Metalic = Callable[..., "subprocess.CompletedProcess[str]"]


def test_play_and_continue(metalic: Metalic, tmp_path: Path, family: str) -> None:
    options = (
        "--bandit",
        "single",
        "--policy",
        "ts",
        "--schedule",
        family.replace("Tiny", "SCHEDULE"),
        "--seed",
        2,
        "--first",
        "x",
    )
    played = metalic("play", "t.db", "--family", family, *options, "--plays", 3, "--json")
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["plays"] == 3
    assert "play 3/3" in played.stderr
    more = metalic("play", "t.db", "--family", family, "--plays", 4, "--json")
    summary = json.loads(more.stdout)
    assert summary["plays"] == 4
    assert summary["bandit"]["policy"]["name"] == "thompson"
    assert summary["bandit"]["first"] == [4]
    again = metalic("play", "t.db", "--family", family, "--plays", 4)
    assert (again.returncode, "has 4 plays already" in again.stderr) == (0, True)
    with Ledger(tmp_path / "t.db") as reader:
        assert [phase.conditions for phase in reader.plays()[0].phases] == [("x",), ("x",)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("text.db", "--plays", 1), "not an SQLite file"),
        (("a.db", "--plays", 0), "--plays is a number of at least 1"),
        (("a.db", "--plays", -3), "--plays is a number of at least 1"),
        (("a.db", "--workers", "many"), "--workers is a number"),
        (("a.db", "--family", "TINY", "--seed", 8, "--plays", 1), "seed was 3 and is now 8"),
        (("a.db", "--family", "poisson", "--plays", 1), "family.name was tiny and is now poisson"),
        (("a.db", "--plays", 1), "Give it: --family FILE.py:CLASS"),
        (("a.db", "--bandit", "double"), "--bandit is one of paired, seq, single"),
        (("new.db", "--plays", 1), "say which family"),
        (("new.db", "--family", "tiny", "--plays", 1), "no family 'tiny'"),
        (("new.db", "--family", "TINY", "--first", "u,y", "--plays", 1), "no condition 'y'"),
    ],
)
def test_bad_input(
    words: tuple[object, ...], message: str, refused: Callable[..., str], ledger: Path, family: str, tmp_path: Path
) -> None:
    (tmp_path / "text.db").write_text("not a database")
    with Ledger(ledger) as reader:
        before = reader.settings()
    assert message in refused("play", *(family if word == "TINY" else word for word in words))
    assert not (tmp_path / "new.db").exists()
    with Ledger(ledger) as reader:
        assert (reader.settings(), reader.plays()) == (before, [])


def test_ctrl_c_writes_what_is_in_flight(ledger: Path, family: str, environment: dict[str, str]) -> None:
    command = [*METALIC, "play", str(ledger), "--family", family, "--plays", "5000"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Ctrl-C again stops at once" in printed
    assert "stopped after" in printed
    assert "Traceback" not in printed
    with Ledger(ledger) as reader:
        plays = reader.plays()
    assert {play.status for play in plays} == {"done"}
    assert f"stopped after {len(plays)} plays" in printed


def test_a_second_process_is_refused(ledger: Path, metalic: Metalic, family: str) -> None:
    with Study(ledger, Tiny):
        refused = metalic("play", "a.db", "--family", family, "--plays", 1)
        assert refused.returncode == 2
        assert "is being written by process" in refused.stderr
        assert metalic("show", "a.db").returncode == 0
