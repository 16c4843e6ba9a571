"""Points that depend on the residual: half of them gather where it is large; fresh points show what was missed."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .problem import Block, Problem, channel_values, law_rows
from .sampler import Sampler
from .setup import SolveSetup

CANDIDATES = 5  # how many times more points adaptive sampling looks at than it keeps
# Mean square of the residual, fresh over trained points: sometimes above 10 in good solves, 1e3 to 2e5 beside a layer
MISSED = 100.0


def misses(setup: SolveSetup, problem: Problem, theta: jax.Array, stream: Sequence[int]) -> bool:
    """Whether the residual is much larger on fresh points than on those of the problem, in some subdomain."""
    fresh = _candidates(setup, np.random.default_rng(np.random.SeedSequence([setup.seed, 4, *stream])))
    on_fresh, trained = (_mean_square(problem, block, theta) for block in (fresh, problem.collocation))
    return bool(np.any(on_fresh > MISSED * trained))


def adapted(setup: SolveSetup, problem: Problem, theta: jax.Array, spread: Block, stream: int) -> Block:
    """Half of the points spread out, half drawn from candidates with probability proportional to |r|."""
    rng = np.random.default_rng(np.random.SeedSequence([setup.seed, 2, stream]))
    candidates = _candidates(setup, rng)
    strength = residual_sizes(problem, candidates, theta)
    x, options = np.array(spread.x), np.asarray(candidates.x)
    for k, row in enumerate(strength):
        half = int(np.sum(np.asarray(spread.weight[k]) > 0)) // 2
        chance = np.where(np.asarray(candidates.weight[k]) > 0, row + 1e-12 * row.max() + 1e-300, 0.0)
        picked = rng.choice(len(chance), size=half, replace=False, p=chance / chance.sum())
        x[k][:, :half] = options[k][:, picked]
    return eqx.tree_at(lambda block: (block.x, block.y), spread, (x, x))


def _candidates(setup: SolveSetup, rng: np.random.Generator) -> Block:
    """Many random points."""
    wider = setup.sampler.points.times(CANDIDATES)
    return Sampler(setup.system.family, wider, "random").collocation(rng).block(setup.options.precision)


def _mean_square(problem: Problem, block: Block, theta: jax.Array) -> Float[np.ndarray, "K"]:
    """The mean square of the residual over the points of a block, by subdomain."""
    return np.sum(residual_sizes(problem, block, theta) ** 2 * np.asarray(block.weight), axis=1)


def residual_sizes(problem: Problem, block: Block, theta: jax.Array) -> Float[np.ndarray, "K N"]:
    """|residual| at the points of a block, as many at once as there are collocation points: one program does it."""
    many, most = block.x.shape[-1], problem.collocation.x.shape[-1]
    slices = [slice(n, n + most) for n in range(0, many, most)]
    parts = [jax.tree.map(lambda leaf, cut=cut: leaf[..., cut], block) for cut in slices]
    return np.concatenate([np.asarray(_residual_size(problem, part, theta)) for part in parts], axis=1)


@eqx.filter_jit
def _residual_size(problem: Problem, block: Block, theta: jax.Array) -> jax.Array:
    law = problem.system.residual
    values = channel_values(problem, theta, block.x, block.a, law.channels)
    return jnp.sqrt(jnp.sum(law_rows(problem, block, law, law.channels, values, values) ** 2, axis=1))
