"""Step times of our optimizers against implementations that people would use instead.

    python -m benchmarks.steps --out results/steps

Peers: eager PyTorch; compiled PyTorch (`--compiled`, minutes of compilation for each family and precision); plain JAX
with nested `grad` and `vmap`; DeepXDE on the undivided problem of the same size (no interface, no Gauss-Newton). All
but DeepXDE get our points and our weights, and their losses must equal ours before anything is timed. One process, one
core, medians of alternating repetitions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import PARAMETER, REPETITIONS, SETS, Block, alternate, iterations, markdown, quotient, trained
from benchmarks.timing import write as write_files
from metalic import runtime

METHODS = ("adam", "lbfgs", "gauss-newton")
OURS = {"adam": 200, "lbfgs": 100, "gauss-newton": 10}  # iterations of a block
THEIRS = {"adam": 40, "lbfgs": 30, "gauss-newton": 2}
PEERS = ("torch", "compiled", "jax", "deepxde")
CLOSE = {"float64": 1e-10, "float32": 1e-4}


def optimizers() -> dict[str, Any]:
    import metalic as mt

    return {"adam": mt.Adam(1e-3), "lbfgs": mt.LBFGS(50, 0.0, 0.0), "gauss-newton": mt.GaussNewton()}


def points_of(problem: Any) -> dict[str, Any]:
    """Our training points as the peers take them, (N, 2) arrays; padding left out."""

    def rows(block: Any) -> list[np.ndarray]:
        return [np.asarray(x).T[np.asarray(w) > 0] for x, w in zip(block.x, block.weight, strict=True)]

    (boundary,) = problem.boundary
    (interface,) = rows(problem.interface)
    return {"collocation": rows(problem.collocation), "boundary": rows(boundary), "interface": interface}


def weights_of(solution: Any) -> list[list[np.ndarray]]:
    """Per subdomain the arrays of its layers: weight (out, in), bias (out,), weight, ..."""
    layers = [solution.network.layers(theta) for theta in solution.theta]
    return [[array for w, b in network for array in (w, b[:, 0])] for network in layers]


def same_problem(make: Callable[..., Any], solution: Any, family: str, precision: str) -> Any:
    """A peer with our points and weights; an error if its loss is not ours."""
    import jax
    import jax.numpy as jnp

    from metalic.pinn.problem import Problem

    peer = make(family, PARAMETER[family], tuple(SETS[family].split(",")), precision, 0)
    peer.points = points_of(solution.problem)
    peer.set_weights(weights_of(solution))
    with jax.enable_x64(precision == "float64"):
        ours = float(jax.jit(Problem.value)(solution.problem, jnp.asarray(solution.theta)))
    theirs = peer.loss().item()
    if abs(theirs - ours) > CLOSE[precision] * abs(ours):
        raise RuntimeError(f"{family}, {precision}: {make.__name__} has the loss {theirs!r}, not {ours!r}")
    return peer


def blocks_of(peer: Any, weights: Any, methods: tuple[str, ...]) -> dict[str, Block]:
    """Blocks of a peer, each from the same weights (DeepXDE continues from its own)."""

    def again() -> None:
        if weights is not None:
            peer.set_weights(weights)

    def adam() -> float:
        again()
        return 1e3 * peer.adam(THEIRS["adam"]) / THEIRS["adam"]

    def searched(run: Callable[[int], Any], count: int) -> float:
        again()
        result = run(count)
        return 1e3 * result.seconds / result.iterations if result.iterations else float("nan")

    found: dict[str, Block] = {"adam": adam}
    for method in methods[1:]:
        found[method] = partial(searched, getattr(peer, method.replace("-", "_")), THEIRS[method])
    for run in found.values():
        run()  # compiles and warms up
    return found


def peers(solution: Any, family: str, precision: str) -> dict[str, Block]:
    from benchmarks.peers.deepxde_peer import DeepXDEPeer
    from benchmarks.peers.plain_jax import PlainJaxPeer
    from benchmarks.peers.torch_peer import TorchPeer

    weights = weights_of(solution)
    found: dict[str, Block] = {}
    for name, make in (("torch", TorchPeer), ("jax", PlainJaxPeer)):
        peer = same_problem(make, solution, family, precision)
        found |= {f"{name} {method}": run for method, run in blocks_of(peer, weights, METHODS).items()}
    deepxde = DeepXDEPeer(family, PARAMETER[family], precision, 0)
    return found | {f"deepxde {method}": run for method, run in blocks_of(deepxde, None, METHODS[:2]).items()}


def compiled(solution: Any, family: str, precision: str) -> dict[str, Block]:
    from benchmarks.peers.compiled_torch import CompiledTorchPeer

    peer = same_problem(CompiledTorchPeer, solution, family, precision)
    return {f"compiled {name}": run for name, run in blocks_of(peer, weights_of(solution), METHODS[:2]).items()}


def measure(family: str, precision: str, repetitions: int, with_compiled: bool) -> dict[str, Any]:
    solution = trained(family, precision)
    blocks = {name: iterations(solution, optimizer, OURS[name]) for name, optimizer in optimizers().items()}
    blocks |= peers(solution, family, precision)
    row: dict[str, Any] = {"family": family, "precision": precision}
    if with_compiled:
        try:
            blocks |= compiled(solution, family, precision)
        except Exception as error:  # whatever a compiler may raise: the sentence takes the figure's place
            row["compiled"] = f"torch.compile does not work here: {type(error).__name__}: {str(error).splitlines()[0]}"
    times = alternate(blocks, repetitions)
    row["ms"] = {name: None if np.isnan(value) else value for name, value in times.items()}
    print(family, precision, {name: round(value, 2) for name, value in times.items()}, flush=True)
    return row


def table(rows: list[dict[str, Any]], repetitions: int) -> str:
    text = (
        f"`python -m benchmarks.steps`\n\nMilliseconds per iteration on one core (medians of {repetitions} alternating "
        "repetitions), and the same of each peer over ours: more than 1 means that ours is faster.\n\n"
    )
    names = {"torch": "PyTorch", "compiled": "compiled PyTorch", "jax": "plain JAX", "deepxde": "DeepXDE"}
    for method in METHODS:
        shown = PEERS if method != "gauss-newton" else ("torch", "jax")
        head = ["family", "precision", "ours, ms", *(f"{names[p]} / ours" for p in shown)]
        lines = []
        for row in rows:
            ms = row["ms"]
            ratios = [quotient(ms.get(f"{peer} {method}"), ms[method]) for peer in shown]
            lines.append([row["family"], row["precision"], ms[method], *ratios])
        title = {"adam": "Adam step", "lbfgs": "L-BFGS iteration", "gauss-newton": "Gauss-Newton iteration"}[method]
        text += f"**{title}**\n\n{markdown(head, lines)}\n"
    search = [[r["family"], r["precision"], quotient(r["ms"]["lbfgs"], r["ms"]["adam"])] for r in rows]
    text += f"**L-BFGS iteration over Adam step**\n\n{markdown(['family', 'precision', 'ratio'], search)}"
    for row in rows:
        if "compiled" in row:
            text += f"\n{row['family']}, {row['precision']}: {row['compiled']}.\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(SETS))
    parser.add_argument("--precisions", nargs="+", default=["float64", "float32"])
    parser.add_argument("--compiled", nargs="*", default=[], help="families to measure compiled PyTorch on, float64")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/steps"))
    options = parser.parse_args()
    runtime.prepare(core=options.core)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    plan = [(family, precision, False) for precision in options.precisions for family in options.families]
    plan += [(family, "float64", True) for family in options.compiled]  # last: what takes minutes loses no other figure
    for family, precision, with_compiled in plan:
        rows[family, precision] = measure(family, precision, options.repetitions, with_compiled)
        text = table(list(rows.values()), options.repetitions)
        write_files(options.out, "Step times", text, list(rows.values()))
    print(text)


if __name__ == "__main__":
    main()
