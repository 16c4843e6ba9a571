"""Long times: one solve of the whole interval against a march from slab to slab.

    python -m experiments.marching --out results/marching      # run again to go on

Three problems that are hard for one solve: advection twice as fast as the family allows, the waves of KdV until they
have met and parted, and the Allen-Cahn equation of the literature. Each is solved at once on the family's own
subdomains, at once on the subdomains of all slabs, and by `metalic.march`, with the same networks and points per
subdomain and the same schedule.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import metalic as mt
from benchmarks.timing import cell, markdown, write
from metalic import runtime
from metalic.pinn.slabs import joined

MODES = 1024  # of the reference: u has a kink at x = -1 in the beginning, so that modes fall off slowly
SOLVER: dict[str, Any] = {"hidden": (16, 16), "points": mt.Points(500, 100, 50), "cold": True, "check": False}


class AllenCahn(mt.Family):
    """u_t = 0.0001 u_xx + 5 (u - u^3) from x^2 cos(pi x), periodic."""

    name = "allen-cahn"
    parameters = {"d": (1e-4, 1e-3)}
    domain = mt.Box(x=(-1, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.0])
    default_conditions = ("u", "c")
    grid = (201, 101)

    def residual(self, u: Any, p: Any, d: Any) -> Any:
        return u.t - d * u.xx - 5 * (u.value - u.value**3)

    def flux(self, u: Any, p: Any, d: Any) -> dict[str, Any]:
        return {"x": -d * u.x, "t": u.value}

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet("t=0", lambda p: p.x**2 * jnp.cos(jnp.pi * p.x)), mt.Periodic("x")]

    def reference(self, d: float) -> Callable[[np.ndarray], np.ndarray]:
        times, modes = _allen_cahn(d)

        def values(points: np.ndarray) -> np.ndarray:
            at = np.array([np.interp(points[:, 1], times, np.arange(len(times)))]).ravel()
            wave = np.exp(1j * np.pi * np.outer(points[:, 0] + 1, np.arange(modes.shape[1])))
            low = np.minimum(at.astype(int), len(times) - 2)
            part = (at - low)[:, None]
            return np.einsum("nk,nk->n", (1 - part) * modes[low] + part * modes[low + 1], wave).real

        return values


@lru_cache(1)
def _allen_cahn(d: float) -> tuple[np.ndarray, np.ndarray]:
    """Fourier modes on [-1, 1] at times that the grid of the error holds."""
    x = np.linspace(-1, 1, 2 * MODES, endpoint=False)
    bend = -d * (np.pi * np.arange(MODES + 1)) ** 2

    def slope(_: float, u: np.ndarray) -> np.ndarray:
        return np.fft.irfft(bend * np.fft.rfft(u)) + 5 * (u - u**3)

    times = np.linspace(0, 1, 401)
    found = solve_ivp(slope, (0, 1), x**2 * np.cos(np.pi * x), t_eval=times, rtol=1e-8, atol=1e-9)
    one_sided = np.fft.rfft(found.y.T, norm="forward") * np.where(np.arange(MODES + 1) % MODES == 0, 1, 2)
    return times, one_sided[:, : MODES // 2]


PROBLEMS: dict[str, tuple[Any, dict[str, Any], int]] = {
    "advection, beta = 60": ("advection", {"beta": 60.0}, 4),
    "KdV, nu = 6, t to 20": ("kdv", {"nu": 6.0}, 5),
    "Allen-Cahn, d = 0.0001": (AllenCahn, {"d": 1e-4}, 5),
}
WAYS = ("at once", "march", "at once, all subdomains")


def solved(way: str, family: Any, parameters: dict[str, float], steps: int) -> mt.Solution:
    common: dict[str, Any] = {**SOLVER, "parameters": parameters, "extrapolate": True}
    if way == "march":
        return mt.march(family, steps=steps, **{**common, "cold": False})
    found = mt.find_family(family)
    return mt.solve(found if way == "at once" else joined(found, steps), **common)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/marching"))
    parser.add_argument("--all", action="store_true", help="also at once on all subdomains; compiles for minutes")
    options = parser.parse_args()
    runtime.prepare()
    kept = options.out.with_suffix(".json")
    found: list[dict[str, Any]] = json.loads(kept.read_text())["solves"] if kept.exists() else []
    for way in WAYS[: 3 if options.all else 2]:
        for problem, (family, parameters, steps) in PROBLEMS.items():
            if any((one["problem"], one["way"]) == (problem, way) for one in found):
                continue
            begun = time.perf_counter()
            solution = solved(way, family, parameters, steps)
            seconds, whole = solution.seconds, time.perf_counter() - begun
            one = {"problem": problem, "way": way, "steps": steps, "error": solution.error, "seconds": seconds}
            found.append({**one, "networks": len(solution.theta), "with_compilation": whole})
            print(found[-1], flush=True)
            write(options.out, "Marching in time", text_of(found), {"solves": found})
    print(text_of(found))


def text_of(found: list[dict[str, Any]]) -> str:
    keys = ("problem", "way", "networks")
    found = sorted(found, key=lambda one: (list(PROBLEMS).index(one["problem"]), WAYS.index(one["way"])))
    rows = [[*(str(one[key]) for key in keys), f"{one['error']:.1e}", cell(one["seconds"])] for one in found]
    header = ["problem", "solved", "networks", "relative error", "seconds"]
    return (
        "`python -m experiments.marching`\n\nThe whole time interval by one solve on the family's subdomains, by one "
        "solve on the subdomains of all slabs, and slab after slab (`metalic.march`); networks of (16, 16), 500 "
        f"collocation points per network, the schedule `fast`, one seed.\n\n{markdown(header, rows)}"
    )


if __name__ == "__main__":
    main()
