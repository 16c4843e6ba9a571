"""Solve one PDE: sample, train phase by phase, measure. Everything is a function of the arguments and the seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..conditions import default_conditions
from ..errors import FamilyError, GeometryError, ParameterError, ScheduleError
from ..families.base import Family
from ..families.registry import find_family
from ..families.sampling import Points
from ..given import integer, real
from .laws import System
from .loss import channel_values, law_rows
from .network import Network
from .optimizers import Status, advance, restart, start
from .problem import LAMBDA_BOUNDARY, LAMBDA_INTERFACE, Block, Problem, Sampler, scale
from .schedule import Phase, Schedule, find_schedule
from .solution import ERROR_CAP, PhaseRecord, Solution, evaluate, relative_error

PRECISIONS = ("float64", "float32")
CANDIDATES = 5  # how many times more points adaptive sampling looks at than it keeps

Choice = Callable[[int, float | None], Any]
"""Chooses the set of a phase from its number and the loss before it (None in the first phase)."""


@dataclass(frozen=True)
class Report:
    """What a progress callback gets: when a phase begins (iteration 0, no loss yet, its program may have to be
    compiled) and after every chunk of iterations."""

    phase: int
    phases: int
    optimizer: str
    iteration: int
    iterations: int
    loss: float | None
    error: float | None
    seconds: float


def solve(
    family: str | Family | type[Family],
    conditions: Any = None,
    schedule: str | Schedule | Sequence[Phase] = "fast",
    *,
    seed: int = 0,
    precision: str = "float64",
    sampling: str | None = None,
    scaling: str | None = None,
    hidden: Sequence[int] = (20, 20),
    points: Points | None = None,
    lambda_boundary: float = LAMBDA_BOUNDARY,
    lambda_interface: float = LAMBDA_INTERFACE,
    extrapolate: bool = False,
    progress: Callable[[Report], None] | None = None,
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **by_name: Any,
) -> Solution:
    """Solve a member of a family with a set of interface conditions.

    `conditions`: names ('u,c' or ['u', 'c']), a 0/1 vector or an index for all phases; a list of sets (lists of names,
    or texts with commas), or a text with ';' between them, for one set per phase; or a function (phase number, loss so
    far) -> set. None takes the family's default; a set in a Phase goes before all of these. Parameters are given by
    name: `solve("poisson", "u,c", s=20)`. What `at_phase_end(problem, theta)` makes of the networks at the end of a
    phase is kept as that phase's `score`.

    >>> solution = solve("poisson", "u,c", schedule="quick", s=5)
    >>> solution.error < 0.5
    True
    """
    family = find_family(family)
    schedule = find_schedule(schedule)
    values = family.check_parameters({**(parameters or {}), **by_name}, extrapolate)
    if precision not in PRECISIONS:
        raise ScheduleError(f"no precision '{precision}': allowed are {', '.join(PRECISIONS)}")
    if integer(seed) is None:
        raise ScheduleError(f"a seed is an integer of at least 0, not {seed!r}")
    for name, weight in (("lambda_boundary", lambda_boundary), ("lambda_interface", lambda_interface)):
        if real(weight, least=0) is None:
            raise ScheduleError(f"{name} is a number of at least 0, not {weight!r}")
    if points is not None and not isinstance(points, Points):
        raise GeometryError(f"points are given as Points(collocation, boundary, interface), not {points!r}")
    widths: Any = tuple(hidden) if isinstance(hidden, Iterable) and not isinstance(hidden, str) else hidden
    with jax.enable_x64(precision == "float64"):
        system = _system(family, Network(len(family.coordinates), len(family.components), widths))
        choose = _chooser(system, conditions, schedule)
        setup = _Setup(
            system=system,
            sampler=Sampler(family, points or schedule.points(family), sampling or schedule.sampling),
            scaling=scaling or schedule.scaling,
            parameters=values,
            seed=int(seed),
            dtype=np.dtype(precision),
            weights=(float(lambda_boundary), float(lambda_interface)),
            at_phase_end=at_phase_end,
        )
        return _train(setup, schedule, choose, progress, extrapolate)


@lru_cache(maxsize=32)
def _system(family: Family, network: Network) -> System:
    return System(family, network)


def _chooser(system: System, conditions: Any, schedule: Schedule) -> Choice:
    """Conditions in any notation as a function of phase and loss; everything fixed is checked now."""
    parse, count = system.catalogue.parse, len(schedule.phases)
    own = [None if phase.conditions is None else parse(phase.conditions) for phase in schedule.phases]
    if callable(conditions):
        return lambda phase, loss: parse(conditions(phase, loss)) if (fixed := own[phase]) is None else fixed
    if conditions is None:
        sets = [default_conditions(system.family)] * count
    elif per_phase := split_phases(conditions):
        if len(per_phase) != count:
            raise ScheduleError(f"{len(per_phase)} sets of conditions for the {count} phases of '{schedule.name}'")
        sets = [parse(one) for one in per_phase]
    else:
        sets = [parse(conditions)] * count
    sets = [chosen if fixed is None else fixed for chosen, fixed in zip(sets, own)]
    return lambda phase, loss: sets[phase]


def split_phases(conditions: Any) -> list[Any] | None:
    """The sets of a per-phase notation ('u,c;u' or a list of sets), or None if it is one set."""
    if isinstance(conditions, str):
        return conditions.split(";") if ";" in conditions else None
    if not isinstance(conditions, list | tuple) or not conditions:
        return None
    return list(conditions) if any(_is_set(one) for one in conditions) else None


def _is_set(one: Any) -> bool:
    """Whether an item of a list is a set of conditions, not the name or bit of one."""
    return "," in one if isinstance(one, str) else isinstance(one, Iterable)


@dataclass
class _Setup:
    """What is fixed for a whole solve."""

    system: System
    sampler: Sampler
    scaling: str
    parameters: dict[str, float]
    seed: int
    dtype: np.dtype
    weights: tuple[float, float]
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None
    reference: Float[np.ndarray, "..."] | None = None
    grid: Float[np.ndarray, "n d"] = field(default_factory=lambda: np.zeros((0, 0)))

    def problem(self) -> Problem:
        family = self.system.family
        collocation, boundary, interface = self.sampler.draw(self.seed)
        centre, slope = scale(family, self.scaling)
        arrays: dict[str, Any] = {
            "centre": centre,
            "slope": slope,
            "coefficients": family.coefficient_table(),
            "parameters": {name: np.asarray(value) for name, value in self.parameters.items()},
            "active": np.zeros(len(self.system.catalogue), bool),
            "lambda_boundary": np.asarray(self.weights[0]),
            "lambda_interface": np.asarray(self.weights[1]),
        }
        return self.on_device(Problem(collocation, boundary, interface, **arrays, system=self.system))

    def on_device(self, tree: Any) -> Any:
        """Arrays in the precision of the run."""

        def convert(leaf: Any) -> jax.Array:
            leaf = np.asarray(leaf)
            return jnp.asarray(leaf if leaf.dtype == bool else leaf.astype(self.dtype))

        return jax.tree.map(convert, tree)

    def weights_at_start(self) -> jax.Array:
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 0]))
        count = len(self.system.family.decomposition)
        return self.on_device(np.stack([self.system.network.init(rng) for _ in range(count)]))


def reference_values(
    family: Family, parameters: Mapping[str, float], extrapolate: bool = False
) -> Float[np.ndarray, "..."] | None:
    """The family's reference on its grid, or None; beyond the box a reference may not exist, which is no error."""
    if family.reference is None:
        return None
    try:
        values = np.asarray(family.reference(**parameters)(family.error_points()), dtype=float)
    except ParameterError:
        if extrapolate:
            return None
        raise
    except (TypeError, ValueError) as error:
        raise FamilyError(f"family '{family.name}': the reference cannot be evaluated: {error}") from error
    wanted = (len(family.error_points()), len(family.components))
    if values.size != np.prod(wanted):
        raise FamilyError(
            f"family '{family.name}': the reference gives an array of shape {values.shape} for {wanted[0]} points and "
            f"{wanted[1]} component(s)"
        )
    if not np.isfinite(values).all():
        raise FamilyError(f"family '{family.name}': the reference is not finite everywhere on the grid of the error")
    return values.reshape(wanted)


def _train(
    setup: _Setup, schedule: Schedule, choose: Choice, progress: Callable[[Report], None] | None, extrapolate: bool
) -> Solution:
    family = setup.system.family
    setup.reference = reference_values(family, setup.parameters, extrapolate)
    setup.grid = family.error_points()
    problem, theta = setup.problem(), setup.weights_at_start()
    records: list[PhaseRecord] = []
    for number, phase in enumerate(schedule.phases):
        chosen = choose(number, records[-1].loss if records else None)
        trainer = _PhaseTrainer(setup, phase, number, len(schedule.phases), chosen, progress)
        problem, theta, record = trainer.run(problem.with_conditions(chosen), theta)
        records.append(record)
        if record.status is Status.DIVERGED:
            break
    return Solution(
        family=family,
        parameters=setup.parameters,
        theta=np.asarray(theta),
        hidden=setup.system.network.hidden,
        centre=np.asarray(problem.centre),
        slope=np.asarray(problem.slope),
        phases=tuple(records),
        schedule=schedule.name,
        seed=setup.seed,
        collocation=_plain_points(problem.collocation),
        problem=problem,
    )


def _plain_points(block: Block) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x).T[np.asarray(w) > 0] for x, w in zip(block.x, block.weight))


class _PhaseTrainer:
    """Runs one phase chunk by chunk; between chunks it measures, reports and moves points."""

    def __init__(self, setup: _Setup, phase: Phase, number: int, phases: int, chosen: tuple[str, ...], progress: Any):
        self.setup, self.phase, self.number, self.phases = setup, phase, number, phases
        self.chosen, self.progress = chosen, progress
        self.history: list[tuple[int, float, float, float | None]] = []
        self.draws = 0

    def run(self, problem: Problem, theta: jax.Array) -> tuple[Problem, jax.Array, PhaseRecord]:
        optimizer, budget = self.phase.optimizer, self.phase.iterations
        self._report(0, None, None, 0.0)
        begun = time.perf_counter()
        state = start(optimizer, problem, theta)
        jax.block_until_ready(advance(optimizer, problem, state, jnp.asarray(0)))
        compiled = time.perf_counter()
        done, status, steps = 0, Status.RUNNING, self._chunks()
        while done < budget and status is Status.RUNNING:
            if self.phase.resample and done and done % self.phase.resample == 0:
                problem = self._move_points(problem, state.theta)
                state = restart(optimizer, problem, state)
            state, count = advance(optimizer, problem, state, jnp.asarray(min(steps, budget - done)))
            done, status = done + int(count), Status(int(state.status))
            self._measure(problem, done, float(state.loss), state.theta, time.perf_counter() - compiled)
        score = self.setup.at_phase_end
        seconds = time.perf_counter() - compiled
        record = PhaseRecord(
            optimizer=optimizer.name,
            conditions=self.chosen,
            index=self.setup.system.catalogue.index(self.chosen),
            iterations=done,
            seconds=seconds,
            compile_seconds=compiled - begun,
            loss=float(state.loss),
            error=self.history[-1][3],
            status=status,
            history=tuple(self.history),
            score=None if score is None else score(problem, state.theta),
        )
        return problem, state.theta, record

    def _chunks(self) -> int:
        """A chunk never runs across a change of points."""
        resample = self.phase.resample
        chunk = self.phase.optimizer.chunk
        return chunk if resample is None else next(n for n in range(min(chunk, resample), 0, -1) if resample % n == 0)

    def _measure(self, problem: Problem, done: int, loss: float, theta: jax.Array, seconds: float) -> None:
        setup, system = self.setup, self.setup.system
        error = ERROR_CAP if not np.isfinite(loss) else None
        if error is None and setup.reference is not None:
            weights, centre, slope = (np.asarray(array) for array in (theta, problem.centre, problem.slope))
            values = evaluate(system.family, system.network, weights, setup.grid, centre, slope)
            error = relative_error(values, setup.reference)
        self.history.append((done, seconds, loss, error))
        self._report(done, loss, error, seconds)

    def _report(self, done: int, loss: float | None, error: float | None, seconds: float) -> None:
        if self.progress is not None:
            name, budget = self.phase.optimizer.name, self.phase.iterations
            self.progress(Report(self.number, self.phases, name, done, budget, loss, error, seconds))

    def _move_points(self, problem: Problem, theta: jax.Array) -> Problem:
        setup = self.setup
        self.draws += 1
        stream = 1000 * (self.number + 1) + self.draws
        collocation, boundary, interface = setup.on_device(setup.sampler.draw(setup.seed, stream))
        if self.phase.adaptive:
            collocation = setup.on_device(self._adapted(problem, theta, collocation, stream))
        return eqx.tree_at(
            lambda p: (p.collocation, p.boundary, p.interface),
            problem,
            (collocation, boundary, interface),
            is_leaf=lambda leaf: leaf is None,
        )

    def _adapted(self, problem: Problem, theta: jax.Array, spread: Block, stream: int) -> Block:
        """Half of the points spread out, half drawn from candidates with probability proportional to |r|."""
        setup = self.setup
        wider = Points(setup.sampler.points.collocation * CANDIDATES, 1, 1)
        rng = np.random.default_rng(np.random.SeedSequence([setup.seed, 2, stream]))
        sampler = Sampler(setup.system.family, wider, "random")
        candidates = setup.on_device(sampler.collocation(rng))
        strength = np.asarray(_residual_size(problem, candidates, theta))
        x, options = np.array(spread.x), np.asarray(candidates.x)
        half = x.shape[-1] // 2
        for k, row in enumerate(strength):
            chance = np.where(np.asarray(candidates.weight[k]) > 0, row + 1e-12 * row.max() + 1e-300, 0.0)
            picked = rng.choice(len(chance), size=half, replace=False, p=chance / chance.sum())
            x[k][:, :half] = options[k][:, picked]
        return eqx.tree_at(lambda block: (block.x, block.y), spread, (x, x))


@eqx.filter_jit
def _residual_size(problem: Problem, block: Block, theta: jax.Array) -> jax.Array:
    law = problem.system.residual
    values = channel_values(problem, theta, block.x, block.a, law.channels)
    return jnp.sqrt(jnp.sum(law_rows(problem, block, law, law.channels, values, values) ** 2, axis=1))
