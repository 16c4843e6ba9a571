"""One PDE ready for training: the points of every block, their weights, the set of conditions in force, and the loss.

A *block* is a batch of points where laws hold: B rows (subdomains, or pairs of them) of N points each, padded with
points of weight zero where the counts differ. The loss is literally

    L = sum_k [ lambda_b L_b^k + L_r^k + lambda_I sum_{k' next to k} sum_{n in S} I_n(theta_k, theta_k') ]

with means of squares over the points of each subdomain (L_r, L_b) and of each interface (I_n). The sum runs over
ordered pairs, so that an interface counts from both sides. All arrays are traced: one compiled program serves every
parameter, seed and set of conditions of a family.

Training may *balance* the residual: its rows are multiplied by a factor per subdomain and equation, so that a material
with a thousand times the conductivity does not drown its neighbour. The loss that is reported is always the one above.

A set of conditions pays only for what it uses: conditions are *grouped* by the derivatives they need, a group with no
active condition is skipped (`lax.cond`), and the normal equations loop over the active rows alone, unless the program
holds so few rows that evaluating all of them at once is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..families.fields import Channel
from .blocks import Edges
from .laws import Law, Place, System, View, in_order
from .normal_equations import NormalEquations, Rows
from .objective import Objective

FEW_ROWS = 1000  # of all conditions of a program; up to here all are evaluated at once, else the active ones in a loop


class Block(eqx.Module):
    """Points of one-sided laws (b empty) or of two-sided ones. Letters: B rows, d coordinates, N points."""

    x: Float[Array, "B d N"]
    y: Float[Array, "B d N"]  # the point as the other side sees it: another one only across a periodic boundary
    normal: Float[Array, "B d N"]
    weight: Float[Array, "B N"]
    a: tuple[int, ...] = eqx.field(static=True)
    b: tuple[int, ...] = eqx.field(static=True, default=())

    def sides(self) -> tuple[Float[Array, "B2 d N"], tuple[int, ...]]:
        """The points and whose they are: sides a, then sides b, so that one program evaluates both."""
        return (jnp.concatenate([self.x, self.y]), self.a + self.b) if self.b else (self.x, self.a)

    def split(self, both: Float[Array, "B2 M N"]) -> tuple[Float[Array, "B M N"], Float[Array, "B M N"]]:
        """What belongs to sides a and to sides b; a one-sided block is its own other side."""
        return (both[: len(self.a)], both[len(self.a) :]) if self.b else (both, both)


class Problem(Objective):
    """A member of a family with points and a set of conditions (`active`)."""

    collocation: Block
    boundary: tuple[Block, ...]  # one per boundary condition of the family
    interface: Block | None
    centre: Float[Array, "K d"]
    slope: Float[Array, "K d"]  # inputs of network k are (x - centre_k) * slope_k
    coefficients: Float[Array, "K c"]
    parameters: dict[str, Float[Array, "..."]]  # numbers; arrays that a slab carries (see `slabs`)
    active: Bool[Array, "S"]
    lambda_boundary: Float[Array, ""]
    lambda_interface: Float[Array, "S"]
    system: System = eqx.field(static=True)
    balance: Float[Array, "K R"] | None = None  # factors of the residual's rows; None: all are 1

    @property
    def unbalanced(self) -> Problem:
        return replace(self, balance=None)

    def with_conditions(self, conditions: Any) -> Problem:
        chosen = self.system.catalogue.parse(conditions)
        return replace(self, active=jnp.asarray(chosen.bits, bool), system=self.system.holding(chosen.names))

    @property
    def edges(self) -> Edges:
        """The pairs (low, high) of subdomains that share rows."""
        blocks = [*self.boundary, *([] if self.interface is None else [self.interface])]
        return tuple(sorted({(min(p), max(p)) for block in blocks for p in zip(block.a, block.b) if p[0] != p[1]}))

    @property
    def fixed(self) -> list[tuple[Law, Block, Float[Array, "_B _R _N"]]]:
        """Residual and boundary conditions: each law, its points and the weights of its rows."""
        factors = jnp.ones((1, 1)) if self.balance is None else self.balance**2
        found = [(self.system.residual, self.collocation, factors[..., None] * self.collocation.weight[:, None])]
        for law, block in zip(self.system.boundary, self.boundary):
            found.append((law, block, self.lambda_boundary * block.weight[:, None]))
        return [(law, block, jnp.repeat(w, law.count // w.shape[1], axis=1)) for law, block, w in found]

    def value(self, theta: Float[Array, "K P"]) -> Float[Array, ""]:
        return _over_parts(self, theta, lambda rows: lambda t: _sum_of_squares(rows(t)))

    def value_and_gradient(self, theta: Float[Array, "K P"]) -> tuple[Float[Array, ""], Float[Array, "K P"]]:
        """L and its gradient. Each branch differentiates itself, so that nothing is stored for others."""
        return _over_parts(self, theta, lambda rows: jax.value_and_grad(lambda t: _sum_of_squares(rows(t))))

    def normal_equations(self, theta: Float[Array, "K P"]) -> NormalEquations:
        residual, *boundary = fixed_jacobians(self, theta)
        equations = NormalEquations.empty(theta, self.edges).plus(*residual)
        groups = _groups(self, theta)
        if sum(len(group.conditions) * group.block.x.shape[-1] for group in groups) > FEW_ROWS:
            return _with_active(self, groups, equations.plus(*chain(*boundary)))
        return equations.plus(*chain(*boundary), *condition_jacobians(self, theta))

    def curvature(
        self, theta: Float[Array, "K P"], direction: Float[Array, "K P"], h: float | Float[Array, ""] = 0.1
    ) -> Float[Array, "K P"]:
        """J^T r_vv by a central difference of step h v.

        It steers a step along the curve of steepest descent; the difference's error, of order h^2, does not matter.
        """

        def measure(rows: RowsOf) -> Callable[[Float[Array, "K P"]], Float[Array, "K P"]]:
            def pulled(t: Float[Array, "K P"]) -> Float[Array, "K P"]:
                here, pull = jax.vjp(rows, t)
                around = jax.vmap(rows)(jnp.stack([t + h * direction, t - h * direction]))
                second = [(two[0] - 2 * one + two[1]) / h**2 for one, two in zip(here, around)]
                return pull(second)[0]

            return pulled

        return _over_parts(self, theta, measure)

    def terms(self, theta: Float[Array, "K P"]) -> dict[str, Float[Array, ""]]:
        """Every term of the loss, unweighted: sums over subdomains and ordered pairs of means of squares."""
        plain = replace(self.unbalanced, lambda_boundary=jnp.ones_like(self.lambda_boundary))
        residual, *boundary = [_sum_of_squares([rows]) for rows in fixed_rows(plain, theta)]
        found = {"residual": residual, "boundary": sum(boundary, jnp.zeros(()))}
        if self.interface is not None:
            whole = self.system.holding(self.system.catalogue.names)
            one = jnp.ones(len(self.active), theta.dtype)
            for i, name in enumerate(whole.catalogue.names):
                views = [view for view in whole.views if view.condition == i]
                found[name] = _sum_of_squares(condition_rows(self, self.interface, views, one, theta))
        return found


# --- Channels and rows -----------------------------------------------------------------------------------------------


def _at(problem: Problem, theta: Float[Array, "K P"], x: Float[Array, "B d N"], owners: tuple[int, ...]) -> Any:
    """Weights, scaled points and slopes of the networks `owners`."""
    index = jnp.array(owners)
    weights = theta if owners == tuple(range(len(theta))) else theta[index]
    slope = problem.slope[index]
    return weights, (x - problem.centre[index][..., None]) * slope[..., None], slope


def channel_values(
    problem: Problem,
    theta: Float[Array, "K P"],
    x: Float[Array, "B d N"],
    owners: tuple[int, ...],
    channels: tuple[Channel, ...],
) -> Float[Array, "B C N"]:
    """Values and derivatives of the networks `owners` at their points."""
    network = problem.system.network
    return jax.vmap(lambda t, z, s: network.channels(t, z, s, channels))(*_at(problem, theta, x, owners))


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

    def at_point(a: Array, b: Array, x: Array, y: Array, n: Array, ca: Array, cb: Array) -> Float[Array, "R"]:
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


def _weighted(rows: Float[Array, "B R N"], weight: Float[Array, "B #R N"]) -> Float[Array, "B R N"]:
    return rows * jnp.sqrt(weight)


def fixed_rows(problem: Problem, theta: Float[Array, "K P"]) -> list[Float[Array, "_B _R _N"]]:
    """The rows of residual and boundary conditions; their squares sum to L_r + lambda_b L_b."""
    found = []
    for law, block, weight in problem.fixed:
        sides = block.split(channel_values(problem, theta, *block.sides(), law.channels))
        found.append(_weighted(law_rows(problem, block, law, law.channels, *sides), weight))
    return found


def condition_rows(
    problem: Problem, block: Block, views: Sequence[View], strength: Float[Array, "S"], theta: Float[Array, "K P"]
) -> list[Float[Array, "_B _R _N"]]:
    """The rows of conditions at the interface points; their squares sum to strength_n I_n."""
    channels = _union(views)
    sides = block.split(channel_values(problem, theta, *block.sides(), channels))
    found = []
    for view in views:
        rows = law_rows(problem, block, view.law, channels, *sides, view.swapped)
        found.append(_weighted(rows, view.factor * strength[view.condition] * block.weight[:, None]))
    return found


def _union(views: Sequence[View]) -> tuple[Channel, ...]:
    return in_order({channel for view in views for channel in view.law.channels})


def residual_strength(problem: Problem, thetas: Float[Array, "S K P"]) -> Float[Array, "K R"]:
    """How strongly the residual depends on the networks: its root mean square deviation over sample networks."""
    law, block = problem.system.residual, problem.collocation

    def rows(theta: Float[Array, "K P"]) -> Float[Array, "K R N"]:
        values = channel_values(problem, theta, block.x, block.a, law.channels)
        return law_rows(problem, block, law, law.channels, values, values)

    return jnp.sqrt(jnp.sum(jnp.var(jax.vmap(rows)(thetas), axis=0) * block.weight[:, None], axis=-1))


# --- Sums over parts -------------------------------------------------------------------------------------------------

RowsOf = Callable[[Float[Array, "K P"]], list[Float[Array, "_B _R _N"]]]


def _over_parts(problem: Problem, theta: Float[Array, "K P"], measure: Callable[[RowsOf], Callable[..., Any]]) -> Any:
    """measure(rows)(theta) summed over the fixed rows and the groups of conditions; a group with none active is
    skipped."""
    total = measure(partial(fixed_rows, problem))(theta)
    if problem.interface is None:
        return total
    block, strength = problem.interface, problem.lambda_interface * problem.active
    nothing = lambda t: jax.tree.map(jnp.zeros_like, total)  # noqa: E731
    for group in problem.system.groups:
        of_group = measure(partial(condition_rows, problem, block, group, strength))
        used = jnp.any(problem.active[jnp.array([view.condition for view in group])])
        total = jax.tree.map(jnp.add, total, jax.lax.cond(used, of_group, nothing, theta))
    return total


def _sum_of_squares(rows: list[Array]) -> Float[Array, ""]:
    return sum(jnp.sum(part * part) for part in rows)  # type: ignore[return-value]


# --- Normal equations ------------------------------------------------------------------------------------------------

Cotangents = tuple[Float[Array, "B N"], Float[Array, "B C N"], Float[Array, "B C N"]]


def row_and_cotangents(
    rows_of: Callable[[Float[Array, "B C N"], Float[Array, "B C N"]], Float[Array, "B R N"]],
    weight: Float[Array, "B N"],
    number: int,
    va: Float[Array, "B C N"],
    vb: Float[Array, "B C N"],
) -> Cotangents:
    """Row `number` at every point, weighted, and its derivatives by the channels of either side."""

    def total(a: Float[Array, "B C N"], b: Float[Array, "B C N"]) -> tuple[Float[Array, ""], Float[Array, "B N"]]:
        r = rows_of(a, b)[:, number]
        return jnp.sum(r), r

    (ca, cb), r = jax.grad(total, argnums=(0, 1), has_aux=True)(va, vb)
    root = jnp.sqrt(weight)
    return r * root, ca * root[:, None], cb * root[:, None]


def _jacobian(
    problem: Problem,
    theta: Float[Array, "K P"],
    block: Block,
    channels: tuple[Channel, ...],
    row: Callable[..., Cotangents],
) -> Rows:
    """What `row` makes of the channels of either side, with its derivatives by their weights."""
    network, at = problem.system.network, _at(problem, theta, *block.sides())
    values = jax.vmap(lambda t, z, s: network.channels(t, z, s, channels))(*at)
    r, ca, cb = row(*block.split(values))
    pull: Callable[..., Array] = jax.vmap(lambda t, z, s, c: network.channels_and_pullback(t, z, s, channels)[1](c))
    if not block.b:
        return Rows(r, (pull(*at, ca),), (block.a,))
    return Rows(r, block.split(pull(*at, jnp.concatenate([ca, cb]))), (block.a, block.b))


def fixed_jacobians(problem: Problem, theta: Float[Array, "K P"]) -> list[list[Rows]]:
    """The rows of the residual, and of each boundary condition, with their Jacobians."""
    found = []
    for law, block, weight in problem.fixed:
        rows_of = partial(law_rows, problem, block, law, law.channels)
        rows = [partial(row_and_cotangents, rows_of, weight[:, number], number) for number in range(law.count)]
        found.append([_jacobian(problem, theta, block, law.channels, row) for row in rows])
    return found


def condition_jacobians(problem: Problem, theta: Float[Array, "K P"]) -> list[Rows]:
    """The rows of all conditions of the program with their Jacobians; zero where a condition is not active."""
    return list(chain(*(group.every_row() for group in _groups(problem, theta))))


def _groups(problem: Problem, theta: Float[Array, "K P"]) -> list[_Group]:
    if problem.interface is None:
        return []
    return [_Group(problem, problem.interface, theta, views) for views in problem.system.groups]


def _with_active(problem: Problem, groups: list[_Group], equations: NormalEquations) -> NormalEquations:
    """Loop over the active rows of all conditions; each turn evaluates one row and adds it to the equations. One loop
    for all groups: what it carries is large, and every loop would copy it."""
    numbered = [(n, place, i) for n, group in enumerate(groups) for place, i in enumerate(group.conditions)]
    group_of, place_of, condition_of = (jnp.array(column) for column in zip(*numbered))
    active = problem.active[condition_of]
    order = jnp.argsort(~active, stable=True)

    def body(turn: Int[Array, ""], equations: NormalEquations) -> NormalEquations:
        row = order[turn]
        return equations.plus(jax.lax.switch(group_of[row], [group.row for group in groups], place_of[row]))

    return jax.lax.fori_loop(0, jnp.sum(active), body, equations)


@dataclass(frozen=True, eq=False)
class _Group:
    """The rows of conditions that share one evaluation of the networks."""

    problem: Problem
    block: Block
    theta: Float[Array, "K P"]
    views: tuple[View, ...]

    @property
    def conditions(self) -> list[int]:
        """The condition that each row belongs to."""
        return [view.condition for view in self.views for _ in range(view.law.count)]

    @property
    def _choices(self) -> list[Callable[..., Cotangents]]:
        problem, block, channels = self.problem, self.block, _union(self.views)
        found: list[Callable[..., Cotangents]] = []
        for view in self.views:
            rows_of = partial(law_rows, problem, block, view.law, channels, swapped=view.swapped)
            weight = view.factor * problem.lambda_interface[view.condition] * block.weight
            found += [partial(row_and_cotangents, rows_of, weight, number) for number in range(view.law.count)]
        return found

    def row(self, place: Int[Array, ""]) -> Rows:
        """The row at a place that is known only when the program runs."""
        return self._jacobian(partial(jax.lax.switch, place, self._choices))

    def every_row(self) -> list[Rows]:
        """All rows; those of conditions that are not active are zero."""
        active = self.problem.active
        pairs = zip(self.conditions, self._choices)
        return [self._jacobian(partial(_only_if, active[condition], row)) for condition, row in pairs]

    def _jacobian(self, row: Callable[..., Cotangents]) -> Rows:
        return _jacobian(self.problem, self.theta, self.block, _union(self.views), row)


def _only_if(
    active: Bool[Array, ""], row: Callable[..., Cotangents], va: Float[Array, "B C N"], vb: Float[Array, "B C N"]
) -> Cotangents:
    return jax.tree.map(lambda part: jnp.where(active, part, 0.0), row(va, vb))
