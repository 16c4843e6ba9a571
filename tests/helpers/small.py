"""Small families whose programs compile in seconds, and the settings that tests share so that they compile once."""

import jax
import jax.numpy as jnp
import numpy as np

import metalic as mt
from metalic.families.registry import find_family
from metalic.pinn import LBFGS, Adam, GaussNewton
from metalic.pinn.laws import System
from metalic.pinn.network import Network
from metalic.pinn.optimizers import Status
from metalic.pinn.problem import Problem
from metalic.pinn.sampler import Sampler, scale
from metalic.pinn.solution import PhaseRecord

POINTS = mt.Points(24, 8, 6)
HIDDEN = (5,)
SOLVER = {"hidden": (6,), "points": POINTS}
ADAM, LIMITED, NEWTON = Adam(1e-2), LBFGS(), GaussNewton()
SHORT = (mt.Phase(ADAM, 60), mt.Phase(NEWTON, 12))


class Line(mt.Family):
    """u'' + k^2 u = 0 on [0, 1], u(0) = 0, u(1) = 1: u = sin(k x) / sin(k)."""

    parameters = {"k": (1.0, 2.5)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    conditions = ("u", "c")
    grid = (41,)

    def residual(self, u, p, k):
        return u.xx + k**2 * u

    def flux(self, u, p, k):
        return {"x": u.x}

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", lambda p: p.x)]

    def reference(self, k):
        return lambda points: np.sin(k * points[:, 0]) / np.sin(k)


def line(conditions="u,c", schedule=SHORT, **settings):
    return mt.solve(Line, conditions, schedule, **({"hidden": HIDDEN, "points": POINTS, "k": 2.0} | settings))


class Lean(mt.Condition):
    """Not symmetric: each side asks for something else, and the normal's sign counts."""

    name, description, formula = "lean", "a leaning jump", "n_t u.a - 2 u'.a ; k u.b_x"

    def law(self, a, b, n):
        return n[1] * a.u.a.value - 2 * b.u.a.value, a.p.k * a.u.b.x * n[0] + b.p.k * b.u.b.value


class Quad(mt.Family):
    """A system of two first-order equations on 2 x 2 subdomains of different materials."""

    parameters = {"c": (0.5, 2.0)}
    domain = mt.Box(x=(0, 1), t=(0, 2))
    decomposition = mt.split(domain, x=[0.4], t=[1.0])
    components = ("a", "b")
    coefficients = {"k": {"1": 1.0, "2": 2.0, "3": 0.5, "4": 3.0}}
    conditions = ("u", "rc", "c")
    own_conditions = (Lean(),)

    def residual(self, u, p, c):
        return u.a.t - p.k * u.b.x, u.b.t - c**2 * u.a.x + u.a * u.b

    def flux(self, u, p, c):
        return {"x": (-p.k * u.b.value, -(c**2) * u.a.value), "t": (u.a.value, u.b.value)}

    def boundary(self):
        return [
            mt.Dirichlet("t=0", lambda p: jnp.sin(p.x), of="a"),
            mt.Neumann("t=0", "x=1", 0.3, of="b"),
            mt.Robin("x=0", 0.0, alpha=1.0, beta=0.5, of="a"),
        ]


class Ring(mt.Family):
    """u'' = u + sin on a ring of three subdomains: the periodic boundary makes neighbours of the first and last."""

    domain = mt.Box(x=(0, 3))
    decomposition = mt.split(domain, x=[1, 2])
    conditions = ("u", "x")

    def residual(self, u, p):
        return u.xx - u - jnp.sin(2 * p.x)

    def boundary(self):
        return [mt.Periodic("x")]


class Soliton(mt.find_family("kdv").__class__):
    """Korteweg-de Vries with one condition: periodic with itself in each of two subdomains, third derivatives."""

    conditions = ("rc",)


class Broken(mt.Family):
    """A residual that is not a number (k > 0) or not finite (k <= 0)."""

    parameters = {"k": (-1.0, 1.0)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain).single()

    def residual(self, u, p, k):
        return u.x + jnp.where(k > 0, jnp.nan, jnp.inf)

    def boundary(self):
        return [mt.Dirichlet("x=0", 0.0)]

    def reference(self, k):
        return lambda points: np.ones(len(points))


class Short(Broken):
    """One subdomain, u' = 1."""

    def residual(self, u, p, k):
        return u.x - 1.0


def problem(family, values=None, hidden=HIDDEN, points=POINTS, seed=0, conditions="all", sampling="random"):
    """A Problem in float64 and random weights, biases too. Call inside `double`."""
    family = find_family(family)
    values = values or {name: 0.4 * low + 0.6 * high for name, (low, high) in family.parameters.items()}
    system = System(family, Network(len(family.coordinates), len(family.components), tuple(hidden)))
    found = Problem(
        *Sampler(family, points, sampling).draw(seed).blocks(),
        *map(jnp.asarray, scale(family, "subdomain")),
        jnp.asarray(family.coefficient_table()),
        {name: jnp.asarray(value, dtype=float) for name, value in values.items()},
        jnp.array(system.catalogue.parse(conditions).bits, bool),
        jnp.asarray(20.0),
        jnp.full(len(system.catalogue), 5.0),
        system,
    )
    rng = np.random.default_rng(seed + 1)
    theta = 0.6 * rng.normal(size=(len(family.decomposition), system.network.size))
    return jax.tree.map(jnp.asarray, found), jnp.asarray(theta)


def untrained(family, values=None, hidden=HIDDEN, seed=0, error=0.5, status=Status.RUNNING):
    """A Solution with random weights, as if solved: no program is compiled for it."""
    family = find_family(family)
    values = values or {name: 0.5 * (low + high) for name, (low, high) in family.parameters.items()}
    count, rng = len(family.decomposition), np.random.default_rng(seed)
    network = Network(len(family.coordinates), len(family.components), tuple(hidden))
    centre, slope = scale(family, "subdomain")
    record = PhaseRecord(
        optimizer="adam",
        conditions=("u",),
        index=1,
        iterations=7,
        seconds=1.5,
        compile_seconds=0.5,
        loss=0.125,
        error=error,
        status=status,
        history=((5, 1.0, 0.25, None if error is None else 0.7), (7, 1.5, 0.125, error)),
    )
    return mt.Solution(
        family=family,
        parameters=values,
        theta=rng.normal(size=(count, network.size)),
        hidden=tuple(hidden),
        centre=centre,
        slope=slope,
        phases=(record, record),
        schedule="custom",
        seed=seed,
        collocation=tuple(
            rng.uniform(family.domain.low, family.domain.high, (9, len(centre[0]))) for _ in range(count)
        ),
    )


class Room(mt.Family):
    """Three coordinates and no reference."""

    domain = mt.Box(x=(0, 1), y=(0, 2), t=(0, 3))
    decomposition = mt.split(domain, x=[0.5], y=[1.0])

    def residual(self, u, p):
        return u.t - u.xx - u.yy

    def boundary(self):
        return [mt.Dirichlet("t=0", 0.0)]
