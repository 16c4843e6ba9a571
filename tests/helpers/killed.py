"""A study that is killed and taken up again: `python killed.py directory kills seed`, JSON on stdout.

Children are forked before JAX has started (plays are pretended and sets random, so that it never does): a life costs
milliseconds, and kills fall on every moment of it, the making of the file included. How many plays fit between the
kills is left to the machine: the study never disturbed, with which it is compared, is played to that number afterwards.
"""

import json
import os
import random
import select
import signal
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tiny
from tiny import RANDOM, SETTINGS, Tiny

from metalic.study import Ledger, PlayRow, Study, workers

BEATS = 4  # plays that a child begins at most before it is marked for death
LAST = 0.03  # seconds that it may live on then
ENDLESS = 100_000  # plays, never reached
beat, listen = os.pipe()[::-1]


def audible(task):  # type: ignore[no-untyped-def]
    """A play that is heard when it begins."""
    os.write(beat, b".")
    time.sleep(0.003)
    return tiny.pretend(task)


def live(path: Path, plays: int) -> None:
    """Play until there are this many plays."""
    with Study(path, Tiny, RANDOM, **SETTINGS) as study:
        if study.finished_count < plays:
            study.play(plays - study.finished_count)


def rows(path: Path) -> list[PlayRow]:
    if not path.exists():
        return []
    with Ledger(path) as ledger:
        return [row for row in ledger.plays() if row.status != "running"]


def main(folder: Path, wanted: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    workers.run = audible  # type: ignore[assignment]
    chance, kills, before = random.Random(seed), 0, []
    path = folder / "killed.db"
    while kills < wanted:
        child = os.fork()
        if child == 0:
            live(path, ENDLESS)
            os._exit(0)
        for _ in range(chance.randrange(BEATS + 1)):
            if select.select([listen], [], [], 5.0)[0]:
                os.read(listen, 1)
        time.sleep(chance.uniform(0, LAST))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the child ended by itself"
        kills += 1
        if select.select([listen], [], [], 0)[0]:
            os.read(listen, ENDLESS)
        now = rows(path)
        assert now[: len(before)] == before, "a finished play was lost or changed"
        before = now
    plays = len(before) + 1  # the last life ends by itself
    live(path, plays)
    live(folder / "whole.db", plays)
    finished, whole = rows(path), rows(folder / "whole.db")
    assert finished[: len(before)] == before
    same = all(a.same_outcome(b) for a, b in zip(finished, whole, strict=True))
    left = sorted(file.name for file in folder.iterdir())
    print(json.dumps({"kills": kills, "plays": len(finished), "early": len(before), "same": same, "files": left}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
