"""How long does `metalic solve` take before its first iteration on a warm machine?

    python -m benchmarks.startup --out results/startup

A new process does what the command does (start Python, import, read compiled programs from disk, sample, evaluate the
reference) and reports the time from its own start to the first iteration. The first process fills the cache of compiled
programs and does not count; the figure is the median of the others.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import PARAMETER, REPETITIONS, cell, write

TARGET = 6.0


def before_first_iteration(core: int) -> float:
    """Seconds from the start of this process to the first iteration."""
    import psutil

    import metalic.cli  # what the command imports
    from metalic import runtime

    runtime.prepare(core=core)
    import metalic as mt

    times: list[float] = []

    def note(report: Any) -> None:  # first when the phase begins, then after its iterations
        times.append(time.time() - psutil.Process().create_time() - report.seconds)

    schedule = [mt.Phase(mt.Adam(5e-3), 5)]  # the first phase of `fast`, cut short; the same program
    mt.solve("poisson", "u,c", schedule, s=PARAMETER["poisson"], progress=note)
    return times[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--once", action="store_true", help="measure this process and print the seconds")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/startup"))
    options = parser.parse_args()
    if options.once:
        print(before_first_iteration(options.core))
        return
    command = [sys.executable, "-m", "benchmarks.startup", "--once", "--core", str(options.core)]
    runs = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
        for _ in range(options.repetitions + 1)
    ]
    found = {"first": runs[0], "seconds": median(runs[1:]), "runs": runs[1:]}
    text = (
        f"`python -m benchmarks.startup`\n\nSeconds before the first iteration of `metalic solve poisson`, with "
        f"compiled programs on disk: **{cell(found['seconds'])}** (median of {options.repetitions} processes; target: "
        f"under {TARGET:.0f}).\n"
    )
    write(options.out, "Start", text, found)
    print(text)


if __name__ == "__main__":
    main()
