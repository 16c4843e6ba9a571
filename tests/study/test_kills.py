"""kill -9 at random moments: nothing finished is lost, and the final table is that of a study never disturbed."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny import HERE, METALIC, SETTINGS, Tiny

from metalic.study import Ledger, Study


def test_many_kills(tmp_path: Path, environment: dict[str, str]) -> None:
    """50 of them, over a study of pretended plays."""
    command = [sys.executable, str(HERE / "killed.py"), str(tmp_path), "50", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["same"]
    assert result["kills"] == 50
    assert result["plays"] > 50
    assert result["files"] == ["killed.db", "whole.db"]


@pytest.mark.slow
def test_kills_of_real_plays(tmp_path: Path, environment: dict[str, str]) -> None:
    """Through the command, with decisions by the reward model: killed at random moments until it is done."""
    path, chance = tmp_path / "killed.db", random.Random(0)
    for name in ("killed.db", "whole.db"):
        Study(tmp_path / name, Tiny, **SETTINGS).close()
    family = f"{HERE / 'tiny.py'}:Tiny"
    plays, kills, before = 9, 0, []
    command = [*METALIC, "play", str(path), "--family", family, "--plays", str(plays)]
    for _ in range(3):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        process.stderr.readline()  # one more play is finished
        time.sleep(chance.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        kills += process.returncode == -signal.SIGKILL
        with Ledger(path) as ledger:
            now = [row for row in ledger.plays() if row.status != "running"]
        assert now[: len(before)] == before
        before = now
    for name in ("killed.db", "whole.db"):
        command = [*METALIC, "play", str(tmp_path / name), "--family", family, "--plays", "9"]
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
    tables = []
    for name in ("killed.db", "whole.db"):
        with Ledger(tmp_path / name) as ledger:
            tables.append(ledger.plays())
    assert kills >= 2
    assert len(tables[0]) == plays
    assert all(a.same_outcome(b) for a, b in zip(*tables, strict=True))
