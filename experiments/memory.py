"""What a library of solved members is worth: `python -m experiments.memory`.

Unseen parameters of each family are solved cold with `fast` and from the interpolated networks of the library with
Gauss-Newton alone. Seconds are of training, without compilation, on one core. More solves from the libraries count
failures; families of two and four parameters are solved from libraries of 64 members, which are made first; a sweep of
Poisson's equation and a library of no use are timed.

Every solve is written to the .json file at once, and what is there is not solved again: run the command in pieces
(`--minutes 4`) until it is complete. The table and the figure show what there is.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import metalic as mt
from benchmarks.timing import markdown, write
from metalic import runtime
from metalic.atomic import write_whole

FAMILIES = ("poisson", "advection", "reaction", "burgers")
SEVERAL = 64  # members in a library of a family of several parameters
ITERATIONS = 120
MOVED = 21  # iterations between two moves of adaptive points, about as in a solve from a library
FAILED = 1e-2


def drift_solution(xp: Any, x: Any, t: Any, b: Any, k: Any) -> Any:
    """A wave that moves and decays."""
    return xp.exp(-k * t) * xp.sin(x - b * t)


class Drift(mt.Family):
    """u_t + b u_x = k u_xx: a family of two parameters."""

    parameters = {"b": (1.0, 10.0), "k": (0.1, 1.0)}
    domain = mt.Box(x=(0, 2 * np.pi), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])
    conditions = ("u", "x")
    default_conditions = ("u",)

    def residual(self, u: Any, p: Any, b: Any, k: Any) -> Any:
        return u.t + b * u.x - k * u.xx

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet("t=0", "x=min", "x=max", lambda p, b, k: drift_solution(jnp, p.x, p.t, b, k))]

    def reference(self, b: float, k: float) -> Any:
        return lambda points: drift_solution(np, points[:, 0], points[:, 1], b, k)


class Watched(mt.GaussNewton):
    """Gauss-Newton whose error is measured more often."""

    chunk = 3


class OutOfTimeError(Exception):
    """The minutes are over."""


class Record:
    """Results in a JSON file, one list per kind of run."""

    def __init__(self, path: Path, minutes: float):
        self.path, self.end = path, time.monotonic() + 60 * minutes
        self.found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def once(self, kind: str, key: list[Any], run: Callable[[], dict[str, Any]]) -> None:
        """Run what is not recorded yet."""
        rows = self.found.setdefault(kind, [])
        if any(row["key"] == key for row in rows):
            return
        if time.monotonic() > self.end:
            raise OutOfTimeError
        rows.append({"key": key, **run()})
        write_whole(self.path, lambda file: file.write(json.dumps(self.found, indent=1).encode()))
        print(kind, key, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="unseen parameters per family")
    parser.add_argument("--more", type=int, default=30, help="more solves per family from the library, for failures")
    parser.add_argument("--sweep", type=int, default=101, help="members of the sweep; 0 for none")
    parser.add_argument("--several", type=int, default=10, help="unseen parameters where there are several")
    parser.add_argument("--minutes", type=float, default=1e6, help="when to stop; run again to continue")
    parser.add_argument("--library", type=Path, help="a directory of libraries instead of those in the package")
    parser.add_argument("--out", type=Path, default=Path("results/memory"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.study.knowledge import MEMBERS

    record = Record(options.out.with_suffix(".json"), options.minutes)
    with suppress(OutOfTimeError):
        everything(record, options.library or MEMBERS, options)
    write(options.out, "What a library is worth", page(record.found), record.found)
    draw(record.found.get("members", []), options.out.with_suffix(".png"))


def everything(record: Record, place: Path, options: argparse.Namespace) -> None:
    """All runs, families in turns."""
    names = [name for name in FAMILIES if (place / f"{name}.db").exists()]
    drawn = {name: unseen(name, options.count + options.more) for name in names}
    for n in range(options.count):
        for name in names:
            record.once("members", [name, n], partial(compare, name, place / f"{name}.db", drawn[name][n]))
    for n in range(options.count, options.count + options.more):
        for name in names:
            record.once("more", [name, n], partial(usual, name, place / f"{name}.db", drawn[name][n]))
    for family in ("heat", Drift) if options.several else ():
        with_several(record, options.out.parent / f"{_name(family)}-members.db", family, options.several)
    if "poisson" in names:
        record.once("useless", ["poisson"], partial(useless, place / "poisson.db"))
    if "poisson" in names and options.sweep:
        record.once("sweep", ["poisson", options.sweep], partial(swept, place / "poisson.db", options.sweep))


def with_several(record: Record, path: Path, family: Any, count: int) -> None:
    """Compare cold and warm solves of a family of several parameters, from a library that is made if it is missing."""
    if any(row["key"] == [_name(family), count - 1] for row in record.found.get("members", [])):
        return
    mt.prepare(path, family, members=SEVERAL, progress=lambda step: print(path.name, step.finished_count, flush=True))
    for n, parameters in enumerate(unseen(family, count)):
        record.once("members", [_name(family), n], partial(compare, family, path, parameters))


def _name(family: Any) -> str:
    return family if isinstance(family, str) else family.__name__.lower()


def unseen(name: Any, count: int) -> list[dict[str, float]]:
    """Parameters drawn in the box, in logarithms where it is wide; a longer list begins with a shorter one."""
    from metalic.families import find_family
    from metalic.study.interpolation import at_unit

    rng, boxes = np.random.default_rng([17, len(_name(name))]), find_family(name).parameters
    return [{key: at_unit(float(rng.random()), box) for key, box in boxes.items()} for _ in range(count)]


def compare(name: Any, path: Path, parameters: dict[str, float]) -> dict[str, Any]:
    """A cold and a warm solve of an unseen member with their histories, and the one that users get."""
    library = mt.Library(path, name)
    options: dict[str, Any] = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
    options |= {"parameters": parameters, "check": False}
    sets = list(library.nearest(parameters)[0].conditions)
    moves: dict[str, Any] = {"resample": MOVED, "adaptive": True} if library.adaptive else {}
    budget = _like_fast([mt.Phase(Watched(), ITERATIONS, **moves)])
    cold = mt.solve(name, cold=True, **options)
    warm = mt.solve(name, sets, budget, start=library, **options)
    return {"cold": history(cold), "warm": history(warm), **usual(name, path, parameters)}


def usual(name: Any, path: Path, parameters: dict[str, float]) -> dict[str, Any]:
    """The solve from a library that ends by itself."""
    solution = mt.solve(name, parameters=parameters, start=mt.Library(path, name), check=False)
    seconds = sum(phase.seconds for phase in solution.phases)
    numbers = {"error": solution.error, "iterations": iterations(solution), "seconds": seconds}
    return {"parameters": parameters, "usual": numbers | {"cold": solution.start is None}}


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
    library = mt.Library(path, "poisson")
    options = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
    cold = mt.solve("poisson", s=25.0, cold=True, check=False, **options)
    begun = time.perf_counter()
    found = mt.sweep("poisson", s=(0, 50, count), solver=options)
    seconds = time.perf_counter() - begun
    worst, typical = float(np.nanmax(found.errors)), float(np.exp(np.nanmean(np.log(found.errors))))
    numbers = {"members": count, "seconds": seconds, "cold": cold.seconds, "failures": len(found.failures)}
    return numbers | {"worst": worst, "typical": typical}


def useless(path: Path) -> dict[str, float]:
    """A library whose members have random weights and good errors: seconds of a solve against a cold one."""
    library, rng = mt.Library(path, "poisson"), np.random.default_rng(0)
    options = {"hidden": library.options.hidden, "lambda_boundary": library.options.lambda_boundary}
    with tempfile.TemporaryDirectory() as place:
        bad = mt.Library(Path(place) / "bad.db", "poisson", solver=library.options)
        for member in library.members[::4]:
            one = library(member.parameters)
            record = replace(one.phases[0], error=1e-5, loss=member.loss)
            bad.add(replace(one, theta=rng.normal(size=one.theta.shape), phases=(record,)))
        seconds = []
        for start in ({"cold": True, **options}, {"cold": True, **options}, {"start": bad}):  # the first one compiles
            begun = time.perf_counter()
            solution = mt.solve("poisson", s=21.0, check=False, **start)
            seconds.append(time.perf_counter() - begun)
        bad.close()
    return {"cold": seconds[1], "seconds": seconds[2], "error": solution.error}


def reached(row: dict[str, Any]) -> float:
    """Seconds of the warm solve until the error of the cold one; infinite if it never gets there."""
    target = row["cold"][-1][1]
    return next((seconds for seconds, error in row["warm"] if error <= target), np.inf)


def page(found: dict[str, Any]) -> str:
    """The table of aims."""
    text = [
        "Made by `python -m experiments.memory`. Unseen parameters, each solved cold with `fast` and from the",
        "library. *Warm error*: where a solve from the library ends by itself. *Speed-up*: seconds until the error of",
        f"the cold solve, cold / warm, median; *never reached* within {ITERATIONS} iterations. *Error ratio*: at equal",
        "seconds, warm / cold, geometric mean. *Above 1e-2*: of all solves from the library.\n",
        markdown(HEAD, [line(found, name) for name in (*FAMILIES, "heat", "drift") if of(found, "members", name)]),
        f"\n`drift` is u_t + b u_x = k u_xx. Libraries of families with several parameters have {SEVERAL} members.",
    ]
    for one in found.get("sweep", []):
        text += [
            f"\nA sweep of {one['members']} members of Poisson's equation, compilation included, takes",
            f"{one['seconds']:.0f} s, {one['seconds'] / one['cold']:.0f} times the training of one cold solve. Its",
            f"errors have the geometric mean {one['typical']:.1e} and the maximum {one['worst']:.1e};",
            f"{one['failures']} members failed.",
        ]
    for one in found.get("useless", []):
        text += [
            "\nFrom a library of random weights that claim to be good, a solve takes",
            f"{one['seconds'] / one['cold']:.2f} times the seconds of a cold one and ends with the error",
            f"{one['error']:.1e}.",
        ]
    return "\n".join(text) + "\n"


HEAD = (
    *("family", "members", "cold error", "warm error", "cold seconds", "warm seconds", "speed-up", "never reached"),
    *("error ratio", "above 1e-2"),
)


def of(found: dict[str, Any], kind: str, name: str) -> list[dict[str, Any]]:
    return [row for row in found.get(kind, []) if row["key"][0] == name]


def line(found: dict[str, Any], name: str) -> list[str]:
    """The numbers of one family."""
    mine, more = of(found, "members", name), of(found, "more", name)
    ends = [row["cold"][-1] for row in mine]
    ratio = [row["cold"][-1][0] / reached(row) for row in mine]
    equal = [[e for s, e in row["warm"] if s <= end[0]][-1] / end[1] for row, end in zip(mine, ends)]
    failed = sum(not row["usual"]["error"] <= FAILED for row in mine + more)
    return [
        *(
            name,
            str(len(mine)),
            f"{_mean([e for _, e in ends]):.1e}",
            f"{_mean([r['usual']['error'] for r in mine]):.1e}",
        ),
        *(f"{np.median([s for s, _ in ends]):.1f}", f"{np.median([r['usual']['seconds'] for r in mine]):.1f}"),
        *(f"{np.median(ratio):.1f}", str(sum(one == 0 for one in ratio)), f"{_mean(equal):.2f}"),
        f"{failed} of {len(mine + more)}",
    ]


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Error against seconds, cold and warm, a panel per family."""
    from matplotlib.ticker import LogLocator, NullFormatter

    from metalic.look import PALETTE, Drawing, style

    names = [name for name in FAMILIES if any(row["key"][0] == name for row in rows)]
    if not names:
        return
    kinds = {"cold": ("cold", PALETTE[0]), "warm": ("from the library", PALETTE[1])}
    with style():
        figure = Drawing(figsize=(8.4, 5.2), layout="constrained")
        panels = figure.subplots(2, -(-len(names) // 2), sharex=True, sharey=True, squeeze=False).ravel()
        for axis, name in zip(panels, names):
            for row in of({"members": rows}, "members", name):
                for kind, (_, colour) in kinds.items():
                    axis.loglog(*zip(*row[kind]), color=colour, alpha=0.5, linewidth=1)
            axis.set_title(name)
            axis.xaxis.set_major_locator(LogLocator(10))
            axis.xaxis.set_minor_formatter(NullFormatter())
        for title, colour in kinds.values():
            panels[0].plot([], [], color=colour, label=title)
        panels[0].legend()
        figure.supxlabel("seconds of training")
        figure.supylabel("relative error")
        figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
