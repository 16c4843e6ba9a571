"""How many more plays an hour do two workers give than one?

    python -m benchmarks.workers --out results/workers

Alternates studies of random sets on Poisson (`quick`) with one and with two workers. The rate is that of finished
plays after the first ones, which load programs. Run it on an idle machine.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

from metalic import runtime


def rate(workers: int, plays: int, seed: int, folder: Path) -> float:
    """Plays an hour: finished plays over the time between the first that counts and the last."""
    import metalic as mt

    times: list[float] = []
    bandit = mt.Sequential(policy=mt.Random())
    with mt.Study(folder / f"{workers}-{seed}.db", "poisson", bandit, "quick", seed=seed) as study:
        study.play(plays, workers=workers, progress=lambda _: times.append(time.perf_counter()))
    counted = times[2 * workers :]
    return 3600 * (len(counted) - 1) / (counted[-1] - counted[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plays", type=int, default=12, help="plays a worker")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/workers"))
    options = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.repetitions):
            for workers in rates:
                runtime.prepare(pin=False)
                rates[workers].append(rate(workers, options.plays * workers, seed, Path(folder)))
                print(workers, rates[workers][-1], flush=True)
    ratio = median(rates[2]) / median(rates[1])
    text = (
        f"# Two workers against one\n\n`python -m benchmarks.workers`\n\nPlays an hour (Poisson, `quick`, random sets, "
        f"median of {options.repetitions} alternating studies of {options.plays} plays a worker): "
        f"{median(rates[1]):.0f} with one worker, {median(rates[2]):.0f} with two: **{ratio:.2f}x**.\n"
    )
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps({"rates": rates, "ratio": ratio}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
