"""What a solve gives: networks that can be called, and the history of their training."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float

from ..errors import FileError
from ..families.base import Family, parameters_text
from ..notebook import show
from ..sets import Decision
from .optimizers import Status
from .problem import Problem
from .reader import PointLaw, Reader, Readout
from .trained import Trained

if TYPE_CHECKING:
    from .check import Check

ERROR_CAP = 100.0


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

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> PhaseRecord:
        """What `to_dict(history=True)` gave."""
        status = next(status for status in Status if status.reason == record["stop_reason"])
        return cls(
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


@dataclass(frozen=True)
class Solution(Trained):
    """A solved PDE. Call it: `solution(x=0.3, y=0.8)`, with numbers or arrays, or `solution(points)` with (n, d).

    Solutions are made by `metalic.solve` and `Solution.load`.

    Attributes:
        family: The family.
        parameters: The parameters of the member.
        theta: The weights, a row per subdomain.
        hidden: The widths of the hidden layers.
        activation: The function between layers, 'tanh' or 'sine'.
        centre: What is subtracted from the inputs of each network.
        slope: What the inputs are then multiplied by.
        phases: How each phase went: optimizer, conditions, iterations, seconds, loss, error, why it ended.
        schedule: The name of the schedule.
        seed: The seed.
        collocation: The collocation points of each subdomain.
        problem: The training problem as it was at the end; None in a solution that was loaded.
        checked: The check that `metalic.solve` has made; None if it was asked not to.
        start: What the solve started from: `source`, `parameters` and `kind`; None if it started cold.
        slabs: The number of slabs, if the solution was marched in time (`metalic.march`).

    Raises:
        GeometryError: It is called with points outside the domain, or with coordinates that are not the family's.

    Example:
        >>> import metalic as mt
        >>> solution = mt.solve("poisson", "u,c", "quick", s=5)
        >>> solution(x=[0.25, 0.5, 0.75], y=0.5).shape
        (3,)
        >>> solution.phases[-1].optimizer, solution.schedule
        ('gauss-newton', 'quick')
    """

    phases: tuple[PhaseRecord, ...]
    schedule: str
    seed: int
    collocation: tuple[Float[np.ndarray, "_N d"], ...] = field(repr=False)
    problem: Problem | None = field(repr=False, default=None)
    checked: Check | None = field(repr=False, default=None)
    start: Mapping[str, Any] | None = None
    slabs: int | None = None

    @property
    def error(self) -> float | None:
        """The relative L2 error against the family's reference (100 for a diverged run); None without a reference."""
        return self.phases[-1].error

    def with_error(self, error: float | None) -> Solution:
        """This solution with another error of its last phase, measured against another reference."""
        return replace(self, phases=(*self.phases[:-1], replace(self.phases[-1], error=error)))

    @property
    def loss(self) -> float:
        """The loss at the end."""
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
        """Whether the loss is not a number."""
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
        return Reader(self)(points, **coordinates)

    # ---- what is read off

    def side(self, subdomain: str) -> Reader:
        """The solution by the network of one subdomain, on that subdomain and its interfaces: `solution.side("left")`.

        The solution itself takes the average of both sides on an interface, where a derivative may rightly jump.
        """
        return Reader(self, subdomain)

    def d(self, *coordinates: str) -> Readout:
        """A derivative, to be called like the solution: `solution.d("xx")(x=0.3, y=0.8)`.

        Args:
            *coordinates: Names run together, "xxt", or one by one, "x", "x", "t".
        """
        return Reader(self).d(*coordinates)

    def flux(self, points: Any = None, /, **coordinates: Any) -> dict[str, np.ndarray]:
        """The family's flux at points: an array for each coordinate that it names."""
        return Reader(self).flux(points, **coordinates)

    def residual(self, points: Any = None, /, **coordinates: Any) -> Any:
        """The residual of the equation at points; an array for each equation of a system."""
        return Reader(self).residual(points, **coordinates)

    def read(self, law: PointLaw) -> Readout:
        """Evaluate a law for one point, such as `solution.read(lambda u, p: u.x**2 + u.y**2)`.

        Args:
            law: A function of the unknown, the point, and those parameters of the family that it names.

        Returns:
            What can be called at points, or integrated.
        """
        return Reader(self).read(law)

    def integral(self, law: PointLaw | None = None, over: str | None = None, nodes: int | None = None) -> Any:
        """The integral of the solution, or of what a law says, by Gauss's rule.

        Args:
            law: A function of the unknown and the point; None integrates the solution itself.
            over: A subdomain 'left', a face 'x=0', an interface 'left|right'; None takes the whole domain.
            nodes: The number of nodes along each coordinate of a box; by default 200 on lines, 80 on areas, 30 in
                three dimensions.
        """
        return Reader(self).integral(law, over, nodes)

    def flow(self, through: str, nodes: int | None = None) -> Any:
        """The integral of the flux's normal component: out through a face 'x=0', or through an interface
        'left|right' from left to right."""
        return Reader(self).flow(through, nodes)

    def sensitivity(self, parameter: str) -> Readout:
        """The derivative of the solution with respect to a parameter, to be called like the solution.

        It comes from the normal equations of Gauss-Newton: of all directions in which the networks can move, the one
        that keeps the equation and its conditions fulfilled, to first order, as the parameter changes.

        Args:
            parameter: The parameter's name.
        """
        from .sensitivity import sensitivity

        return sensitivity(self, parameter)

    def as_function(self) -> Callable[..., jax.Array]:
        """The solution as a pure JAX function of its coordinates, for `jax.grad`, `jax.jit` and `jax.vmap`."""
        from .export import as_function

        return as_function(self)

    def to_xarray(self, **axes: Any) -> Any:
        """The solution on a grid as an `xarray.Dataset`; NaN outside the domain.

        Args:
            **axes: The values along each coordinate; those that are left out are those of the error's grid.
        """
        from .export import to_xarray

        return to_xarray(self, **axes)

    def to_vtk(self, path: str | os.PathLike[str], cells: int = 50) -> Path:
        """Write the solution to a file for ParaView and others (.vtu, .vtk), each subdomain with its own values.

        Args:
            path: The file.
            cells: The number of cells along each coordinate of a box.
        """
        from .export import to_vtk

        return to_vtk(self, path, cells)

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
            **({} if self.slabs is None else {"slabs": self.slabs}),
            "phases": [phase.to_dict(history) for phase in self.phases],
        }

    def __repr__(self) -> str:
        sets = "; ".join(",".join(one) or "none" for one in dict.fromkeys(self.conditions))
        error = "no reference" if self.error is None else f"error {self.error:.3g}"
        member = f"{self.family.name}({parameters_text(self.parameters)})"
        return f"<Solution of {member} with {{{sets}}}: {error}, loss {self.loss:.3g}>"

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
        return show(repr(self)[1:-1], columns, rows, draw=None if self.diverged else self.plot)

    def plot(self) -> Any:
        """A matplotlib Figure: the solution; its point-wise error, or the residual where there is no reference; and the
        subdomains with their points."""
        from .figures import solution_figure

        return solution_figure(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to an .npz file: plain arrays and JSON, no pickle; all or nothing."""
        from .solution_files import save

        return save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], family: str | Family | type[Family] | None = None) -> Solution:
        """Read a file written by `save`. A family of your own must be passed in: no code is loaded from a file."""
        from .solution_files import load

        return load(path, family)


def _finite(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if np.isfinite(value) else None
