"""Compile the program of the next phase in a thread while this phase trains.

The compiler releases Python's lock, so that both run at the same time where there is a second core; elsewhere it would
only slow the training down. A program that comes from here is the one that the phase would have compiled itself.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ... import runtime
from ..objective import Objective
from .base import Optimizer, Progress, advance, start


def compiled(optimizer: Optimizer, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
    """The state at the start; when this returns, the optimizer's programs are compiled."""
    state = start(optimizer, objective, theta)
    jax.block_until_ready(advance(optimizer, objective, state, jnp.asarray(0)))
    return state


class Ahead:
    """At most one compilation at a time, during the training."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def begin(self, optimizer: Optimizer, objective: Objective, theta: Float[Array, "K P"]) -> None:
        """Start to compile, if there is a core for it."""
        self.wait()
        if runtime.has_spare_core():
            self._thread = threading.Thread(target=_compile, args=(optimizer, objective, theta), daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until what was begun is compiled."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def _compile(optimizer: Optimizer, objective: Objective, theta: Float[Array, "K P"]) -> None:
    runtime.step_aside()
    with suppress(Exception), jax.enable_x64(theta.dtype == jnp.float64):  # an error comes again when the phase begins
        compiled(optimizer, objective, theta)
