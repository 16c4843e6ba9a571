"""How many more plays per hour do two workers give than one?

    python -m benchmarks.workers --out results/workers

Alternates studies of random sets on Poisson (`quick`) with one and with two workers, each in a process of its own; one
worker has one core, as `metalic play` gives it. The rate is that of finished plays after the first ones, which load
programs. Run it on an idle machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from metalic import runtime


def rate(workers: int, plays: int, seed: int, folder: Path) -> float:
    """Plays per hour: finished plays over the time between the first that counts and the last."""
    import metalic as mt

    times: list[float] = []
    bandit = mt.Sequential(policy=mt.Random())
    with mt.Study(folder / f"{workers}-{seed}.db", "poisson", bandit, "quick", seed=seed) as study:
        study.play(plays, workers=workers, progress=lambda _: times.append(time.perf_counter()))
    counted = times[2 * workers :]
    return 3600 * (len(counted) - 1) / (counted[-1] - counted[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=12, help="plays per worker")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/workers"))
    parser.add_argument("--only", type=int, nargs=2, help="a number of workers and a seed: print the plays per hour")
    options = parser.parse_args()
    if options.only:
        workers, seed = options.only
        runtime.prepare(pin=workers == 1)
        with tempfile.TemporaryDirectory() as folder:
            print(rate(workers, options.plays * workers, seed, Path(folder)))
        return
    rates: dict[int, list[float]] = {1: [], 2: []}
    for seed in range(options.repetitions):
        for workers, found in rates.items():
            words = ["--plays", str(options.plays), "--only", str(workers), str(seed)]
            command = [sys.executable, "-m", "benchmarks.workers", *words]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found.append(float(said.split()[-1]))
            print(workers, found[-1], flush=True)
    ratio = median(rates[2]) / median(rates[1])
    text = (
        f"# Two workers against one\n\n`python -m benchmarks.workers --plays "
        f"{options.plays} --repetitions {options.repetitions}`\n\nPlays per hour (Poisson, `quick`, random sets, "
        f"median of {options.repetitions} alternating studies of {options.plays} plays per worker): "
        f"{median(rates[1]):.0f} with one worker, {median(rates[2]):.0f} with two: **{ratio:.2f}x**.\n"
    )
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps({"rates": rates, "ratio": ratio}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
