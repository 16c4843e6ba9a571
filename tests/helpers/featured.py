"""Problems with every feature of the loss, and its rows as one vector.

Quad: a system of two equations, four subdomains of four materials, three boundary conditions, an own condition that is
not symmetric. Ring: three subdomains, first and last joined by a periodic boundary. Soliton: a periodic boundary of
each subdomain with itself, third derivatives.
"""

import functools

import jax
import jax.numpy as jnp
import pytest
from small import Quad, Ring, Soliton, problem

from metalic.geometry import Points
from metalic.pinn.problem import condition_rows, fixed_rows

PROBLEMS = {"quad": Quad, "ring": Ring, "soliton": Soliton}
every = pytest.mark.parametrize("name", PROBLEMS)


@functools.cache
def made(name):
    return problem(PROBLEMS[name], hidden=(3,), points=Points(7, 5, 4))


def sets(name):
    """All conditions, none, and some."""
    one, theta = made(name)
    names = one.system.catalogue.names
    return [(one.with_conditions(chosen), theta) for chosen in (names, (), names[1:], names[:1])]


def all_rows(one, theta):
    """The weighted rows of the whole loss as one vector; inactive conditions have rows of zeros."""
    strength = one.lambda_interface * one.active
    parts = fixed_rows(one, theta) + condition_rows(one, one.interface, one.system.views, strength, theta)
    return jnp.concatenate([jnp.ravel(part) for part in parts])


jitted_rows, jitted_jacobian = jax.jit(all_rows), jax.jit(jax.jacrev(all_rows, argnums=1))
