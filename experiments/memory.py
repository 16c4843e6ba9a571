"""What is a library worth? Members of four families, cold and from the library that the package ships, in one run.

    python -m experiments.memory --count 20 --out results/memory

Every member is solved twice with the same networks, points and weights: cold with `fast`, and from the interpolated
networks of the library with Gauss-Newton alone. Seconds are of training, without compilation, on one core. A second
part sweeps 101 members of Poisson's equation (`--sweep`), a third solves from a library that is of no use.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import markdown, write
from metalic import runtime

FAMILIES = ("poisson", "advection", "reaction", "burgers")
ITERATIONS = 100
FAILED = 1e-2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="unseen parameters per family")
    parser.add_argument("--sweep", type=int, default=101, help="members of the sweep; 0 for none")
    parser.add_argument("--library", type=Path, help="a directory of libraries instead of those in the package")
    parser.add_argument("--out", type=Path, default=Path("results/memory"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.study.knowledge import MEMBERS

    place = options.library or MEMBERS
    found: dict[str, Any] = {"members": [], "sweep": None, "useless": None}
    for name in FAMILIES:
        if (place / f"{name}.db").exists():
            found["members"] += compare(name, place / f"{name}.db", options.count)
            options.out.with_suffix(".json").write_text(json.dumps(found, indent=1))
    if (place / "poisson.db").exists():
        found["sweep"] = swept(place / "poisson.db", options.sweep) if options.sweep else None
        found["useless"] = useless(place / "poisson.db")
    write(options.out, "What a library is worth", page(found, options.count), found)
    draw(found["members"], options.out.with_suffix(".png"))


def unseen(name: str, count: int) -> list[dict[str, float]]:
    """Parameters drawn in the box, in logarithms where it is wide."""
    from metalic.families import find_family
    from metalic.study.continuation import at_unit

    rng, boxes = np.random.default_rng([17, len(name)]), find_family(name).parameters
    return [{key: at_unit(float(rng.random()), box) for key, box in boxes.items()} for _ in range(count)]


def compare(name: str, path: Path, count: int) -> list[dict[str, Any]]:
    """Cold and warm solves of unseen members, each with its history."""
    import metalic as mt

    library = mt.Library(path, name)
    hidden, weights = library.options.hidden, library.options.lambda_boundary
    options: dict[str, Any] = {"hidden": hidden, "lambda_boundary": weights}
    rows = []
    for parameters in unseen(name, count):
        cold = mt.solve(name, parameters=parameters, cold=True, **options)
        budget = [mt.Phase(mt.GaussNewton(), ITERATIONS)]
        sets = list(library.nearest(parameters)[0].conditions)
        warm = mt.solve(name, sets, _like_fast(budget), parameters=parameters, start=library, **options)
        usual = mt.solve(name, parameters=parameters, start=library)
        row = {
            "family": name,
            "parameters": parameters,
            "cold": history(cold),
            "warm": history(warm),
            "usual": {"error": usual.error, "iterations": iterations(usual), "seconds": usual.seconds},
        }
        rows.append(row)
        print(name, parameters, f"cold {cold.error:.1e} warm {warm.error:.1e} usual {usual.error:.1e}", flush=True)
    return rows


def _like_fast(phases: list[Any]) -> Any:
    from metalic.pinn import SCHEDULES

    return replace(SCHEDULES["fast"], name="warm", phases=tuple(phases))


def iterations(solution: Any) -> int:
    return sum(phase.iterations for phase in solution.phases)


def history(solution: Any) -> list[tuple[float, float]]:
    """(seconds, error) along a solve, over all of its phases."""
    found, before = [], 0.0
    for phase in solution.phases:
        found += [(before + seconds, error) for _, seconds, _, error in phase.history]
        before += phase.seconds
    return found


def swept(path: Path, count: int) -> dict[str, Any]:
    """Seconds of a sweep of Poisson's equation, compilation included, and of one cold solve."""
    import metalic as mt

    library = mt.Library(path, "poisson")
    options = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
    cold = mt.solve("poisson", s=25.0, cold=True, **options)
    begun = time.perf_counter()
    found = mt.sweep("poisson", s=(0, 50, count), solver=options)
    seconds = time.perf_counter() - begun
    worst, typical = float(np.nanmax(found.errors)), float(np.exp(np.nanmean(np.log(found.errors))))
    numbers = {"members": count, "seconds": seconds, "cold": cold.seconds, "failures": len(found.failures)}
    return numbers | {"worst": worst, "typical": typical}


def useless(path: Path) -> dict[str, float]:
    """A library whose members have random weights and good errors: seconds of a solve against a cold one."""
    import metalic as mt

    library, rng = mt.Library(path, "poisson"), np.random.default_rng(0)
    options = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
    with tempfile.TemporaryDirectory() as place:
        bad = mt.Library(Path(place) / "bad.db", "poisson", solver=library.options)
        for member in library.members[::4]:
            one = library(member.parameters)
            record = replace(one.phases[0], error=1e-5, loss=member.loss)
            bad.add(replace(one, theta=rng.normal(size=one.theta.shape), phases=(record,)))
        seconds = []
        for start in ({"cold": True, **options}, {"start": bad}):
            begun = time.perf_counter()
            solution = mt.solve("poisson", s=21.0, **start)
            seconds.append(time.perf_counter() - begun)
        bad.close()
    return {"cold": seconds[0], "seconds": seconds[1], "error": solution.error}


def reached(row: dict[str, Any]) -> float:
    """Seconds of the warm solve until the error of the cold one; infinite if it never gets there."""
    target = row["cold"][-1][1]
    return next((seconds for seconds, error in row["warm"] if error <= target), np.inf)


def page(found: dict[str, Any], count: int) -> str:
    """The table of aims."""
    head = ["family", "members", "cold error", "warm error", "speed-up", "never reached", "error ratio", "above 1e-2"]
    rows = []
    for name in dict.fromkeys(row["family"] for row in found["members"]):
        mine = [row for row in found["members"] if row["family"] == name]
        cold, usual = ([one["cold"][-1][1] for one in mine], [one["usual"]["error"] for one in mine])
        ratio = [row["cold"][-1][0] / reached(row) for row in mine]
        equal = [min(e for s, e in row["warm"] if s <= row["cold"][-1][0]) / row["cold"][-1][1] for row in mine]
        rows.append(
            [
                name,
                str(len(mine)),
                f"{_mean(cold):.1e}",
                f"{_mean(usual):.1e}",
                f"{np.median(ratio):.1f}",
                str(sum(one == 0 for one in ratio)),
                f"{_mean(equal):.2f}",
                f"{sum(error > FAILED for error in cold)} / {sum(error > FAILED for error in usual)}",
            ]
        )
    text = [
        f"Made by `python -m experiments.memory --count {count}`. Unseen parameters, each solved cold with `fast` and",
        "from the library. *Warm error*: where a solve from the library ends by itself. *Speed-up*: seconds until the",
        f"error of the cold solve, cold / warm, median; *never reached* within {ITERATIONS} iterations. *Error ratio*:",
        "at equal seconds, warm / cold, geometric mean. *Above 1e-2*: cold / warm.\n",
        markdown(head, rows),
    ]
    if found["sweep"]:
        one = found["sweep"]
        text += [
            f"\nA sweep of {one['members']} members of Poisson's equation, compilation included, takes",
            f"{one['seconds']:.0f} s, {one['seconds'] / one['cold']:.0f} times the training of one cold solve. Its",
            f"errors have the geometric mean {one['typical']:.1e} and the maximum {one['worst']:.1e};",
            f"{one['failures']} members failed.",
        ]
    if found["useless"]:
        one = found["useless"]
        text += [
            "\nFrom a library of random weights that claim to be good, a solve takes",
            f"{one['seconds'] / one['cold']:.2f} times the seconds of a cold one and ends with the error",
            f"{one['error']:.1e}.\n",
        ]
    return "\n".join(text)


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Error against seconds, cold and warm, a panel per family."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["family"] for row in rows))
    figure = Figure(figsize=(3.2 * len(names), 3.2), layout="constrained")
    for axis, name in zip(np.atleast_1d(figure.subplots(1, len(names), sharey=True)), names):
        for row in (row for row in rows if row["family"] == name):
            for kind, colour in (("cold", "tab:blue"), ("warm", "tab:orange")):
                axis.loglog(*zip(*row[kind]), color=colour, alpha=0.5, linewidth=1)
        axis.set_title(name)
        axis.set_xlabel("seconds of training")
    figure.axes[0].set_ylabel("relative error")
    figure.axes[0].plot([], [], color="tab:blue", label="cold")
    figure.axes[0].plot([], [], color="tab:orange", label="from the library")
    figure.axes[0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
