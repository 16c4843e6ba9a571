"""A step of each optimizer against another version of the library, in one run.

    git worktree add ../old fe5d1e4
    python -m benchmarks.versions ../old --out results/versions

Each version runs in a process of its own, on the same core and from its own `src`; blocks of iterations are timed in
turns. Both train the networks, points and weights of version 0.1 on the same problem. The ratio is the median over
pairs of neighbouring blocks.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

COUNTS = {"adam": 300, "gauss-newton": 10}  # iterations of a block
FAMILIES = ("poisson", "advection", "reaction", "burgers")
REPETITIONS = 9


def serve() -> None:
    """The worker: for every line `family method` on its input, milliseconds per iteration on its output."""
    import metalic as mt
    from benchmarks.timing import iterations, trained
    from metalic import runtime

    runtime.prepare(core=0)
    optimizers = {"adam": mt.Adam(1e-3), "gauss-newton": mt.GaussNewton()}
    solutions, blocks = {}, {}
    for line in sys.stdin:
        family, method = line.split()
        if family not in solutions:
            solutions[family] = trained(family)
        if (family, method) not in blocks:
            blocks[family, method] = iterations(solutions[family], optimizers[method], COUNTS[method])
        print(f"ms {blocks[family, method]()}", flush=True)


class Version:
    """A worker with one version of the library."""

    def __init__(self, root: Path):
        paths = os.pathsep.join(map(str, (root / "src", root)))
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            cwd=root,
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def block(self, family: str, method: str) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{family} {method}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("ms "):
                return float(line.split()[1])
        raise SystemExit("a worker has ended before its answer; its message is above")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="the root of a checkout of the other version")
    parser.add_argument("--out", type=Path, help="where to write OUT.md and OUT.json")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.other is None or not (options.other / "src" / "metalic").is_dir():
        raise SystemExit("name the root of a checkout of the other version: it has src/metalic")
    here, other = Version(Path(__file__).resolve().parents[1]), Version(options.other.resolve())
    rows = []
    for family in FAMILIES:
        for method in COUNTS:
            pairs = [(here.block(family, method), other.block(family, method)) for _ in range(REPETITIONS)]
            ours, theirs = (median(column) for column in zip(*pairs))
            ratio = median(a / b for a, b in pairs)
            rows.append((family, method, ours, theirs, ratio))
            print(f"{family:10} {method:13} {ours:8.3f} ms  other {theirs:8.3f} ms  ratio {ratio:.3f}", flush=True)
    if options.out:
        report(options.out, rows)


def report(out: Path, rows: list[tuple[str, str, float, float, float]]) -> None:
    from benchmarks.timing import markdown, write

    head = ("family", "optimizer", "ms per iteration", "the other version", "ratio")
    text = f"{(__doc__ or '').split('    git')[0]}\nMade by `python -m benchmarks.versions OTHER`.\n\n"
    write(out, "A step against another version", text + markdown(head, rows), rows)


if __name__ == "__main__":
    main()
