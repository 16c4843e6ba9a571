"""Trained networks as rows of a ledger: plain arrays with their shape and a checksum, no pickle. JAX is not needed to
read them."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from ..families.base import Family
    from ..pinn.solution import PhaseRecord, Solution

COLUMNS = ("play", "hidden", "geometry", "dtype", "shape", "theta", "scaling", "history", "branch", "start", "checksum")
DTYPES = ("float32", "float64")
HISTORY = 50  # points of a history that are kept
LARGEST = 10**8  # numbers in one set of networks

Moment = tuple[int, int, float, float | None, float | None]
"""(phase, iteration, seconds, loss, error)."""


@dataclass(frozen=True)
class Networks:
    """The networks of one solution, and how its loss and error fell.

    Networks with the same `branch` were made one from the other by continuation: their weights vary continuously with
    the parameters, so that they can be interpolated.
    """

    theta: Float[np.ndarray, "K P"] = field(repr=False)
    hidden: tuple[int, ...]
    centre: Float[np.ndarray, "K d"] = field(repr=False)
    slope: Float[np.ndarray, "K d"] = field(repr=False)
    geometry: str
    history: tuple[Moment, ...] = field(repr=False, default=())
    branch: int | None = None
    start: Mapping[str, Any] | None = None
    activation: str = "tanh"

    @property
    def layers(self) -> Any:
        """As the column `hidden` keeps them: the widths alone for tanh, as in version 0.1."""
        widths = list(self.hidden)
        return widths if self.activation == "tanh" else {"hidden": widths, "activation": self.activation}

    @classmethod
    def of(cls, solution: Solution, branch: int | None = None, dtype: Any = None, history: bool = True) -> Networks:
        """The networks of a solution, in its own precision unless a `dtype` is given."""
        return cls(
            theta=np.asarray(solution.theta, dtype=dtype),
            hidden=tuple(solution.hidden),
            centre=np.asarray(solution.centre, dtype=float),
            slope=np.asarray(solution.slope, dtype=float),
            geometry=geometry_of(solution.family),
            history=thinned(solution.phases) if history else (),
            branch=branch,
            start=solution.start,
            activation=solution.activation,
        )

    def values(self, play: int) -> tuple[Any, ...]:
        """The values as SQLite stores them, in the order of the columns."""
        start = None if self.start is None else json.dumps(dict(self.start))
        found = (
            *(play, json.dumps(self.layers), self.geometry, self.theta.dtype.name, json.dumps(self.theta.shape)),
            *(np.ascontiguousarray(self.theta).tobytes(), np.stack([self.centre, self.slope]).tobytes()),
            *(json.dumps(self.history), self.branch, start),
        )
        return (*found, _checksum(found))

    @classmethod
    def read(cls, values: Sequence[Any]) -> Networks:
        """From a row; a ValueError says what is wrong with it."""
        row = dict(zip(COLUMNS, values))
        if row["checksum"] != _checksum(values[:-1]):
            raise ValueError(f"the networks of play {row['play']} do not match their checksum")
        layers, shape = json.loads(row["hidden"]), tuple(json.loads(row["shape"]))
        layers = layers if isinstance(layers, dict) else {"hidden": layers}
        if row["dtype"] not in DTYPES or len(shape) != 2 or not 0 < math.prod(shape) <= LARGEST:
            raise ValueError(f"the networks of play {row['play']} have an impossible shape or type")
        scaling = np.frombuffer(row["scaling"], dtype=float).reshape(2, shape[0], -1)
        return cls(
            theta=np.frombuffer(row["theta"], dtype=row["dtype"]).reshape(shape),
            hidden=tuple(layers["hidden"]),
            activation=layers.get("activation", "tanh"),
            centre=scaling[0],
            slope=scaling[1],
            geometry=row["geometry"],
            history=tuple(map(tuple, json.loads(row["history"]))),
            branch=row["branch"],
            start=None if row["start"] is None else json.loads(row["start"]),
        )

    def fit(self, family: Family) -> bool:
        """Whether they are networks of a family, on its decomposition."""
        widths = (len(family.coordinates), *self.hidden, len(family.components))
        size = sum((a + 1) * b for a, b in itertools.pairwise(widths))
        same = self.theta.shape == (len(family.decomposition), size) and self.centre.shape[1] == widths[0]
        return same and self.geometry == geometry_of(family)


def geometry_of(family: Family) -> str:
    """A decomposition as a text by which two can be compared."""
    return json.dumps(family.decomposition.to_dict(), sort_keys=True)


def thinned(phases: Sequence[PhaseRecord]) -> tuple[Moment, ...]:
    """The history of a solve, at most 50 moments of it; the last of each phase stays."""
    moments = [
        (number, n, round(seconds, 4), loss if math.isfinite(loss) else None, error)
        for number, phase in enumerate(phases)
        for n, seconds, loss, error in phase.history
    ]
    ends = {len(moments) - 1} | {i for i in range(len(moments) - 1) if moments[i][0] != moments[i + 1][0]}
    room = max(HISTORY - len(ends), 1)
    kept = ends | set(np.linspace(0, max(len(moments) - 1, 0), room).round().astype(int).tolist())
    return tuple(moment for i, moment in enumerate(moments) if i in kept)


def _checksum(values: Sequence[Any]) -> str:
    """The checksum of a row as SQLite returns it."""
    digest = hashlib.sha256()
    for value in values:
        part = value if isinstance(value, bytes) else json.dumps(value).encode()
        digest.update(f"{len(part)} ".encode() + part)
    return digest.hexdigest()
