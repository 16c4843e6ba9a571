"""Studies on the command line, through real processes."""

import json
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import HERE, METALIC, RANDOM, SETTINGS, Tiny

from metalic.study import Ledger, Study
from metalic.study.driver import _first_interrupt

Command = Callable[..., "subprocess.CompletedProcess[str]"]
FAMILY, SCHEDULE = (f"{HERE / 'tiny.py'}:{name}" for name in ("Tiny", "SCHEDULE"))


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A study that knows its settings and has not played."""
    Study(tmp_path / "a.db", FAMILY, RANDOM, **SETTINGS).close()
    return tmp_path / "a.db"


def test_play_show_recommend_export_solve(metalic: Command, tmp_path: Path) -> None:
    options = (
        "--family",
        FAMILY,
        "--bandit",
        "single",
        "--policy",
        "ts",
        "--schedule",
        SCHEDULE,
        "--seed",
        2,
        "--first",
        "x",
    )
    played = metalic("play", "t.db", *options, "--plays", 3, "--json")
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["plays"] == 3
    assert "play 3/3" in played.stderr
    more = metalic("play", "t.db", "--family", FAMILY, "--plays", 4, "--json")
    assert json.loads(more.stdout)["plays"] == 4
    again = metalic("play", "t.db", "--family", FAMILY, "--plays", 4)
    assert (again.returncode, "has 4 plays already" in again.stderr) == (0, True)
    shown = metalic("show", "t.db", "--json")
    assert json.loads(shown.stdout)["bandit"]["policy"]["name"] == "thompson"
    assert json.loads(shown.stdout)["bandit"]["first"] == [4]
    assert "best plays" in metalic("show", "t.db").stdout
    assert metalic("export", "t.db", "out.csv").returncode == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 5
    with Ledger(tmp_path / "t.db") as reader:
        assert [phase.conditions for phase in reader.plays()[0].phases] == [("x",), ("x",)]
    advice = metalic("recommend", "t.db", "--family", FAMILY, "-p", "a=1", "--json")
    assert advice.returncode == 0, advice.stderr
    best = json.loads(advice.stdout)["conditions"][0]
    assert "expected, 95 % between" in metalic("recommend", "t.db", "--family", FAMILY, "-p", "a=1").stdout
    solved = metalic("solve", FAMILY, "-p", "a=1", "-c", "t.db", "--schedule", SCHEDULE, "--json", "--quiet")
    assert solved.returncode == 0, solved.stderr
    assert [phase["conditions"] for phase in json.loads(solved.stdout)["phases"]] == [best, best]


def test_bad_input_is_one_line_and_exit_code_2(metalic: Command, ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database")
    with Ledger(ledger) as reader:
        before = reader.settings()
    for arguments, message in (
        (("play", "text.db", "--plays", 1), "not an SQLite file"),
        (("play", "a.db", "--plays", 0), "--plays is a number of at least 1"),
        (("play", "a.db", "--plays", -3), "--plays is a number of at least 1"),
        (("play", "a.db", "--workers", "many"), "--workers is a number"),
        (("play", "a.db", "--family", FAMILY, "--seed", 8, "--plays", 1), "seed was 3 and is now 8"),
        (("play", "a.db", "--family", "poisson", "--plays", 1), "family.name was tiny and is now poisson"),
        (("play", "new.db", "--plays", 1), "say which family"),
        (("play", "new.db", "--family", "tiny", "--plays", 1), "no family 'tiny'"),
        (("play", "new.db", "--family", FAMILY, "--first", "u,y", "--plays", 1), "no condition 'y'"),
        (("recommend", "a.db", "--family", FAMILY, "-p", "a=nan"), "not a finite number"),
        (("recommend", "a.db", "-p", "a=1"), "is of your family 'tiny'"),
        (("play", "a.db", "--plays", 1), "Give it: --family FILE.py:CLASS"),
        (("recommend", "a.db", "--family", FAMILY, "-p", "a=1"), "no finished plays"),
        (("recommend", "heat", "-p", "kappa=1"), "no ready-made ledger"),
        (("show", "none.db"), "there is no ledger"),
        (("export", "a.db", "out.xls"), ".csv, .json, .parquet"),
    ):
        done = metalic(*arguments)
        assert done.returncode == 2, (arguments, done)
        assert message in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    with Ledger(ledger) as reader:
        assert (reader.settings(), reader.plays()) == (before, [])


def test_ctrl_c_writes_what_is_in_flight(ledger: Path, environment: dict[str, str]) -> None:
    command = [*METALIC, "play", str(ledger), "--family", FAMILY, "--plays", "5000"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Ctrl-C again stops at once" in told
    assert "stopped after" in told
    assert "Traceback" not in told
    with Ledger(ledger) as reader:
        plays = reader.plays()
    assert {play.status for play in plays} == {"done"}
    assert f"stopped after {len(plays)} plays" in told


def test_ctrl_c_in_the_middle_of_a_write_does_not_enter_it_again() -> None:
    stream, told = threading.Lock(), []  # as a stream's own lock, which a handler would wait for in vain

    def tell() -> None:
        told.append(stream.acquire(timeout=10))
        stream.release()

    with _first_interrupt(tell) as stop, stream:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    assert told == [True]


def test_a_second_process_is_refused(ledger: Path, metalic: Command) -> None:
    with Study(ledger, Tiny):
        refused = metalic("play", "a.db", "--family", FAMILY, "--plays", 1)
        assert refused.returncode == 2
        assert "is being written by process" in refused.stderr
        assert metalic("show", "a.db").returncode == 0
