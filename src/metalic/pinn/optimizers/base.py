"""What an optimizer is: `init` makes a state, `step` advances it by one iteration; the state says when it is done.

States are pytrees and every state has the fields of `Progress`. `advance` runs many steps as one compiled program.
An optimizer is a frozen dataclass of plain numbers; equal ones share their compiled programs.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from enum import IntEnum
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...errors import ScheduleError
from ...registry import Registry
from ...validation import integer, real
from ..objective import Objective


class Status(IntEnum):
    """Why a run stopped; failures are values, not exceptions."""

    RUNNING = 0
    GRADIENT = 1
    CHANGE = 2
    STALLED = 3
    DIVERGED = 4
    TIME = 5
    STOPPED = 6
    BUDGET = 7
    ENOUGH = 8

    @property
    def reason(self) -> str:
        return {
            Status.RUNNING: "running",
            Status.GRADIENT: "gradient below tolerance",
            Status.CHANGE: "change below tolerance",
            Status.STALLED: "no further descent",
            Status.DIVERGED: "diverged (loss not finite)",
            Status.TIME: "time limit reached",
            Status.STOPPED: "stopped on request",
            Status.BUDGET: "budget used up",
            Status.ENOUGH: "level with library",
        }[self]


class Progress(eqx.Module):
    """What every state has."""

    theta: Float[Array, "K P"]
    loss: Float[Array, ""]
    status: Int[Array, ""]
    inner: Any  # what the optimizer keeps for itself


class Optimizer(abc.ABC):
    """The interface. `chunk` is how many iterations go by between two reports; `finds_start` marks an optimizer whose
    work is to find a start for the next phase, which a solve that has a start leaves out."""

    name: str = ""
    chunk: int = 100
    finds_start: bool = False

    def __post_init__(self) -> None:
        """Every option of a dataclass whose default is a number must be one: counts from 1, others from 0."""
        for option in dataclasses.fields(self):  # type: ignore[arg-type]
            given = getattr(self, option.name)
            if isinstance(option.default, bool) or not isinstance(option.default, int | float):
                continue
            value = integer(given, least=1) if isinstance(option.default, int) else real(given, least=0)
            if value is None:
                what = "an integer of at least 1" if isinstance(option.default, int) else "a number of at least 0"
                raise ScheduleError(f"'{option.name}' of {type(self).__name__} is {what}, not {given!r}")
            object.__setattr__(self, option.name, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"name": self.name, **dataclasses.asdict(self)}  # type: ignore[call-overload]

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Optimizer:
        """The built-in optimizer that `to_dict` wrote.

        Raises:
            ScheduleError: There is no such optimizer, or it does not have these options.
        """
        options = dict(values)
        kind = OPTIMIZERS.named(options.pop("name", None), " One of your own must be passed")
        try:
            return kind(**options)
        except TypeError as error:
            raise ScheduleError(f"optimizer '{kind.name}' cannot be made from {options}: {error}") from error

    @abc.abstractmethod
    def init(self, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
        """The state at the start."""

    @abc.abstractmethod
    def step(self, objective: Objective, state: Progress) -> Progress:
        """One iteration."""

    def resume(self, objective: Objective, state: Progress) -> Progress:
        """The state after the objective has changed under it; keeps what it has learned of the landscape."""
        return unevaluated(state.theta, state.inner)


OPTIMIZERS: Registry[type[Optimizer]] = Registry("optimizer", Optimizer, "metalic.pinn.optimizers", ScheduleError)


def unevaluated(theta: Float[Array, "K P"], inner: Any) -> Progress:
    """A state whose loss the first step will compute (a program that only evaluates would double compilation)."""
    return Progress(theta, jnp.asarray(jnp.inf, theta.dtype), jnp.asarray(int(Status.RUNNING)), inner)


def status_of(loss: Float[Array, ""], *tests: tuple[Status, Any]) -> Int[Array, ""]:
    """DIVERGED if the loss is not finite, else the first test that holds, else RUNNING."""
    status = jnp.asarray(int(Status.RUNNING))
    for code, holds in reversed(tests):
        status = jnp.where(holds, int(code), status)
    return jnp.where(jnp.isfinite(loss), status, int(Status.DIVERGED))


@partial(jax.jit, static_argnums=0)
def start(optimizer: Optimizer, objective: Objective, theta: Float[Array, "K P"]) -> Progress:
    return _strongly_typed(optimizer.init(objective, theta))


@partial(jax.jit, static_argnums=0)
def restart(optimizer: Optimizer, objective: Objective, state: Progress) -> Progress:
    return _strongly_typed(optimizer.resume(objective, state))


def _strongly_typed(state: Progress) -> Progress:
    """A state like those that come out of a loop: a weak type would make `advance` compile twice."""
    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, jnp.asarray(leaf).dtype), state)


@partial(jax.jit, static_argnums=0)
def advance(
    optimizer: Optimizer, objective: Objective, state: Progress, iterations: Int[Array, ""]
) -> tuple[Progress, Int[Array, ""]]:
    """Up to `iterations` steps, fewer if the status changes; also how many were done."""

    def going_on(carry: tuple[Progress, Int[Array, ""]]) -> Array:
        state, done = carry
        return (done < iterations) & (state.status == int(Status.RUNNING))

    def once(carry: tuple[Progress, Int[Array, ""]]) -> tuple[Progress, Int[Array, ""]]:
        state, done = carry
        return _strongly_typed(optimizer.step(objective, state)), done + 1

    return jax.lax.while_loop(going_on, once, (state, jnp.zeros_like(iterations)))
