"""The whole benchmark in one command and under 20 minutes: every part in a process of its own, one table at the end.

    python -m benchmarks.bench --out results/bench

A part that takes longer than its share is ended; what it has written by then counts, and the table says so. On a new
machine compilation uses up much of the time; it is kept, so that a second run has more. `--parts memory workers`
measures these again and leaves the others as they are in the file: every figure is a ratio within its part. Parts run
alone too, with more families, sizes and repetitions: `python -m benchmarks.steps --help`. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.targets import judged
from benchmarks.timing import cell, markdown


@dataclass(frozen=True)
class Part:
    """A module of this package, how it is called, and the seconds it may take."""

    name: str
    title: str
    words: tuple[str, ...]
    seconds: int


PARTS = (
    Part("steps", "Step times", ("--compiled", "poisson"), 450),
    Part("limit", "The arithmetic limit", (), 50),
    Part("time_to_accuracy", "Time to the paper's accuracy", ("--most", "35"), 240),
    Part("growth", "Growth", ("--seconds", "100"), 150),
    Part("memory", "Memory, and time outside the optimizer", (), 170),
    Part("workers", "Two workers against one", ("--plays", "5", "--repetitions", "1"), 90),
    Part("startup", "Start", (), 35),
)
COMPLETE = "is complete"
assert sum(part.seconds for part in PARTS) < 20 * 60


def run(part: Part, folder: Path) -> dict[str, Any]:
    """What a part found, and how it ended."""
    out = folder / part.name
    begun = time.perf_counter()
    ended = finish([sys.executable, "-m", f"benchmarks.{part.name}", *part.words, "--out", str(out)], part.seconds)
    there = out.with_suffix(".json").exists()
    return {
        "found": json.loads(out.with_suffix(".json").read_text()) if there else None,
        "text": out.with_suffix(".md").read_text().split("\n", 2)[2] if there else "",
        "ended": ended,
        "seconds": time.perf_counter() - begun,
        "date": date.today().isoformat(),
    }


def finish(command: list[str], seconds: float) -> str:
    """Run a command for at most this many seconds, then end it with all processes that it has started."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"was ended after {seconds:g} s and is not complete"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return COMPLETE if code == 0 else f"failed with exit code {code}"


def found_by(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: one["found"] for name, one in results.items()}


def table(results: dict[str, dict[str, Any]]) -> str:
    marks = {None: "not measured", True: "yes", False: "no"}
    lines = []
    for row in judged(found_by(results)):
        value = None if row["value"] is None else cell(float(row["value"])) + row["unit"]
        partial = value is not None and results[row["part"]]["ended"] != COMPLETE
        lines.append(
            [row["what"], row["target"], value, marks[row["met"]] + (" (of a partial run)" if partial else "")]
        )
    text = (
        "# Benchmark\n\n`make bench`\n\nEvery figure is a ratio within one run on one core, a median of alternating "
        "repetitions; how each is measured is described in [docs/benchmarks.md](../docs/benchmarks.md).\n\n"
        f"{markdown(['what', 'target', 'measured', 'reached'], lines)}"
    )
    for part in PARTS:
        if part.name in results:
            one = results[part.name]
            note = "" if one["ended"] == COMPLETE else f"*This part {one['ended']}.*\n\n"
            note += f"Measured on {one['date']}.\n\n" if "date" in one else ""
            text += f"\n## {part.title}\n\n{note}{one['text'].strip()}\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [part.name for part in PARTS]
    parser.add_argument(
        "--parts", nargs="+", choices=names, default=names, help="only these; the others stay as the file has them"
    )
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    options = parser.parse_args()
    file = options.out.with_suffix(".json")
    again = len(options.parts) < len(names) and file.exists()
    results: dict[str, dict[str, Any]] = json.loads(file.read_text())["parts"] if again else {}
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            if part.name in options.parts:
                print(f"== {part.name}", flush=True)
                results[part.name] = run(part, Path(folder))
                kept = {"targets": judged(found_by(results)), "parts": results}
                file.write_text(json.dumps(kept, indent=1) + "\n")
                options.out.with_suffix(".md").write_text(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
