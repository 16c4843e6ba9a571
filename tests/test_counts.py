"""What a step costs, in counts and not in seconds: operations of the compiled program, and compilations.

A bound is what the program has today and a little slack. A change that makes it larger says so here; one that makes it
smaller may lower the bound.
"""

import re
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import monitoring
from tiny import Tiny

import metalic as mt
from metalic.pinn.laws import System
from metalic.pinn.network import Network
from metalic.pinn.optimizers import advance, start
from metalic.pinn.problem import Problem
from metalic.pinn.sampler import Sampler, scale

PHASES = (mt.Phase(mt.Adam(1e-2), 3), mt.Phase(mt.Adam(1e-2), 2))  # equal optimizers share their program
HIDDEN = (3,)
COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def compilations():
    """The events of compilation so far, in a list that grows."""
    found = []

    def listen(event, *_, **__):
        if event == COMPILED:
            found.append(event)

    monitoring.register_event_duration_secs_listener(listen)
    yield found
    monitoring.unregister_event_duration_listener(listen)


def poisson_step():
    """The program of Adam's steps on Poisson, as text."""
    family = mt.find_family("poisson")
    system = System(family, Network(2, 1, (20, 20)))
    problem = Problem(
        *Sampler(family, family.points, "random").draw(0).blocks(),
        *map(jnp.asarray, scale(family, "subdomain")),
        jnp.asarray(family.coefficient_table()),
        {"s": jnp.asarray(20.0)},
        jnp.array(system.catalogue.parse("u,c").bits, bool),
        jnp.asarray(20.0),
        jnp.full(len(system.catalogue), 5.0),
        system,
    )
    problem, optimizer = jax.tree.map(jnp.asarray, problem), mt.Adam(1e-3)
    state = start(optimizer, problem, jnp.zeros((2, system.network.size)))
    return advance.lower(optimizer, problem, state, jnp.asarray(1)).compile().as_text()


def operations(program):
    """How many instructions of each kind a program has, those inside fusions too."""
    return Counter(re.findall(r"^\s*(?:ROOT )?%?[\w.-]+ = .*?[\])}] ([a-z][\w-]*)\(", program, re.MULTILINE))


@pytest.mark.usefixtures("double")
def test_an_adam_step_on_poisson_has_few_operations():
    """One program for all 512 sets; its parts are the collocation points, the boundary and three groups of conditions.
    A part needs one tanh per hidden layer, however many derivatives it has."""
    found = operations(poisson_step())
    assert found["tanh"] <= 5 * 2
    assert found["dot"] + found["custom-call"] <= 82  # 78 with jaxlib 0.10
    assert found["fusion"] <= 325  # 307 with jaxlib 0.10
    assert found["while"] == 1


def test_a_study_compiles_once(tmp_path, compilations):
    """Plays with other parameters, seeds and sets: the first compiles, the others find everything there."""
    schedule, before = mt.Schedule("short", PHASES), advance._cache_size()
    bandit = mt.Sequential(policy=mt.Random())
    with mt.Study(tmp_path / "study.db", Tiny, bandit, schedule, seed=0, solver={"hidden": HIDDEN}) as study:
        study.play(1)
        assert advance._cache_size() <= before + 1
        compilations.clear()
        study.play(5)
        assert len({play.sets for play in study.plays}) > 1
    assert compilations == []


def test_other_parameters_seeds_and_weights_compile_nothing(compilations):
    mt.solve(Tiny, "u,x", PHASES, hidden=HIDDEN, a=1.0)
    compilations.clear()
    for seed in range(4):
        mt.solve(Tiny, "u,x", PHASES, hidden=HIDDEN, a=0.6 + 0.2 * seed, seed=seed)
    mt.solve(Tiny, "u,x", PHASES, hidden=HIDDEN, a=1.1, lambda_boundary=7.0, lambda_interface=3.0)
    assert compilations == []


def test_a_solve_compiles_its_own_set_once(compilations):
    """With fixed sets a solve has programs for these alone; a chooser may pick any set, so that one serves all."""
    before = advance._cache_size()
    mt.solve(Tiny, "u", PHASES, hidden=HIDDEN, a=1.0)
    assert advance._cache_size() == before + 1  # two phases, one optimizer
    mt.solve(Tiny, lambda phase, loss: "u", PHASES, hidden=HIDDEN, a=1.0)
    assert advance._cache_size() <= before + 2  # less if an earlier test has compiled it
    compilations.clear()
    for seed, conditions in enumerate(("none", "x", "u,x", "all")):
        mt.solve(Tiny, lambda phase, loss, chosen=conditions: chosen, PHASES, hidden=HIDDEN, a=0.6, seed=seed)
    assert compilations == []


class Divided(Tiny):
    """The domain is cut where one likes; `past` is a value at the boundary."""

    def __init__(self, cut, end=1.0, past=1.0):
        self.domain = mt.Box(x=(0, 1), t=(0, end))
        self.decomposition = mt.split(self.domain, t=[cut])
        self.past = past

    def boundary(self):
        return [mt.Dirichlet("t=0", self.past)]


def test_another_cut_compiles_nothing(compilations):
    """The coordinates of cuts and of the domain are traced: topology and shapes alone make a program."""
    mt.solve(Divided(0.5), "u", PHASES, hidden=HIDDEN, a=1.0)
    compilations.clear()
    errors = [mt.solve(Divided(cut), "u", PHASES, hidden=HIDDEN, a=1.0).error for cut in (0.3, 0.7)]
    mt.solve(Divided(0.5, end=2.0), "u", PHASES, hidden=HIDDEN, a=1.0)
    assert compilations == []
    assert errors[0] != errors[1]  # each was solved on its own points


def test_a_solution_of_a_shared_program_is_that_of_its_own():
    """A program compiled for another cut gives the same numbers as one compiled for this cut alone."""
    mt.solve(Divided(0.5), "u", PHASES, hidden=HIDDEN, a=1.0)
    shared = mt.solve(Divided(0.3), "u", PHASES, hidden=HIDDEN, a=1.0)
    jax.clear_caches()
    alone = mt.solve(Divided(0.3), "u", PHASES, hidden=HIDDEN, a=1.0)
    np.testing.assert_array_equal(shared.theta, alone.theta)


def test_a_family_that_differs_in_its_laws_has_its_own_program(compilations):
    mt.solve(Divided(0.5), "u", PHASES, hidden=HIDDEN, a=1.0)
    compilations.clear()
    mt.solve(Divided(0.5, past=2.0), "u", PHASES, hidden=HIDDEN, a=1.0)
    assert compilations


class Stretched(Divided):
    """Its residual reads where the domain ends."""

    def residual(self, u, p, a):
        return u.t + a * u.value / self.domain.high[1]


def test_a_law_that_reads_the_geometry_has_its_own_program():
    network = Network(2, 1, HIDDEN)
    short, long, other_cut = (System(one, network) for one in (Stretched(0.5), Stretched(0.5, 2.0), Stretched(0.3)))
    assert short != long
    assert short == other_cut
    assert hash(short) == hash(other_cut)
    assert System(Divided(0.5), network) == System(Divided(0.5, 2.0), network)
    assert System(Divided(0.5), network) != System(Divided(0.5, past=2.0), network)
