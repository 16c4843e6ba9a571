"""Choices and champions on the command line: play, show, recommend, replay, solve, and bad input."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pairs
import pytest

from metalic.cli import main

Metalic = Callable[..., "subprocess.CompletedProcess[str]"]
FAMILY = f"{Path(pairs.__file__)}:Cuttable"
SCHEDULE = f"{Path(pairs.__file__)}:SCHEDULE"
PLAY = ("play", "s.db", "--family", FAMILY, "--schedule", SCHEDULE, "--plays", 2, "--bandit", "paired")


def test_play_show_recommend_replay_and_solve(metalic: Metalic, tmp_path: Path) -> None:
    played = metalic(*PLAY, "--choose", "cut=0.3,0.5,0.7", "--choose", "lambda_boundary=20,200", "--json")
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["choices"] == {"cut": [0.3, 0.5, 0.7], "lambda_boundary": [20, 200]}
    shown = metalic("show", "s.db")
    assert "chooses cut among 0.3, 0.5, 0.7" in shown.stdout
    assert "u cut=0.5 lambda_boundary=20" in shown.stdout
    advice = metalic("recommend", "s.db", "--family", FAMILY, "-p", "a=1")
    assert "It is the champion: no challenger beats it with probability 0.95" in advice.stdout.replace("\n", " ")
    answer = json.loads(metalic("recommend", "s.db", "--family", FAMILY, "-p", "a=1", "--json").stdout)
    assert answer["choices"] == {"cut": 0.5, "lambda_boundary": 20}
    assert answer["comparison"]["won"] is False
    replayed = metalic("replay", "s.db", "--family", FAMILY, "--play", 2)
    assert replayed.returncode == 0, replayed.stdout
    solve = ("solve", FAMILY, "-p", "a=1", "--schedule", SCHEDULE, "--no-check", "--json")
    by_study, by_hand, usual = metalic(*solve, "-c", "s.db"), metalic(*solve, "--choose", "cut=0.3"), metalic(*solve)
    errors = [json.loads(run.stdout)["error"] for run in (by_study, by_hand, usual)]
    assert errors[0] == errors[2] != errors[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--choose", "cut"], "a choice is NAME=LEVEL"),
        (["--choose", "cut="], "choice 'cut' has no levels"),
        (["--choose", "cut=0.5"], "choice 'cut' has only the level 0.5"),
        (["--choose", "cut=0.5,1.5"], "cut=1.5 cannot be chosen"),
        (["--choose", "knife=0.5,0.6"], "no choice 'knife'"),
        (["--choose", "cut=0.3,0.5", "--choose", "cut=0.3,0.7"], "choice 'cut' is given twice"),
        (["--choose", "lambda_boundary=" + ",".join(map(str, range(20000)))], "there are 160000 arms"),
        (["--choose", "cut=0.3,0.7"], "the champion is not an arm"),
        (["--champion", "u,v"], "no condition 'v'"),
        (["--probability", "2"], "probability is a number from 0.5"),
        (["--plays", "3"], "make an odd number"),
    ],
)
def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, arguments: list[str], message: str) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["metalic", *map(str, PLAY), *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert message.endswith("odd number") or not list(tmp_path.glob("*.db"))
