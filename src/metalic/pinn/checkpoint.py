"""A solve in progress as a file, so that a long one can be continued if its process is killed.

The file holds the state of the optimizer, the points, and the records of the phases so far: arrays and JSON, no pickle.
It is replaced as a whole, at most once a minute and only between two chunks of iterations. A solve that continues from
it takes the same steps as one that was never interrupted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..atomic import write_whole
from ..conditions import Catalogue
from ..errors import FileError
from ..sets import Decision
from .solution import PhaseRecord

FORMAT = "metalic-checkpoint"
EVERY = 60.0  # seconds between two writes


@dataclass(frozen=True)
class Snapshot:
    """A solve between two chunks: `meta` is ready for JSON, `leaves` are the arrays of its state and points."""

    meta: dict[str, Any]
    leaves: list[np.ndarray]

    def fill(self, tree: Any) -> Any:
        """The tree with these leaves."""
        old, structure = jax.tree.flatten(tree)
        if [leaf.shape for leaf in old] != [leaf.shape for leaf in self.leaves]:
            raise FileError("the checkpoint belongs to another solve: the shapes of its arrays differ")
        return jax.tree.unflatten(structure, [jax.numpy.asarray(leaf) for leaf in self.leaves])

    def records(self, catalogue: Catalogue) -> list[PhaseRecord]:
        """The phases that were finished."""
        return [
            replace(PhaseRecord.from_dict(one), score=one["score"], decision=_decision(one["decision"], catalogue))
            for one in self.meta["records"]
        ]

    def decision(self, catalogue: Catalogue) -> Decision:
        """That of the phase in progress."""
        return _decision(self.meta["decision"], catalogue)


def progress_of(records: Sequence[PhaseRecord], decision: Decision, **phase: Any) -> dict[str, Any]:
    """What a snapshot holds besides arrays: finished phases, and those of `phase` about the one in progress."""
    finished = [
        one.to_dict(history=True) | {"score": one.score, "decision": one.decision and one.decision.to_dict()}
        for one in records
    ]
    return {"records": finished, "decision": decision.to_dict(), **phase}


def _decision(stored: dict[str, Any], catalogue: Catalogue) -> Decision:
    return Decision(catalogue.parse(stored["index"]), stored["mean"], stored["std"])


class Checkpoint:
    """The file of one solve. `identity` says which: everything that decides the result, ready for JSON."""

    def __init__(self, path: Path, identity: dict[str, Any]):
        self.path, self.identity = path, json.loads(json.dumps(identity))
        self.written = time.monotonic()

    def read(self) -> Snapshot | None:
        """What the file holds; None if there is no file.

        Raises:
            FileError: The file is damaged, or belongs to another solve.
        """
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                meta = json.loads(str(file["meta"]))
                leaves = [file[f"leaf{n}"] for n in range(meta["leaves"])]
            found = meta["identity"] if meta["format"] == FORMAT else None
        except Exception as error:  # a foreign file can fail to be read in any way
            raise FileError(f"'{self.path}' is not a checkpoint, or is damaged: {error}") from error
        if found != self.identity:
            other = [key for key in self.identity if found is None or found.get(key) != self.identity[key]]
            raise FileError(
                f"checkpoint '{self.path}' belongs to another solve ({', '.join(other)} differ): give another path, or "
                "delete the file"
            )
        return Snapshot(meta["progress"], leaves)

    @property
    def due(self) -> bool:
        return time.monotonic() - self.written >= EVERY

    def write(self, progress: dict[str, Any], tree: Any) -> None:
        """Replace the file."""
        leaves = {f"leaf{n}": np.asarray(leaf) for n, leaf in enumerate(jax.tree.leaves(tree))}
        meta = {"format": FORMAT, "identity": self.identity, "leaves": len(leaves), "progress": progress}
        parts: dict[str, Any] = leaves | {"meta": np.array(json.dumps(meta))}
        write_whole(self.path, lambda file: np.savez(file, **parts))
        self.written = time.monotonic()
