"""The laws of a problem at its points: their rows, the derivatives of these, and how large the terms in them are.

A row r(c) is a function of channels c (values and derivatives of the unknown at one point). Its terms have the size

    size^2 = mean r(0)^2 + sum_i mean (dr/dc_i)^2 mean c_i^2,

with the mean of c_i^2 over the whole domain: for u_xx - f the squares of u_xx and of f, for a jump of u the square of
u. Rows are compared with it, whatever the units of an equation.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .laws import Law, in_order
from .problem import Block, Problem, channel_values, law_rows, row_and_cotangents


class Term(NamedTuple):
    """A law, the points where it holds, and the weight of its squares there."""

    name: str
    law: Law
    block: Block
    weight: Float[Array, "B N"]
    swapped: bool


class Row(NamedTuple):
    """One row of a law at all points of a block, unweighted, and its derivatives by the channels of either side."""

    r: Float[Array, "B N"]
    at_zero: Float[Array, "B N"]
    by_a: Float[Array, "B C N"]
    by_b: Float[Array, "B C N"]


def loss_terms(problem: Problem) -> list[Term]:
    """The residual, each boundary condition, and every condition of the catalogue at the interfaces."""
    names = ["residual", *(f"boundary condition {i + 1}" for i in range(len(problem.boundary)))]
    plain = problem.unbalanced.fixed  # so that all rows of a law weigh the same
    found = [Term(name, law, block, weight[:, 0], False) for name, (law, block, weight) in zip(names, plain)]
    block = problem.interface
    if block is not None:
        for view in problem.system.views:
            weight = view.factor * problem.lambda_interface[view.condition] * block.weight
            found.append(Term(view.law.name, view.law, block, weight, view.swapped))
    return found


@eqx.filter_jit
def network_channels(problem: Problem, theta: Float[Array, "K P"]) -> list[Float[Array, "_B2 _C _N"]]:
    """The channels of every term, of sides a and then of sides b."""
    return [channel_values(problem, theta, *term.block.sides(), term.law.channels) for term in loss_terms(problem)]


@eqx.filter_jit
def channel_sizes(problem: Problem, theta: Float[Array, "K P"]) -> list[Float[Array, "_C"]]:
    """For every term the mean squares of its channels over the domain."""
    block = problem.collocation
    every = in_order({channel for term in loss_terms(problem) for channel in term.law.channels})
    values = channel_values(problem, theta, block.x, block.a, every)
    squares = dict(zip(every, jnp.mean(values**2, axis=(0, 2))))
    return [jnp.stack([squares[channel] for channel in term.law.channels]) for term in loss_terms(problem)]


@eqx.filter_jit
def linearise(problem: Problem, channels: list[Float[Array, "_B2 _C _N"]]) -> list[list[Row]]:
    """The rows of every term, from its channels."""
    return [_rows(problem, term, values) for term, values in zip(loss_terms(problem), channels)]


def _rows(problem: Problem, term: Term, values: Float[Array, "B2 C N"]) -> list[Row]:
    block, law = term.block, term.law
    rows_of = partial(law_rows, problem, block, law, law.channels, swapped=term.swapped)
    va, vb = block.split(values)
    at_zero = rows_of(jnp.zeros_like(va), jnp.zeros_like(vb))
    found = []
    for number in range(law.count):
        r, by_a, by_b = row_and_cotangents(rows_of, jnp.ones_like(block.weight), number, va, vb)
        found.append(Row(r, at_zero[:, number], by_a, by_b))
    return found
