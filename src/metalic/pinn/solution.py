"""What a solve gives: networks that can be called, with the history of how they came about."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float

from ..atomic import a_path, write_whole
from ..errors import FileError, GeometryError
from ..families.base import Family
from ..families.registry import BUILT_IN, find_family
from ..notebook import show
from ..sets import Decision
from .network import Network
from .optimizers import Status
from .problem import Problem

if TYPE_CHECKING:
    from .check import Check

ERROR_CAP = 100.0
FORMAT = "metalic-solution"
VERSION = 1


def relative_error(values: Float[np.ndarray, "n m"], reference: Float[np.ndarray, "n m"]) -> float:
    """|values - reference| / |reference| in L2, at most 100. Where the reference is zero everywhere, the root mean
    square of the values themselves (an absolute error)."""
    size = np.linalg.norm(reference)
    error = np.sqrt(np.mean(values**2)) if size == 0 else np.linalg.norm(values - reference) / size
    return float(min(error, ERROR_CAP)) if np.isfinite(error) else ERROR_CAP


@dataclass(frozen=True)
class PhaseRecord:
    """How one phase went. `history` holds (iteration, seconds, loss, error) after every chunk of iterations."""

    optimizer: str
    conditions: tuple[str, ...]
    index: int
    iterations: int
    seconds: float
    compile_seconds: float
    loss: float
    error: float | None
    status: Status
    history: tuple[tuple[int, float, float, float | None], ...] = field(repr=False)
    score: float | None = None  # of `at_phase_end`; not kept in files
    decision: Decision | None = None  # by which the set was chosen; not kept in files
    gathered: tuple[int, ...] = ()  # iterations after which points went to where the residual was missed (`recheck`)

    @property
    def stop_reason(self) -> str:
        return self.status.reason

    def to_dict(self, history: bool = False) -> dict[str, Any]:
        found = {
            "optimizer": self.optimizer,
            "conditions": list(self.conditions),
            "index": self.index,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "loss": _finite(self.loss),
            "error": self.error,
            "stop_reason": self.stop_reason,
        }
        return found | ({"history": [[n, s, _finite(loss), e] for n, s, loss, e in self.history]} if history else {})


@dataclass(frozen=True)
class Solution:
    """A solved PDE. Call it: `solution(x=0.3, y=0.8)`, with numbers or arrays, or `solution(points)` with (n, d)."""

    family: Family
    parameters: Mapping[str, float]
    theta: Float[np.ndarray, "K P"] = field(repr=False)
    hidden: tuple[int, ...]
    centre: Float[np.ndarray, "K d"] = field(repr=False)
    slope: Float[np.ndarray, "K d"] = field(repr=False)
    phases: tuple[PhaseRecord, ...]
    schedule: str
    seed: int
    collocation: tuple[Float[np.ndarray, "_N d"], ...] = field(repr=False)
    problem: Problem | None = field(repr=False, default=None)
    """The training problem as it was at the end; None in a solution that was loaded."""
    checked: Check | None = field(repr=False, default=None)
    """The check that `metalic.solve` has made; None if it was asked not to."""
    start: Mapping[str, Any] | None = None
    """What the solve started from: `source`, `parameters` and `kind`; None if it started cold."""

    @property
    def network(self) -> Network:
        return Network(len(self.family.coordinates), len(self.family.components), self.hidden)

    @property
    def error(self) -> float | None:
        """The relative L2 error against the family's reference (100 for a diverged run); None without a reference."""
        return self.phases[-1].error

    def with_error(self, error: float | None) -> Solution:
        """This solution with another error of its last phase, measured against another reference."""
        return replace(self, phases=(*self.phases[:-1], replace(self.phases[-1], error=error)))

    @property
    def loss(self) -> float:
        return self.phases[-1].loss

    def terms(self) -> dict[str, float]:
        """Every term of the loss at the end, unweighted, conditions outside the set too (compiles for seconds)."""
        if self.problem is None:
            raise FileError("a solution that was loaded from a file does not have its training points: solve again")
        with jax.enable_x64(self.theta.dtype == np.float64):
            found = jax.jit(Problem.terms)(self.problem, jax.numpy.asarray(self.theta))
        return {name: float(value) for name, value in found.items()}

    @property
    def diverged(self) -> bool:
        return self.phases[-1].status is Status.DIVERGED

    @property
    def conditions(self) -> tuple[tuple[str, ...], ...]:
        """The set of each phase."""
        return tuple(phase.conditions for phase in self.phases)

    @property
    def seconds(self) -> float:
        """Training time, without compilation."""
        return sum(phase.seconds for phase in self.phases)

    def __call__(self, points: Any = None, /, **coordinates: Any) -> np.ndarray:
        """The solution at points; on an interface, the average of the networks that share it."""
        names = self.family.coordinates
        if points is not None:
            if coordinates:
                raise GeometryError("give points as one array or coordinates by name, not both")
            try:
                array = np.atleast_2d(np.asarray(points, dtype=float))
            except (TypeError, ValueError, OverflowError):
                raise GeometryError(f"points are numbers, of shape (n, {len(names)})") from None
            if array.ndim != 2 or array.shape[-1] != len(names):
                raise GeometryError(f"points have shape (n, {len(names)}) for coordinates {', '.join(names)}")
            shape: tuple[int, ...] = (len(array),)
        else:
            if set(coordinates) != set(names):
                raise GeometryError(
                    f"coordinates {', '.join(names)} are needed, not {', '.join(coordinates) or 'none'}"
                )
            try:
                grids = np.broadcast_arrays(*(np.asarray(coordinates[name], dtype=float) for name in names))
            except (TypeError, ValueError, OverflowError) as error:
                raise GeometryError(f"coordinates do not fit together: {error}") from None
            shape = grids[0].shape
            array = np.stack([grid.ravel() for grid in grids], axis=-1)
        values = self.values(array)
        components = len(self.family.components)
        return values.reshape(shape) if components == 1 else values.reshape(*shape, components)

    def values(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """All components at points of shape (n, d)."""
        return evaluate(self.family, self.network, self.theta, points, self.centre, self.slope)

    def check(self, good_below: float = 1e-3) -> Check:
        """Estimate the error, with or without a reference, and judge it: 'good', 'doubtful' or 'wrong', and why.

        Args:
            good_below: The estimate below which the solution is good.

        Returns:
            The estimate, the verdict with its reasons, and what was measured; see the page 'What the verdict means'.
        """
        from .check import check

        return check(self, good_below)

    def to_dict(self, history: bool = False) -> dict[str, Any]:
        """Everything but the weights, ready for JSON."""
        last = self.phases[-1]
        return {
            "family": self.family.name,
            "parameters": dict(self.parameters),
            "conditions": list(last.conditions),
            "index": last.index,
            "seed": self.seed,
            "schedule": self.schedule,
            "error": self.error,
            "diverged": self.diverged,
            "seconds": self.seconds,
            "check": None if self.checked is None else self.checked.to_dict(),
            "start": None if self.start is None else dict(self.start),
            "phases": [phase.to_dict(history) for phase in self.phases],
        }

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())
        sets = "; ".join(",".join(one) or "none" for one in dict.fromkeys(self.conditions))
        error = "no reference" if self.error is None else f"error {self.error:.3g}"
        return f"<Solution of {self.family.name}({parameters}) with {{{sets}}}: {error}, loss {self.loss:.3g}>"

    def _repr_html_(self) -> str:
        columns = ("phase", "optimizer", "conditions", "iterations", "seconds", "loss", "error", "stopped because")
        rows = [
            (
                number,
                phase.optimizer,
                ", ".join(phase.conditions) or "none",
                phase.iterations,
                f"{phase.seconds:.1f}",
                f"{phase.loss:.2e}",
                "-" if phase.error is None else f"{phase.error:.2e}",
                phase.stop_reason,
            )
            for number, phase in enumerate(self.phases, start=1)
        ]
        return show(repr(self)[1:-1], columns, rows)

    def plot(self) -> Any:
        """A matplotlib Figure: the solution, its point-wise error, and the subdomains with their points."""
        from .figures import solution_figure

        return solution_figure(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to an .npz file: plain arrays and JSON, no pickle; all or nothing."""
        arrays = {"theta": self.theta, "centre": self.centre, "slope": self.slope}
        arrays |= {f"collocation{k}": points for k, points in enumerate(self.collocation)}
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "hidden": list(self.hidden),
            "coordinates": list(self.family.coordinates),
            "subdomains": len(self.family.decomposition),
            "geometry": self.family.decomposition.to_dict(),
            **self.to_dict(history=True),
        }
        meta["digest"] = _digest(arrays, meta)
        parts: dict[str, Any] = arrays | {"meta": np.array(json.dumps(meta))}
        return write_whole(a_path(path), lambda file: np.savez(file, **parts))

    @classmethod
    def load(cls, path: str | os.PathLike[str], family: str | Family | type[Family] | None = None) -> Solution:
        """Read a file written by `save`. A family of your own must be passed in: no code is loaded from a file."""
        meta, arrays = _read(a_path(path))
        found = find_family(family) if family is not None else _built_in(meta["family"], path)
        if [found.name, list(found.coordinates), len(found.decomposition)] != [
            meta["family"],
            meta["coordinates"],
            meta["subdomains"],
        ]:
            raise FileError(f"'{path}' holds a solution of '{meta['family']}', which is not the family '{found.name}'")
        here = found.decomposition.to_dict()
        if meta.get("geometry", here) != here:
            raise FileError(
                f"'{path}' was solved on other subdomains than those of the family '{found.name}': {meta['geometry']}, "
                f"not {here}; pass the family with the decomposition that it was solved on"
            )
        phases = tuple(stored_phase(record) for record in meta["phases"])
        return cls(
            family=found,
            parameters=meta["parameters"],
            theta=arrays["theta"],
            hidden=tuple(meta["hidden"]),
            centre=arrays["centre"],
            slope=arrays["slope"],
            phases=phases,
            schedule=meta["schedule"],
            seed=meta["seed"],
            collocation=tuple(arrays[f"collocation{k}"] for k in range(meta["subdomains"])),
            checked=_checked(meta.get("check")),
            start=meta.get("start"),  # older files do not have it
        )


def evaluate(
    family: Family,
    network: Network,
    theta: Float[np.ndarray, "K P"],
    points: Float[np.ndarray, "n d"],
    centre: Float[np.ndarray, "K d"],
    slope: Float[np.ndarray, "K d"],
) -> Float[np.ndarray, "n m"]:
    """Every point by the networks of the subdomains that hold it, averaged."""
    inside = family.decomposition.membership(points)
    outside = ~inside.any(axis=0)
    if outside.any():
        first = ", ".join(f"{n}={v:g}" for n, v in zip(family.coordinates, points[np.argmax(outside)]))
        raise GeometryError(f"{outside.sum()} point(s) lie outside the domain {family.domain!r}, the first at {first}")
    total = np.zeros((len(points), network.outputs))
    for k, mine in enumerate(inside):
        if mine.any():
            scaled = ((points[mine] - centre[k]) * slope[k]).T
            total[mine] += network.evaluate(theta[k], scaled).T
    return total / inside.sum(axis=0)[:, None]


def _built_in(name: str, path: Any) -> Family:
    if name not in BUILT_IN:
        raise FileError(
            f"'{path}' holds a solution of your family '{name}': pass it, as in load(path, family=MyFamily)"
        )
    return find_family(name)


def _checked(record: Mapping[str, Any] | None) -> Check | None:
    from .check import Check

    return None if record is None else Check.from_dict(record)


def stored_phase(record: Mapping[str, Any]) -> PhaseRecord:
    status = next(status for status in Status if status.reason == record["stop_reason"])
    return PhaseRecord(
        optimizer=record["optimizer"],
        conditions=tuple(record["conditions"]),
        index=record["index"],
        iterations=record["iterations"],
        seconds=record["seconds"],
        compile_seconds=record["compile_seconds"],
        loss=float("nan") if record["loss"] is None else record["loss"],
        error=record["error"],
        status=status,
        history=tuple((n, s, float("nan") if loss is None else loss, e) for n, s, loss, e in record["history"]),
    )


def _finite(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if np.isfinite(value) else None


def _digest(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> str:
    """A checksum of all that a file holds."""
    rest = {key: value for key, value in meta.items() if key != "digest"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            contents = {name: file[name] for name in file.files}
        meta = json.loads(str(contents.pop("meta")))
        if meta["format"] != FORMAT:
            raise KeyError("format")
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror or error}") from error
    except Exception as error:  # a foreign file can fail to be read in any way
        raise FileError(f"'{path}' is not a solution file, or is damaged: {error}") from error
    if isinstance(meta.get("version"), int) and meta["version"] > VERSION:
        raise FileError(
            f"'{path}' has format version {meta['version']}; this metalic reads up to {VERSION}: upgrade it"
        )
    if meta.get("digest") != _digest(contents, meta):
        raise FileError(f"'{path}' is damaged: its contents do not match their checksum")
    return meta, contents
