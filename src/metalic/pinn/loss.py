"""The loss as blocks of least-squares rows, for first-order and for Gauss-Newton methods alike.

`value` and `value_and_gradient` serve Adam and L-BFGS; `normal_equations` gives J^T J and J^T r block by block, and
`curvature` the second derivative along a step; no Jacobian of everything is ever formed. One program serves all 2^s
sets of conditions, and a set pays only for what it uses: conditions are *grouped* by the derivatives they need, a
group with no active condition is skipped (`lax.cond`), and the normal equations loop over the active rows alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..families.fields import Channel
from .laws import Law, Place
from .problem import Block, Problem


def gather(problem: Problem, theta: Float[Array, "K P"], rows: tuple[int, ...]) -> Float[Array, "B P"]:
    if rows == tuple(range(len(problem.centre))):
        return theta
    return theta[jnp.array(rows)]


def _scaled(problem: Problem, x: Float[Array, "B d N"], rows: tuple[int, ...]) -> Float[Array, "B d N"]:
    index = jnp.array(rows)
    return (x - problem.centre[index][..., None]) * problem.slope[index][..., None]


def channel_values(
    problem: Problem,
    theta: Float[Array, "K P"],
    x: Float[Array, "B d N"],
    rows: tuple[int, ...],
    channels: tuple[Channel, ...],
) -> Float[Array, "B C N"]:
    """Values and derivatives of the networks `rows` at their points."""
    network = problem.system.network
    return jax.vmap(lambda t, z, s: network.channels(t, z, s, channels))(
        gather(problem, theta, rows), _scaled(problem, x, rows), problem.slope[jnp.array(rows)]
    )


def law_rows(
    problem: Problem,
    block: Block,
    law: Law,
    channels: tuple[Channel, ...],
    va: Float[Array, "B C N"],
    vb: Float[Array, "B C N"],
    swapped: bool = False,
) -> Float[Array, "B R N"]:
    """The unweighted rows of a law at every point of a block; `swapped` looks from side b to side a."""

    def at_point(a, b, x, y, n, ca, cb):
        at, across = Place(x, ca, n, problem.parameters), Place(y, cb, n, problem.parameters)
        if swapped:
            mirrored = Place(y, cb, -n, problem.parameters)
            return law.rows(channels, b, a, mirrored, at)
        return law.rows(channels, a, b, at, across)

    over_points = jax.vmap(at_point, in_axes=(-1, -1, -1, -1, -1, None, None), out_axes=-1)
    table = problem.coefficients
    ca = table[jnp.array(block.a)]
    cb = table[jnp.array(block.b)] if block.b else ca
    return jax.vmap(over_points)(va, vb, block.x, block.y, block.normal, ca, cb)


def _sides(block: Block) -> tuple[Float[Array, "B2 d N"], tuple[int, ...]]:
    """The points of a block and whose they are: sides a, then sides b, so that one program evaluates both."""
    return (jnp.concatenate([block.x, block.y]), block.a + block.b) if block.b else (block.x, block.a)


def _split(block: Block, both: Array) -> tuple[Array, Array]:
    return (both[: len(block.a)], both[len(block.a) :]) if block.b else (both, both)


def _both_sides(
    problem: Problem, block: Block, theta: Float[Array, "K P"], channels: tuple[Channel, ...]
) -> tuple[Float[Array, "B C N"], Float[Array, "B C N"]]:
    return _split(block, channel_values(problem, theta, *_sides(block), channels))


def _law_at(problem: Problem, block: Block, law: Law, theta: Float[Array, "K P"]) -> Float[Array, "B R N"]:
    va, vb = _both_sides(problem, block, theta, law.channels)
    return law_rows(problem, block, law, law.channels, va, vb)


def _weighted(rows: Float[Array, "B R N"], weight: Float[Array, "B N"]) -> Float[Array, "B R N"]:
    return rows * jnp.sqrt(weight)[:, None]


def fixed_rows(problem: Problem, theta: Float[Array, "K P"]) -> list[Float[Array, "B R N"]]:
    """The rows of residual and boundary conditions; their squares sum to L_r + lambda_b L_b."""
    system = problem.system
    found = [_weighted(_law_at(problem, problem.collocation, system.residual, theta), problem.collocation.weight)]
    for block, law in zip(problem.boundary, system.boundary):
        found.append(_weighted(_law_at(problem, block, law, theta), problem.lambda_boundary * block.weight))
    return found


def _union(laws: Sequence[Law]) -> tuple[Channel, ...]:
    return tuple(sorted({c for law in laws for c in law.channels}, key=lambda c: (sum(c[1]), c[1], c[0])))


def condition_rows(
    problem: Problem, theta: Float[Array, "K P"], which: Sequence[int], strength: Float[Array, "S"]
) -> list[Float[Array, "B R N"]]:
    """The rows of the conditions `which`, over ordered pairs of neighbours; their squares sum to strength_n I_n."""
    laws, block = problem.system.conditions, problem.interface
    assert block is not None
    channels = _union([laws[i] for i in which])
    va, vb = _both_sides(problem, block, theta, channels)
    found = []
    for i in which:
        symmetric = problem.system.catalogue.conditions[i].symmetric
        weight = (2 if symmetric else 1) * strength[i] * block.weight
        for swapped in (False,) if symmetric else (False, True):
            found.append(_weighted(law_rows(problem, block, laws[i], channels, va, vb, swapped), weight))
    return found


def groups(problem: Problem) -> list[list[int]]:
    """Conditions that share one set of channels: those up to first order, then one group per higher order."""
    orders = [max(law.order, 1) for law in problem.system.conditions]
    return [[i for i, order in enumerate(orders) if order == wanted] for wanted in sorted(set(orders))]


Rows = Callable[[Float[Array, "K P"]], list[Float[Array, "B R N"]]]


def _over_parts(problem: Problem, theta: Float[Array, "K P"], measure: Callable[[Rows], Callable[..., Any]]) -> Any:
    """measure(rows)(theta) summed over the fixed rows and the groups of conditions; a group with none active is
    skipped."""
    total = measure(lambda t: fixed_rows(problem, t))(theta)
    if problem.interface is None:
        return total
    strength = problem.lambda_interface * problem.active
    nothing = lambda t: jax.tree.map(jnp.zeros_like, total)  # noqa: E731
    for group in groups(problem):
        of_group = measure(partial(_group_rows, problem, group, strength))
        used = jnp.any(problem.active[jnp.array(group)])
        total = jax.tree.map(jnp.add, total, jax.lax.cond(used, of_group, nothing, theta))
    return total


def _group_rows(problem: Problem, group: list[int], strength: Float[Array, "S"], theta: Float[Array, "K P"]):
    return condition_rows(problem, theta, group, strength)


def _sum_of_squares(rows: list[Array]) -> Float[Array, ""]:
    return sum(jnp.sum(part * part) for part in rows)  # type: ignore[return-value]


def value(problem: Problem, theta: Float[Array, "K P"]) -> Float[Array, ""]:
    """The loss L."""
    return _over_parts(problem, theta, lambda rows: lambda t: _sum_of_squares(rows(t)))


def value_and_gradient(problem: Problem, theta: Float[Array, "K P"]) -> tuple[Float[Array, ""], Float[Array, "K P"]]:
    """L and its gradient. Each branch differentiates itself, so that nothing is stored for others."""
    return _over_parts(problem, theta, lambda rows: jax.value_and_grad(lambda t: _sum_of_squares(rows(t))))


def curvature(
    problem: Problem, theta: Float[Array, "K P"], direction: Float[Array, "K P"], h: float = 0.1
) -> Float[Array, "K P"]:
    """J^T r_vv, with r_vv the second derivative of the rows along a direction v, by a central difference of step h v.

    It steers a step along the curve of steepest descent; the difference's error, of order h^2, does not matter there.
    """

    def measure(rows: Rows) -> Callable[..., Any]:
        def pulled(t: Float[Array, "K P"]) -> Float[Array, "K P"]:
            here, pull = jax.vjp(rows, t)
            around = jax.vmap(rows)(jnp.stack([t + h * direction, t - h * direction]))
            second = [(two[0] - 2 * one + two[1]) / h**2 for one, two in zip(here, around)]
            return pull(second)[0]

        return pulled

    return _over_parts(problem, theta, measure)


def terms(problem: Problem, theta: Float[Array, "K P"]) -> dict[str, Float[Array, ""]]:
    """Every term of the loss, unweighted: sums over subdomains and ordered pairs of means of squares."""
    plain = eqx.tree_at(lambda p: p.lambda_boundary, problem, jnp.ones_like(problem.lambda_boundary))
    residual, *boundary = [_sum_of_squares([rows]) for rows in fixed_rows(plain, theta)]
    found = {"residual": residual, "boundary": sum(boundary, jnp.zeros(()))}
    if problem.interface is not None:
        for i, name in enumerate(problem.system.catalogue.names):
            one = jnp.ones(len(problem.system.conditions), theta.dtype)
            found[name] = _sum_of_squares(condition_rows(problem, theta, [i], one))
    return found


class NormalEquations(NamedTuple):
    """L, half its gradient g = J^T r, and J^T J by blocks: `diagonal[k]`, and `coupling[e]` for the edges of the
    interface graph, rows of the higher subdomain. Only lower triangles of diagonal blocks are filled."""

    value: Float[Array, ""]
    gradient: Float[Array, "K P"]
    diagonal: tuple[Float[Array, "P P"], ...]
    coupling: tuple[Float[Array, "P P"], ...]


def edges(problem: Problem) -> tuple[tuple[int, int], ...]:
    """The pairs (low, high) of subdomains that share rows."""
    blocks = [*problem.boundary, *([] if problem.interface is None else [problem.interface])]
    return tuple(sorted({(min(p), max(p)) for block in blocks for p in zip(block.a, block.b) if p[0] != p[1]}))


STRIPS = 4


def gram(rows: Float[Array, "P N"]) -> Float[Array, "P P"]:
    """rows rows^T, lower triangle only (10/16 of the arithmetic with four strips)."""
    size = rows.shape[0]
    cuts = [round(i * size / STRIPS) for i in range(STRIPS + 1)]
    parts = []
    for start, stop in itertools.pairwise(cuts):
        parts.append(jnp.pad(rows[start:stop] @ rows[:stop].T, ((0, 0), (0, size - stop))))
    return jnp.concatenate(parts)


class _Accumulator:
    """Adds weighted rows to normal equations."""

    def __init__(self, problem: Problem, equations: NormalEquations):
        self.edges = edges(problem)
        self.value = equations.value
        self.gradient = equations.gradient
        self.diagonal, self.coupling = list(equations.diagonal), list(equations.coupling)

    def add(self, block: Block, r: Float[Array, "B N"], ja: Float[Array, "B P N"], jb: Float[Array, "B P N"] | None):
        """Rows r with Jacobians ja (and jb for the other side), all weighted."""
        self.value = self.value + jnp.sum(r * r)
        for i, a in enumerate(block.a):
            if jb is None:
                self._own(a, ja[i], r[i])
            elif block.b[i] == a:
                self._own(a, ja[i] + jb[i], r[i])
            else:
                b = block.b[i]
                self._own(a, ja[i], r[i])
                self._own(b, jb[i], r[i])
                e = self.edges.index((min(a, b), max(a, b)))
                self.coupling[e] = self.coupling[e] + (jb[i] @ ja[i].T if a < b else ja[i] @ jb[i].T)

    def _own(self, k: int, j: Float[Array, "P N"], r: Float[Array, "N"]) -> None:
        j = jax.lax.optimization_barrier(j)  # keeps XLA from recomputing or rearranging the rows: 1.6x overall
        self.diagonal[k] = self.diagonal[k] + gram(j)
        self.gradient = self.gradient.at[k].add(j @ r)

    def result(self) -> NormalEquations:
        return NormalEquations(self.value, self.gradient, tuple(self.diagonal), tuple(self.coupling))


def _pullbacks(problem: Problem, theta: Float[Array, "K P"], block: Block, channels: tuple[Channel, ...]):
    """Channels of all sides, and a function from either side's cotangents (B, C, N) to Jacobian rows (B, P, N)."""
    network, (x, rows) = problem.system.network, _sides(block)
    weights, z, slope = gather(problem, theta, rows), _scaled(problem, x, rows), problem.slope[jnp.array(rows)]
    values = jax.vmap(lambda t, q, s: network.channels(t, q, s, channels))(weights, z, slope)

    def pull(ca: Float[Array, "B C N"], cb: Float[Array, "B C N"]) -> tuple[Array, Array | None]:
        one = lambda t, q, s, c: network.channels_and_pullback(t, q, s, channels)[1](c)  # noqa: E731
        if not block.b:
            return jax.vmap(one)(weights, z, slope, ca), None
        return _split(block, jax.vmap(one)(weights, z, slope, jnp.concatenate([ca, cb])))

    return values, pull


def _row_and_cotangents(problem: Problem, block: Block, law: Law, channels, row: int, va, vb, swapped=False):
    """Row number `row` of a law at every point, and its derivatives by the channels of either side."""

    def total(a, b):
        r = law_rows(problem, block, law, channels, a, b, swapped)[:, row]
        return jnp.sum(r), r

    (ca, cb), r = jax.grad(total, argnums=(0, 1), has_aux=True)(va, vb)
    return r, ca, cb


def _add_law(problem: Problem, theta, accumulator: _Accumulator, block: Block, law: Law, factor) -> None:
    values, pull = _pullbacks(problem, theta, block, law.channels)
    root = jnp.sqrt(factor * block.weight)
    for row in range(law.count):
        r, ca, cb = _row_and_cotangents(problem, block, law, law.channels, row, *_split(block, values))
        accumulator.add(block, r * root, *pull(ca * root[:, None], cb * root[:, None]))


Slot = tuple[int, int, bool, float]  # a row of a condition: condition, row, seen from side b, weight


def _slots(problem: Problem, group: list[int]) -> list[Slot]:
    slots: list[Slot] = []
    for i in group:
        symmetric = problem.system.catalogue.conditions[i].symmetric
        for row in range(problem.system.conditions[i].count):
            slots += [(i, row, False, 2.0)] if symmetric else [(i, row, False, 1.0), (i, row, True, 1.0)]
    return slots


def _slot_rows(problem: Problem, theta: Float[Array, "K P"], group: list[int]) -> Callable[..., Any]:
    """A function from a slot's number in its group to its rows and their Jacobians by either side's weights."""
    block, laws = problem.interface, problem.system.conditions
    assert block is not None
    channels = _union([laws[i] for i in group])

    def branch(i: int, row: int, swapped: bool, factor: float):
        root = jnp.sqrt(factor * problem.lambda_interface * block.weight)

        def evaluate(va, vb):
            r, ca, cb = _row_and_cotangents(problem, block, laws[i], channels, row, va, vb, swapped)
            return r * root, ca * root[:, None], cb * root[:, None]

        return evaluate

    branches = [branch(*slot) for slot in _slots(problem, group)]

    def rows(slot):
        values, pull = _pullbacks(problem, theta, block, channels)
        r, ca, cb = jax.lax.switch(slot, branches, *_split(block, values))
        return r, *pull(ca, cb)

    return rows


def _add_conditions(problem: Problem, theta: Float[Array, "K P"], equations: NormalEquations) -> NormalEquations:
    """Loop over the active rows of all conditions; each turn evaluates one row and adds it to the equations. One loop
    for all groups: what it carries is large, and every loop would copy it."""
    block = problem.interface
    assert block is not None
    slots = [
        (slot[0], number, place)
        for number, group in enumerate(groups(problem))
        for place, slot in enumerate(_slots(problem, group))
    ]
    condition, member, place = (jnp.array(column) for column in zip(*slots))
    active = problem.active[condition]
    order = jnp.argsort(~active, stable=True)
    of_group = [_slot_rows(problem, theta, group) for group in groups(problem)]

    def body(turn, carry):
        slot = order[turn]
        r, ja, jb = jax.lax.switch(member[slot], of_group, place[slot])
        accumulator = _Accumulator(problem, carry)
        accumulator.add(block, r, ja, jb)
        return accumulator.result()

    return jax.lax.fori_loop(0, jnp.sum(active), body, equations)


def normal_equations(problem: Problem, theta: Float[Array, "K P"]) -> NormalEquations:
    """The Gauss-Newton system of L at theta."""
    count, size = theta.shape
    empty = jnp.zeros((size, size), theta.dtype)
    start = NormalEquations(
        jnp.zeros((), theta.dtype), jnp.zeros_like(theta), (empty,) * count, (empty,) * len(edges(problem))
    )
    accumulator = _Accumulator(problem, start)
    one = jnp.ones((), theta.dtype)
    _add_law(problem, theta, accumulator, problem.collocation, problem.system.residual, one)
    for block, law in zip(problem.boundary, problem.system.boundary):
        _add_law(problem, theta, accumulator, block, law, problem.lambda_boundary)
    equations = accumulator.result()
    if problem.interface is not None:
        equations = _add_conditions(problem, theta, equations)
    return equations
