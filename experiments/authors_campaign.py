"""The campaign under protocol `authors`: studies, offline tests and one factor at a time, one after another.

    python experiments/authors_campaign.py OUT [--only NAME]

Everything is kept in OUT, and whatever is finished there is not run again: stop it anywhere and run the same command
to continue. The most informative stages come first; `--only factors` runs the stages whose name contains the text.
A test is of a copy of its ledger at this many plays, so that the study can continue.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import metalic as mt
from metalic import runtime

PROTOCOL = "authors"
BASELINES = ("random-single", "random-seq", "pinn-sub", "pinn-merge-h", "pinn-merge-v")
OTHERS = ("Random-Seq", "Single-UCB", "Seq-TS", "Single-TS", "Random-Single")
SETS = {"poisson": "u,c", "advection": "u", "reaction": "u", "burgers": "u,c,x"}  # of one factor at a time


@dataclass(frozen=True)
class Stage:
    """A piece of the campaign: what to do with a family, and up to how many plays, PDEs or runs."""

    kind: str
    family: str
    count: int
    method: str = "Seq-UCB"
    plays: int = 0
    methods: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kind} {self.family} {self.method} {self.count}"


def stages() -> Iterator[Stage]:
    """The most informative first. The first are small, so that there is something to look at early."""
    smooth, all_four = ("reaction", "advection"), ("reaction", "advection", "poisson", "burgers")
    yield Stage("play", "reaction", 20)
    yield from (Stage("factors", family, 5) for family in smooth)
    yield Stage("test", "reaction", 5, plays=20, methods=BASELINES)
    yield Stage("play", "advection", 20)
    yield Stage("test", "advection", 5, plays=20, methods=BASELINES)
    yield from (Stage("test", family, 10, plays=20, methods=BASELINES) for family in smooth)
    yield from (Stage("factors", family, 10) for family in smooth)
    yield from (Stage("play", family, 100) for family in smooth)
    yield from (Stage("test", family, 20, plays=100, methods=BASELINES) for family in smooth)
    for method in OTHERS:
        yield from (Stage("play", family, 100, method) for family in smooth)
    for method in ("Seq-UCB", *OTHERS):
        yield from (Stage("play", family, 200, method) for family in smooth)
    for method in ("Seq-UCB", "Single-UCB", "Seq-TS", "Single-TS"):
        more = BASELINES if method == "Seq-UCB" else ()
        yield from (Stage("test", family, 50, method, plays=200, methods=more) for family in smooth)
    rough = all_four[2:]
    for method in ("Seq-UCB", *OTHERS):
        yield from (Stage("play", family, 60, method) for family in rough)
    for method in ("Seq-UCB", "Single-UCB", "Seq-TS", "Single-TS"):
        more = BASELINES if method == "Seq-UCB" else ()
        yield from (Stage("test", family, 20, method, plays=60, methods=more) for family in rough)
    yield from (Stage("factors", family, 10) for family in rough)


def run(stage: Stage, out: Path) -> None:
    print(stage.name, flush=True)
    {"play": play, "test": test, "factors": factors}[stage.kind](stage, out)


def ledger(stage: Stage, out: Path) -> Path:
    return out / "ledgers" / f"{stage.family}-{stage.method.lower()}-0.db"


def snapshot(stage: Stage, out: Path, plays: int) -> Path:
    return out / "tested" / f"{stage.family}-{stage.method.lower()}-{plays}.db"


def play(stage: Stage, out: Path) -> None:
    """Play a study up to this many plays, and keep a copy as it is then."""
    from metalic.reproduction.campaign import bandit_named
    from metalic.study import Study

    if snapshot(stage, out, stage.count).exists():
        return
    path = ledger(stage, out)
    with Study(path, stage.family, bandit_named(stage.method, 5), seed=0, protocol=PROTOCOL, networks=False) as study:
        left = stage.count - study.finished_count
        if left > 0:
            study.play(left, progress=_tell)
    shutil.copyfile(path, snapshot(stage, out, stage.count))


def test(stage: Stage, out: Path) -> None:
    """Test the copy of a study on unseen PDEs."""
    from metalic.evaluation.offline import run_test
    from metalic.study import Study

    path = out / "tests" / f"{stage.family}-{stage.method.lower()}-{stage.plays}.db"
    with Study(snapshot(stage, out, stage.plays), read_only=True, protocol=PROTOCOL) as study:
        run_test(study, path, pdes=stage.count, methods=stage.methods, progress=_tell)


def _tell(progress: Any) -> None:
    row = progress.play
    if row is not None:
        seconds = sum(phase.seconds or 0.0 for phase in row.phases)
        print(f"  {row.number}  {row.sets}  error {row.error}  {seconds:.0f} s", flush=True)


def settings(family: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Family and solver options of the protocol, of the printed paper, and of the protocol with one factor as the
    paper has it."""
    from metalic.pinn.options import SolverOptions
    from metalic.study.protocol import AUTHORS

    printed = mt.find_family(family)
    theirs = AUTHORS.family(printed)
    solver = AUTHORS.options(theirs, SolverOptions()).to_dict()
    found: dict[str, tuple[Any, Mapping[str, Any]]] = {"authors": (theirs, solver), "paper": (printed, {})}
    found["without their data"] = (printed, solver)
    found["without their weights"] = (theirs, {"scaling": solver["scaling"]})
    if solver["scaling"] != "none":
        found["without their inputs"] = (theirs, {**solver, "scaling": "none"})
    return found


def factors(stage: Stage, out: Path) -> None:
    """One factor at a time, with one fixed set: a line of JSON for each solve."""
    path = out / "factors.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(row["family"], row["setting"], row["pde"]) for row in map(json.loads, lines)}
    (name, (low, high)), *_ = mt.find_family(stage.family).parameters.items()
    for pde in range(stage.count):
        value = low + (high - low) * (pde * 0.6180339887498949 % 1)  # a sequence that fills the box evenly
        for setting, (family, solver) in settings(stage.family).items():
            if (stage.family, setting, pde) in done:
                continue
            solution = mt.solve(family, SETS[stage.family], "paper", seed=pde, parameters={name: value}, **solver)
            seconds = sum(phase.seconds for phase in solution.phases)
            row = {"family": stage.family, "setting": setting, "pde": pde, name: value, "set": SETS[stage.family]}
            row |= {"error": solution.error, "seconds": round(seconds, 1)}
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"  {row}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the campaign under protocol 'authors'; continues where it was.")
    parser.add_argument("out", type=Path, help="directory of ledgers and tests")
    parser.add_argument("--only", default="", help="only stages whose name contains this")
    arguments = parser.parse_args()
    runtime.prepare(pin=True)
    for folder in ("ledgers", "tested", "tests"):
        (arguments.out / folder).mkdir(parents=True, exist_ok=True)
    for stage in stages():
        if arguments.only in stage.name:
            run(stage, arguments.out)


if __name__ == "__main__":
    main()
