"""How a solution changes with a parameter, by implicit differentiation.

Training makes the weighted rows r(theta, s) small. As the parameter s moves, the weights follow so that the rows stay
small: the change theta' minimises |J theta' + dr/ds|^2, with the Jacobian J of the rows by the weights, that is

    J^T J theta' = -J^T dr/ds,

the normal equations of Gauss-Newton, here on fresh points and with the complete set of interface conditions, whatever
set was trained. Then du/ds = (du/dtheta) theta'. The matrix is nearly singular; it is factorised with a damping that is
as small as its rounding allows, and repeated corrections by the same factor take back what the damping changes.
"""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import ParameterError
from .laws import View
from .normal_equations import NormalEquations
from .problem import Problem, condition_rows, fixed_rows
from .reader import Readout
from .refinement import fresh_problem
from .solution import Solution

DAMPING, LARGEST_DAMPING = 1e-14, 1e-6  # of the diagonal of J^T J
CORRECTIONS = 10


def sensitivity(solution: Solution, parameter: str) -> Readout:
    """du/ds at points.

    Args:
        solution: The solution.
        parameter: The name of s.

    Raises:
        ParameterError: There is no such parameter, or the equations do not determine the change.
    """
    family = solution.family
    if parameter not in family.parameters:
        known = ", ".join(family.parameters) or "none"
        raise ParameterError(f"family '{family.name}' has no parameter '{parameter}'; its parameters: {known}")
    with jax.enable_x64(True):
        problem = fresh_problem(solution)
        equations, right = _system(problem, jnp.asarray(solution.theta, float), parameter)
        change = np.asarray(_solved(equations, -right))
    if not np.isfinite(change).all():
        raise ParameterError(f"the equations of '{family.name}' do not determine how the solution changes with it")
    single = len(family.components) == 1

    def at(k: int, points: Float[np.ndarray, "n d"]) -> np.ndarray:
        values = solution.network.change(solution.theta[k], change[k], solution.scaled(k, points))
        return values[0] if single else values.T

    return Readout(family, at)


def _system(
    problem: Problem, theta: Float[Array, "K P"], parameter: str
) -> tuple[NormalEquations, Float[Array, "K P"]]:
    """The normal equations, and J^T dr/ds."""
    views = tuple(view for view in problem.system.views if bool(problem.active[view.condition]))
    return jax.jit(Problem.normal_equations)(problem, theta), _right(problem, theta, parameter, views)


@eqx.filter_jit
def _right(
    problem: Problem, theta: Float[Array, "K P"], parameter: str, views: tuple[View, ...]
) -> Float[Array, "K P"]:
    def rows(t: Float[Array, "K P"], value: Float[Array, ""]) -> list[Float[Array, "_B _R _N"]]:
        moved = replace(problem, parameters={**problem.parameters, parameter: value})
        found, block = fixed_rows(moved, t), problem.interface
        return found if block is None else found + condition_rows(moved, block, views, moved.lambda_interface, t)

    here = problem.parameters[parameter]
    _, by_parameter = jax.jvp(lambda value: rows(theta, value), (here,), (jnp.ones_like(here),))
    return jax.vjp(lambda t: rows(t, here), theta)[1](by_parameter)[0]


def _solved(equations: NormalEquations, right: Float[Array, "K P"]) -> Float[Array, "K P"]:
    """The solution for the smallest damping with which the matrix can be factorised."""
    damping = DAMPING
    while True:
        solve = equations.factorise(damping * (equations.scale + jnp.max(equations.scale)))
        found = solve(right)
        if bool(jnp.all(jnp.isfinite(found))) or damping > LARGEST_DAMPING:
            break
        damping *= 10
    for _ in range(CORRECTIONS):
        found = found + solve(right - _times(equations, found))
    return found


def _times(equations: NormalEquations, x: Float[Array, "K P"]) -> Float[Array, "K P"]:
    """J^T J x; of the diagonal blocks only the lower triangles are filled."""
    found = jnp.stack([jnp.tril(h) @ v + jnp.tril(h, -1).T @ v for h, v in zip(equations.diagonal, x)])
    for (low, high), block in zip(equations.edges, equations.coupling):
        found = found.at[high].add(block @ x[low]).at[low].add(block.T @ x[high])
    return found
