"""Long and rough use, through real processes: kills of every kind, signals, thousands of plays, many readers.

Each has a short version that runs always and a long one for `make soak`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiny
from tiny import HERE, METALIC, RANDOM, SETTINGS, Tiny

from metalic.study import Ledger, PlayRow, Study
from metalic.study.replay import redecide

FAMILY = f"{HERE / 'tiny.py'}:Tiny"


def finished_plays(path: Path) -> list[PlayRow]:
    with Ledger(path) as ledger:
        return [row for row in ledger.plays() if row.status != "running"]


def start(path: Path, plays: int, workers: int, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A study in a process group of its own."""
    words = ["play", str(path), "--family", FAMILY, "--plays", str(plays), "--workers", str(workers)]
    return subprocess.Popen([*METALIC, *words], env=environment, stderr=subprocess.PIPE, text=True, process_group=0)


def descendants(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def gone(processes: list[psutil.Process], seconds: float) -> bool:
    """Whether all of these end by themselves in time."""
    return not psutil.wait_procs(processes, timeout=seconds)[1]


# --- kill -9 --------------------------------------------------------------------------------------------------------

TARGETS = {1: ("driver", "group"), 2: ("driver", "worker", "both", "group")}


def strike(process: subprocess.Popen[str], target: str, chance: random.Random) -> bool:
    """Kill a part of a study; whether that part was there. If not, its driver is killed instead."""
    workers = [child for child in descendants(process) if "resource_tracker" not in " ".join(child.cmdline())]
    if target in ("worker", "both") and not workers:  # too early
        process.kill()
        return False
    if target in ("worker", "both"):
        chance.choice(workers).kill()
    if target in ("driver", "both"):
        process.kill()
    if target == "group":
        os.killpg(process.pid, signal.SIGKILL)
    return True


def siege(folder: Path, kills: int, workers: int, seed: int, environment: dict[str, str]) -> Counter[str]:
    """Kill a study `kills` times, check its ledger each time, complete it; how often each part was hit."""
    path, chance, hits = folder / "killed.db", random.Random(seed), Counter[str]()
    Study(path, Tiny, **SETTINGS).close()
    before: list[PlayRow] = []
    while sum(hits.values()) < kills:
        process = start(path, 100_000, workers, environment)
        assert process.stderr is not None
        for _ in range(chance.randrange(3)):
            process.stderr.readline()  # a play is finished
        time.sleep(chance.uniform(0, 0.3) if chance.random() < 0.8 else chance.uniform(0, 4))
        left = descendants(process)
        target = chance.choice(TARGETS[workers])
        struck = strike(process, target, chance)
        hits[target] += struck
        if struck and target == "worker":  # the study survives it: let it show that, then end it
            assert process.stderr.readline()
            left = descendants(process)
            process.kill()
            hits["driver"] += 1
        process.wait()
        process.stderr.close()
        assert gone(left, 20), "a worker outlived its driver"
        now = finished_plays(path)
        kept = {row.number: row for row in now}
        assert all(kept[row.number] == row for row in before), "a finished play was lost or changed"
        before = now
    plays = max(row.number for row in before) + 2
    last = start(path, plays, workers, environment)
    _, output = last.communicate(timeout=600)
    assert last.returncode == 0, output
    rows = finished_plays(path)
    assert [row.number for row in rows] == list(range(1, plays + 1))
    assert {row.status for row in rows} == {"done"}
    assert sorted(file.name for file in folder.iterdir()) == ["killed.db"]
    return hits


def check_undisturbed(folder: Path, environment: dict[str, str]) -> None:
    """The table is that of a study that nobody killed."""
    rows, whole = finished_plays(folder / "killed.db"), folder / "whole.db"
    Study(whole, Tiny, **SETTINGS).close()
    undisturbed = start(whole, len(rows), 1, environment)
    _, output = undisturbed.communicate(timeout=900)
    assert undisturbed.returncode == 0, output
    assert all(a.same_outcome(b) for a, b in zip(rows, finished_plays(whole), strict=True))


def check_decisions(folder: Path) -> None:
    """Every decision follows from the plays that it is said to have seen."""
    with Study(folder / "killed.db", Tiny, read_only=True) as study:
        assert all(one.reproduced for one in redecide(study))


@pytest.mark.soak
def test_a_hundred_kills_with_one_worker(tmp_path: Path, environment: dict[str, str]) -> None:
    hits = siege(tmp_path, 100, 1, seed=1, environment=environment)
    print("kills, one worker:", dict(hits))
    check_undisturbed(tmp_path, environment)


@pytest.mark.soak
def test_a_hundred_kills_with_two_workers(tmp_path: Path, environment: dict[str, str]) -> None:
    hits = siege(tmp_path, 100, 2, seed=2, environment=environment)
    print("kills, two workers:", dict(hits))
    assert all(hits[target] >= 10 for target in TARGETS[2])
    check_decisions(tmp_path)


# --- SIGTERM and SIGINT ---------------------------------------------------------------------------------------------

SLOW = """
import sys
sys.path.insert(0, {here!r})
import tiny
import metalic as mt

SCHEDULE = mt.Schedule("slow", (mt.Phase(mt.Adam(1e-3), 5), mt.Phase(mt.Adam(1e-3), 100_000_000)))

class Slow(tiny.Tiny):
    name = "slow"
"""
CASES = [
    pytest.param(signal.SIGTERM, 1, marks=pytest.mark.soak),
    pytest.param(signal.SIGTERM, 2),
    pytest.param(signal.SIGINT, 1),
    pytest.param(signal.SIGINT, 2, marks=pytest.mark.soak),
]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "workers"), CASES, ids=lambda value: getattr(value, "name", None))
def test_a_signal_ends_it_in_time(
    number: signal.Signals, workers: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    """In the middle of plays that would take hours; what was finished before is there."""
    family, path = f"{tmp_path / 'slow.py'}:Slow", tmp_path / "a.db"
    (tmp_path / "slow.py").write_text(SLOW.format(here=str(HERE)))
    with Study(path, family, RANDOM, f"{tmp_path / 'slow.py'}:SCHEDULE", solver={"hidden": (4,)}) as study:
        for _ in range(3):
            task = study.ask()
            study.tell(task, tiny.pretend(task))
    words = ["play", str(path), "--family", family, "--plays", "9", "--workers", str(workers)]
    process = subprocess.Popen([*METALIC, *words], env=environment, stderr=subprocess.DEVNULL)
    _wait_for(lambda: _running(path) == workers, 120)
    time.sleep(0.5)
    left, before = descendants(process), finished_plays(path)
    begun = time.monotonic()
    process.send_signal(number)
    process.wait(timeout=60)
    took = time.monotonic() - begun
    print(f"{number.name}, {workers} worker(s): ended after {took:.1f} s")
    assert took < 5.5  # 5 s, and what this machine needs to report it
    assert gone(left, 20)
    assert finished_plays(path) == before
    assert len(before) == 3


def _running(path: Path) -> int:
    with Ledger(path) as ledger:
        return sum(row.status == "running" for row in ledger.plays())


def _wait_for(holds: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never began"
        time.sleep(0.1)


# --- Thousands of plays in one process ------------------------------------------------------------------------------

LONG = """
import json, os, sys, time
sys.path.insert(0, {here!r})
import psutil, tiny
from metalic import runtime
runtime.prepare(pin=False)
from metalic.study import Study
me, seen = psutil.Process(), []
with Study("long.db", tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
    for _ in range(4):
        begun = time.process_time()
        study.play({plays} // 4)
        seen.append([me.memory_info().rss / 1e6, me.num_fds(), time.process_time() - begun, me.num_threads()])
print(json.dumps(seen))
"""


def long_run(plays: int, folder: Path, environment: dict[str, str]) -> list[list[float]]:
    """Megabytes, file handles, seconds and threads after each quarter of this many real plays."""
    code = LONG.format(here=str(HERE), plays=plays)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    quarters = json.loads(done.stdout)
    assert len({handles for _, handles, _, _ in quarters[1:]}) == 1, quarters
    assert len({threads for _, _, _, threads in quarters[1:]}) == 1, quarters
    return quarters


@pytest.mark.slow
def test_eighty_plays_in_one_process(tmp_path: Path, environment: dict[str, str]) -> None:
    quarters = long_run(80, tmp_path, environment)
    assert quarters[-1][0] < 1.2 * quarters[1][0], quarters


@pytest.mark.soak
def test_two_thousand_plays_in_one_process(tmp_path: Path, environment: dict[str, str]) -> None:
    quarters = long_run(2000, tmp_path, environment)
    print("megabytes, handles, seconds, threads by quarter:", quarters)
    assert quarters[-1][0] < 1.05 * quarters[0][0], quarters  # no growth
    assert quarters[-1][2] < 1.3 * quarters[1][2], quarters  # no slow-down


# --- Many at once ---------------------------------------------------------------------------------------------------

WRITER = """
import sys, time
sys.path.insert(0, {here!r})
import tiny
from metalic.study import Study, workers
workers.run = tiny.pretend
with Study({path!r}, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS) as study:
    begun, worked = time.perf_counter(), time.process_time()
    study.play({plays})
    print((time.perf_counter() - begun) / {plays}, (time.process_time() - worked) / {plays})
"""
READER = """
import sys, time
from metalic.study import Ledger
path, plays, polls, before = {path!r}, {plays}, 0, 0
while before < plays:
    with Ledger(path) as ledger:
        found = sum(row.status != "running" for row in ledger.plays())
    assert found >= before, (found, before)
    before, polls = found, polls + 1
    time.sleep(0.5)
print(polls)
"""


def crowd(folder: Path, plays: int, readers: int) -> tuple[list[list[float]], list[int]]:
    """Two studies at once with this many readers in all: seconds and seconds of the processor that a play took in each,
    and how often each reader has read."""
    paths = [folder / "one.db", folder / "two.db"]
    for path in paths:
        Study(path, Tiny, RANDOM, **SETTINGS).close()
    codes = [WRITER.format(here=str(HERE), path=str(path), plays=plays) for path in paths]
    codes += [READER.format(path=str(paths[i % 2]), plays=plays) for i in range(readers)]
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for code in codes
    ]
    said = []
    for process in processes:
        out, err = process.communicate(timeout=900)
        assert process.returncode == 0, err
        said.append(out)
    tables = [finished_plays(path) for path in paths]
    assert [len(table) for table in tables] == [plays, plays]
    assert all(a.same_outcome(b) for a, b in zip(*tables, strict=True))  # the same seed
    return [[float(word) for word in text.split()] for text in said[:2]], [int(text) for text in said[2:]]


@pytest.mark.slow
def test_two_studies_and_ten_readers(tmp_path: Path) -> None:
    _, polls = crowd(tmp_path, 30, 10)
    assert all(count >= 1 for count in polls)


@pytest.mark.soak
def test_two_studies_and_ten_readers_for_long(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "read").mkdir()
    alone, _ = crowd(tmp_path / "alone", 1000, 0)
    read, polls = crowd(tmp_path / "read", 1000, 10)
    print("seconds per play (passed, of the processor), alone and read by ten:", alone, read, "polls:", polls)
    assert sum(polls) > 100
