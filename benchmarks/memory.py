"""Memory of a play and of a study, and how much of a study's time is spent outside the optimizer.

    python -m benchmarks.memory --out results/memory

One process plays Poisson with `fast` and reports its peak resident size. Another plays a study of short plays (Poisson,
all 512 sets, real points, a few iterations of each optimizer, so that 200 of them take minutes): its resident size
between play 20 and the last must not grow. What such a play takes besides its optimizer (compilation, sampling, the
reference, decisions, the ledger) it would take with any schedule. So the share outside the optimizer is that time,
wall time less the ledger's seconds of training, over itself and the optimizer's seconds of a play of `fast`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import PARAMETER, cell, write
from metalic import runtime

FIRST = 20  # the play from which on nothing should grow


def peak() -> float:
    """The most resident memory that this process has had, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1e6 if sys.platform == "darwin" else 1e3)


def one_play(schedule: str) -> dict[str, Any]:
    """A play in this process: its peak memory and the optimizer's seconds."""
    import metalic as mt

    solution = mt.solve("poisson", "u,c", schedule, s=PARAMETER["poisson"])
    return {"peak_mb": peak(), "optimizer_seconds": solution.seconds, "error": solution.error}


def study(plays: int) -> dict[str, Any]:
    """A study of short plays: resident memory after every play, and seconds outside the optimizer."""
    import psutil

    import metalic as mt

    process, sizes = psutil.Process(), []
    short = mt.Schedule("short", (mt.Phase(mt.Adam(5e-3), 5), mt.Phase(mt.GaussNewton(), 1)), interface_line=101)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        with mt.Study(Path(folder) / "study.db", "poisson", mt.Sequential(), short, seed=0) as one:
            one.play(plays, progress=lambda _: sizes.append(process.memory_info().rss / 1e6))
            wall = time.perf_counter() - begun
            training = sum(phase.seconds or 0.0 for play in one.plays for phase in play.phases)
    first = sizes[min(FIRST, plays) - 1]
    return {
        "plays": plays,
        "peak_mb": peak(),
        "mb_at_first": first,
        "mb_at_last": sizes[-1],
        "growth": sizes[-1] / first - 1,
        "wall_seconds": wall,
        "training_seconds": training,
        "outside_seconds": wall - training,
    }


def in_a_process_of_its_own(*words: str) -> dict[str, Any]:
    """What this module says when called with these words; memory of one thing is not that of another."""
    command = [sys.executable, "-m", "benchmarks.memory", *words]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(said.splitlines()[-1])


def table(found: dict[str, Any]) -> str:
    play, of_study = found["play"], found["study"]
    return (
        f"`python -m benchmarks.memory --plays {of_study['plays']}`\n\n"
        f"Peak resident size of one play (Poisson, `{found['schedule']}`): **{cell(play['peak_mb'])} MB**; of a study "
        f"of {of_study['plays']} short plays: {cell(of_study['peak_mb'])} MB. Resident size after play "
        f"{min(FIRST, of_study['plays'])}: {cell(of_study['mb_at_first'])} MB, after play {of_study['plays']}: "
        f"{cell(of_study['mb_at_last'])} MB: **{100 * of_study['growth']:+.1f} %** (target: under 5 %).\n\n"
        f"Outside the optimizer a play takes {cell(of_study['outside_seconds'] / of_study['plays'])} s (mean over the "
        f"study, compilation included), in the optimizer of `{found['schedule']}` {cell(play['optimizer_seconds'])} s: "
        f"a share of **{100 * found['share_outside']:.1f} %** (target: under 5 %), and "
        f"{cell(found['plays_an_hour'])} plays per hour with one worker.\n"
    )


def measure(plays: int, schedule: str, core: int) -> dict[str, Any]:
    common = ("--core", str(core), "--schedule", schedule, "--plays", str(plays))
    play = in_a_process_of_its_own("--only", "play", *common)
    of_study = in_a_process_of_its_own("--only", "study", *common)
    outside = of_study["outside_seconds"] / plays
    whole = outside + play["optimizer_seconds"]
    return {
        "schedule": schedule,
        "play": play,
        "study": of_study,
        "share_outside": outside / whole,
        "plays_an_hour": 3600 / whole,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=200)
    parser.add_argument("--schedule", default="fast")
    parser.add_argument("--only", choices=("play", "study"), help="measure one of them here and print it as JSON")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/memory"))
    options = parser.parse_args()
    if options.only:
        runtime.prepare(core=options.core)
        print(json.dumps(one_play(options.schedule) if options.only == "play" else study(options.plays)))
        return
    found = measure(options.plays, options.schedule, options.core)
    write(options.out, "Memory, and time outside the optimizer", table(found), found)
    print(table(found))


if __name__ == "__main__":
    main()
