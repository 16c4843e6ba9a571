"""Solve one PDE: sample, train phase by phase, measure. Everything is a function of the arguments and the seed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .. import runtime
from ..chooser import Chooser, FixedChooser
from ..conditions import Catalogue
from ..errors import FamilyError, ParameterError, ScheduleError
from ..families.base import Family
from ..sets import Decision
from ..validation import integer
from .checkpoint import Snapshot, progress_of
from .laws import System, system_of
from .limits import Limits
from .network import Network
from .optimizers import Ahead, Optimizer, Progress, Status, advance, restart
from .optimizers import compiled as compile_programs
from .optimizers import start as start_state
from .options import ResolvedOptions, SolverOptions
from .problem import Block, Problem, channel_values, law_rows, residual_strength
from .sampler import Sampler, scale
from .schedule import Phase, Schedule
from .solution import ERROR_CAP, PhaseRecord, Solution, relative_error
from .start import Start, Target, fitted
from .trained import evaluate

SAMPLE = 8  # random networks by which residuals are balanced
CONVERGED = (Status.GRADIENT, Status.CHANGE, Status.STALLED)
CANDIDATES = 5  # how many times more points adaptive sampling looks at than it keeps
# Mean square of the residual, fresh over trained points: sometimes above 10 in good solves, 1e3 to 2e5 beside a layer
MISSED = 100.0


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


def train(
    family: Family,
    chooser: Chooser,
    schedule: Schedule,
    parameters: dict[str, float],
    options: SolverOptions,
    *,
    seed: int = 0,
    extrapolate: bool = False,
    progress: Callable[[Report], Any] | None = None,
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None,
    seconds: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    start: Start | Solution | np.ndarray | Sequence[Start] | None = None,
    within: Sequence[str] | None = None,
) -> Solution:
    """Solve a member of a family phase by phase, with the sets that a chooser picks.

    Args:
        family: What is solved.
        chooser: Picks the set of every phase that has none of its own; its play has begun.
        schedule: The phases.
        parameters: All parameters of the family, checked.
        options: Networks, points, precision and weights; what they leave open, the family and the schedule decide.
        seed: Decides the points and the weights at the start.
        extrapolate: Whether the parameters may lie outside their boxes, where there may be no reference.
        progress: Called when a phase begins and after every chunk of iterations; if it returns True, the phase ends.
        at_phase_end: Called with the problem and the networks at the end of each phase; what it returns is kept as
            the `score` of the phase.
        seconds: A limit on the training time of this call, checked between chunks of iterations.
        checkpoint: A file to write the solve in progress to, and to continue from if it exists.
        start: Networks, or weights of the right shape, to start from instead of random ones; phases that only find a
            start are left out then. Of several, the one whose loss is smallest after one iteration is taken.
        within: The conditions that the compiled programs contain: those that the chooser may pick. None means the
            whole catalogue, so that all sets share their programs. The result does not depend on it.

    Raises:
        MetalicError: The seed, an option or a set makes no sense; nothing has been trained then.
    """
    if integer(seed) is None:
        raise ScheduleError(f"a seed is an integer of at least 0, not {seed!r}")
    chosen = options.resolve(family, schedule)
    with jax.enable_x64(chosen.precision == "float64"), runtime.programs_kept():
        setup = _Setup(
            system=_system(family, chosen, schedule, within),
            sampler=Sampler(family, chosen.points, chosen.sampling),
            options=chosen,
            parameters=parameters,
            seed=int(seed),
            balance=schedule.balance,
            at_phase_end=at_phase_end,
            start=start,
        )
        limits = Limits.of(seconds, checkpoint, setup.identity(schedule, chooser))
        return _train(setup, schedule, chooser, progress, extrapolate, limits)


def _system(family: Family, options: ResolvedOptions, schedule: Schedule, within: Sequence[str] | None) -> System:
    """With programs for the sets of the phases, too."""
    network = Network(len(family.coordinates), len(family.components), options.hidden, options.activation)
    if within is None:
        return system_of(family, network)
    catalogue = Catalogue(family)
    own = [catalogue.parse(one.conditions).names for one in schedule.phases if one.conditions is not None]
    return system_of(family, network, tuple(sorted({*within, *chain(*own)})))


@dataclass
class _Setup:
    """What is fixed for a whole solve."""

    system: System
    sampler: Sampler
    options: ResolvedOptions
    parameters: dict[str, float]
    seed: int
    balance: bool
    at_phase_end: Callable[[Problem, jax.Array], float] | None = None
    start: Start | Solution | np.ndarray | Sequence[Start] | None = None
    reference: Float[np.ndarray, "..."] | None = None
    grid: Float[np.ndarray, "n d"] = field(default_factory=lambda: np.zeros((0, 0)))

    def problem(self) -> Problem:
        family = self.system.family
        blocks = self.sampler.draw(self.seed).blocks(self.options.precision)
        centre, slope = scale(family, self.options.scaling)
        arrays: dict[str, Any] = {
            "centre": centre,
            "slope": slope,
            "coefficients": family.coefficient_table(),
            "parameters": {name: np.asarray(value) for name, value in self.parameters.items()},
            "active": np.zeros(len(self.system.catalogue), bool),
            "lambda_boundary": np.asarray(self.options.lambda_boundary),
            "lambda_interface": np.array([*self.options.lambda_interface.values()]),
        }
        problem = Problem(*blocks, **self.on_device(arrays), system=self.system)
        return self._balanced(problem) if self.balance and family.coefficients else problem

    def _balanced(self, problem: Problem) -> Problem:
        """With residuals that depend equally on the networks in all subdomains, as much as where they depend least.

        All subdomains see the same sample of random networks, so that only coefficients and sizes tell them apart.
        """
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 3]))
        sample = np.stack([self.system.network.init(rng) for _ in range(SAMPLE)])
        thetas = self.on_device(np.repeat(sample[:, None], len(problem.slope), axis=1))
        strength = jax.jit(residual_strength)(problem, thetas)
        return replace(problem, balance=jnp.min(strength, axis=0) / strength)

    def on_device(self, tree: Any) -> Any:
        """Arrays in the precision of the run."""

        def convert(leaf: Any) -> jax.Array:
            leaf = np.asarray(leaf)
            return jnp.asarray(leaf if leaf.dtype == bool else leaf.astype(self.options.precision))

        return jax.tree.map(convert, tree)

    def identity(self, schedule: Schedule, chooser: Chooser) -> dict[str, Any]:
        """What decides the result, for a checkpoint."""
        family = self.system.family
        return {
            "family": [family.name, repr(vars(family)), repr(family.decomposition)],
            "parameters": self.parameters,
            "conditions": repr(chooser) if isinstance(chooser, FixedChooser) else type(chooser).__name__,
            "schedule": repr(schedule),
            "seed": self.seed,
            "options": repr(self.options),
            "start": [float(np.sum(one.theta)) for one in self.starts],
        }

    @cached_property
    def starts(self) -> list[Start]:
        """The networks to start from, in the shape of those that are trained; none if the start is cold."""
        if self.start is None:
            return []
        family, network = self.system.family, self.system.network
        target = Target(family, network, *scale(family, self.options.scaling), self.seed)
        several = isinstance(self.start, list | tuple) and all(isinstance(one, Start) for one in self.start)
        return [fitted(one, target) for one in (self.start if several else [self.start])]  # type: ignore[union-attr]

    def random_weights(self) -> jax.Array:
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


def error_of(
    solution: Solution, extrapolate: bool = False, given: Float[np.ndarray, "n m"] | None = None
) -> float | None:
    """The relative error of a solution against given values on its grid, or the family's reference; None without."""
    reference = reference_values(solution.family, solution.parameters, extrapolate) if given is None else given
    return None if reference is None else relative_error(solution.values(solution.family.error_points()), reference)


def _train(
    setup: _Setup,
    schedule: Schedule,
    chooser: Chooser,
    progress: Callable[[Report], None] | None,
    extrapolate: bool,
    limits: Limits,
) -> Solution:
    family, catalogue = setup.system.family, setup.system.catalogue
    own = [None if one.conditions is None else Decision(catalogue.parse(one.conditions)) for one in schedule.phases]
    setup.reference = reference_values(family, setup.parameters, extrapolate)
    setup.grid = family.error_points()
    problem, begun, first = setup.problem(), None, 0
    if setup.starts:
        first = schedule.first_with_start
        decision = own[first] or chooser.choose(first, None)
        trial = _Trial(setup, problem.with_conditions(decision.conditions), schedule.phases[first].optimizer)
        begun = setup.starts[0] if len(setup.starts) == 1 else min(setup.starts, key=trial.loss)
    theta = setup.random_weights() if begun is None else setup.on_device(begun.theta)
    kept, ahead = limits.read(), Ahead()
    records = kept.records(catalogue) if kept else []
    for number, phase in list(enumerate(schedule.phases))[first + len(records) :]:
        decision = own[number] or chooser.choose(number, records[-1].loss if records else None)
        decision = kept.decision(catalogue) if kept else decision
        trainer = _PhaseTrainer(setup, phase, number, len(schedule.phases), decision, progress, limits, records, ahead)
        problem = problem.with_conditions(decision.conditions)
        trainer.following = schedule.phases[number + 1].optimizer if number + 1 < len(schedule.phases) else None
        problem, theta, record = trainer.run(problem, theta, kept)
        records, kept = [*records, record], None
        if record.status in (Status.DIVERGED, Status.TIME):
            break
    ahead.wait()
    limits.finish(records[-1].status)
    return Solution(
        family=family,
        parameters=setup.parameters,
        theta=np.asarray(theta),
        hidden=setup.system.network.hidden,
        activation=setup.system.network.activation,
        centre=np.asarray(problem.centre),
        slope=np.asarray(problem.slope),
        phases=tuple(records),
        schedule=schedule.name,
        seed=setup.seed,
        collocation=_plain_points(problem.collocation),
        problem=problem.unbalanced,
        start=None if begun is None else begun.to_dict(),
    )


@dataclass
class _Trial:
    """Compares starts by one iteration each, with the program that will train."""

    setup: _Setup
    problem: Problem
    optimizer: Optimizer

    def loss(self, one: Start) -> float:
        state = start_state(self.optimizer, self.problem, self.setup.on_device(one.theta))
        loss = float(advance(self.optimizer, self.problem, state, jnp.asarray(1))[0].loss)
        return loss if np.isfinite(loss) else np.inf


def _plain_points(block: Block) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x).T[np.asarray(w) > 0] for x, w in zip(block.x, block.weight))


def _points(problem: Problem) -> tuple[Block, tuple[Block, ...], Block | None]:
    return problem.collocation, problem.boundary, problem.interface


def _with_points(problem: Problem, points: tuple[Block, tuple[Block, ...], Block | None]) -> Problem:
    return eqx.tree_at(_points, problem, points, is_leaf=lambda leaf: leaf is None)


class _PhaseTrainer:
    """Runs one phase chunk by chunk; between chunks it measures, reports and moves points."""

    def __init__(
        self,
        setup: _Setup,
        phase: Phase,
        number: int,
        phases: int,
        decision: Decision,
        progress: Any,
        limits: Limits,
        records: list[PhaseRecord],
        ahead: Ahead,
    ):
        self.setup, self.phase, self.number, self.phases = setup, phase, number, phases
        self.decision, self.progress, self.limits, self.records = decision, progress, limits, records
        self.history: list[tuple[int, float, float, float | None]] = []
        self.draws = 0
        self.ahead = ahead
        self.following: Optimizer | None = None  # of the next phase: its program is compiled during this one
        self.gathered: list[int] = []

    def run(
        self, problem: Problem, theta: jax.Array, kept: Snapshot | None = None
    ) -> tuple[Problem, jax.Array, PhaseRecord]:
        optimizer = self.phase.optimizer
        self._report(0, None, None, 0.0)
        begun = time.perf_counter()
        self.ahead.wait()
        state = compile_programs(optimizer, problem, theta)
        if self.phase.recheck:
            _sizes(problem, problem.collocation, theta)
        compiled = ended = time.perf_counter()
        if self.following is not None and self.following != optimizer:
            self.ahead.begin(self.following, problem, theta)
        if kept is not None:
            problem, state = self._continued(kept, problem, state)
        budget = self._longer(self.gathered[-1]) if self.gathered else self.phase.iterations
        done, before = self.history[-1][:2] if self.history else (0, 0.0)
        status, steps, stops = Status.RUNNING, self._chunks(), self._stops()
        while done < budget and (status is Status.RUNNING or (stops and status in CONVERGED)):
            if self._points_move(done):
                problem = self._move_points(problem, state.theta)
                state = restart(optimizer, problem, state)
            if stops and (done >= stops[0][0] or status is not Status.RUNNING):
                problem = self._move_parameters(problem, stops.pop(0)[1])
                state = restart(optimizer, problem, state)
            ahead = (stops[0][0] if stops else budget) - done
            state, count = advance(optimizer, problem, state, jnp.asarray(min(steps, ahead)))
            done, status = done + int(count), Status(int(state.status))
            asked = self._measure(problem, done, state, before + time.perf_counter() - compiled)
            ended, begun_chunk = time.perf_counter(), ended
            within = self.limits.spend(ended - begun_chunk)
            if status is Status.RUNNING and asked:
                status = Status.STOPPED
            if self._is_missing(problem, state, done, status):
                problem, budget = self._move_points(problem, state.theta), self._longer(done)
                state, status = restart(optimizer, problem, state), Status.RUNNING
            if status is Status.RUNNING and done < budget:
                status = within
                self._save(problem, state, status)
        seconds = before + time.perf_counter() - compiled
        return problem, state.theta, self._record(problem, state.theta, status, seconds, compiled - begun)

    def _record(
        self, problem: Problem, theta: jax.Array, status: Status, seconds: float, compile_seconds: float
    ) -> PhaseRecord:
        (done, _, loss, error), score = self.history[-1], self.setup.at_phase_end
        return PhaseRecord(
            optimizer=self.phase.optimizer.name,
            conditions=self.decision.conditions.names,
            index=self.decision.conditions.index,
            iterations=done,
            seconds=seconds,
            compile_seconds=compile_seconds,
            loss=loss,
            error=error,
            status=Status.BUDGET if status is Status.RUNNING else status,
            history=tuple(self.history),
            gathered=tuple(self.gathered),
            score=None if score is None else score(problem.unbalanced, theta),
            decision=self.decision,
        )

    def _save(self, problem: Problem, state: Progress, status: Status) -> None:
        phase = {"history": self.history, "draws": self.draws, "gathered": self.gathered}
        self.limits.save(status, lambda: progress_of(self.records, self.decision, **phase), (state, _points(problem)))

    def _continued(self, kept: Snapshot, problem: Problem, state: Progress) -> tuple[Problem, Progress]:
        """Problem and state as they were when the snapshot was taken."""
        self.history = [tuple(entry) for entry in kept.meta["history"]]
        self.draws, self.gathered = kept.meta["draws"], kept.meta["gathered"]
        state, points = kept.fill((state, _points(problem)))
        return _with_points(problem, points), state

    def _stops(self) -> list[tuple[int, dict[str, float]]]:
        """Iterations and the parameters that hold from then on, if the phase moves them."""
        continues, budget = self.phase.continues, self.phase.iterations
        if continues is None:
            return []
        values = continues.values(self.setup.parameters, self.setup.system.family.easy)
        return [(n * budget // len(values), one) for n, one in enumerate(values)]

    def _move_parameters(self, problem: Problem, values: Mapping[str, float]) -> Problem:
        arrays = self.setup.on_device({name: np.asarray(value) for name, value in values.items()})
        return eqx.tree_at(lambda p: p.parameters, problem, arrays)

    def _points_move(self, done: int) -> bool:
        """Every `resample` iterations; adaptive points at once where a solve has a start."""
        knows = self.phase.adaptive and bool(self.setup.starts) and not self.records
        return bool(self.phase.resample) and (done > 0 or knows) and done % (self.phase.resample or 1) == 0

    def _chunks(self) -> int:
        """A chunk never runs across a change of points."""
        resample = self.phase.resample or self.phase.recheck
        chunk = self.phase.optimizer.chunk
        return chunk if resample is None else next(n for n in range(min(chunk, resample), 0, -1) if resample % n == 0)

    def _measure(self, problem: Problem, done: int, state: Progress, seconds: float) -> bool:
        """Add to the history; whether the callback asks for an end."""
        setup, system, theta = self.setup, self.setup.system, state.theta
        loss = float(state.loss if problem.balance is None else _value(problem.unbalanced, theta))
        error = ERROR_CAP if not np.isfinite(loss) else None
        if error is None and setup.reference is not None:
            weights, centre, slope = (np.asarray(array) for array in (theta, problem.centre, problem.slope))
            values = evaluate(system.family, system.network, weights, setup.grid, centre, slope)
            error = relative_error(values, setup.reference)
        self.history.append((done, seconds, loss, error))
        return self._report(done, loss, error, seconds)

    def _report(self, done: int, loss: float | None, error: float | None, seconds: float) -> bool:
        if self.progress is None:
            return False
        name, budget = self.phase.optimizer.name, self.phase.iterations
        return self.progress(Report(self.number, self.phases, name, done, budget, loss, error, seconds)) is True

    def _move_points(self, problem: Problem, theta: jax.Array) -> Problem:
        setup = self.setup
        self.draws += 1
        stream = 1000 * (self.number + 1) + self.draws
        collocation, boundary, interface = setup.sampler.draw(setup.seed, stream).blocks(setup.options.precision)
        if self.phase.adaptive or self.phase.recheck:
            collocation = setup.on_device(self._adapted(problem, theta, collocation, stream))
        return _with_points(problem, (collocation, boundary, interface))

    def _is_missing(self, problem: Problem, state: Progress, done: int, status: Status) -> bool:
        """Whether it is time to look at fresh points, and the residual is much larger there."""
        every, ended = self.phase.recheck, status in CONVERGED
        if not every or not (ended or (status is Status.RUNNING and done % every == 0)):
            return False
        if self._longer(done) <= done:
            return False
        fresh = self._candidates(np.random.default_rng(np.random.SeedSequence([self.setup.seed, 4, self.number, done])))
        on_fresh, trained = (_mean_square(problem, block, state.theta) for block in (fresh, problem.collocation))
        missing = bool(np.any(on_fresh > MISSED * trained))
        self.gathered += [done] if missing else []
        return missing

    def _longer(self, done: int) -> int:
        """The budget of a phase that has found after `done` iterations that its points miss something."""
        budget = self.phase.iterations
        return max(budget, min(done + (self.phase.recheck or 0), 2 * budget))

    def _candidates(self, rng: np.random.Generator) -> Block:
        """Many random points."""
        setup = self.setup
        wider = setup.sampler.points.times(CANDIDATES)
        return Sampler(setup.system.family, wider, "random").collocation(rng).block(setup.options.precision)

    def _adapted(self, problem: Problem, theta: jax.Array, spread: Block, stream: int) -> Block:
        """Half of the points spread out, half drawn from candidates with probability proportional to |r|."""
        setup = self.setup
        rng = np.random.default_rng(np.random.SeedSequence([setup.seed, 2, stream]))
        candidates = self._candidates(rng)
        strength = _sizes(problem, candidates, theta)
        x, options = np.array(spread.x), np.asarray(candidates.x)
        for k, row in enumerate(strength):
            half = int(np.sum(np.asarray(spread.weight[k]) > 0)) // 2
            chance = np.where(np.asarray(candidates.weight[k]) > 0, row + 1e-12 * row.max() + 1e-300, 0.0)
            picked = rng.choice(len(chance), size=half, replace=False, p=chance / chance.sum())
            x[k][:, :half] = options[k][:, picked]
        return eqx.tree_at(lambda block: (block.x, block.y), spread, (x, x))


_value = jax.jit(Problem.value)


def _mean_square(problem: Problem, block: Block, theta: jax.Array) -> Float[np.ndarray, "K"]:
    """The mean square of the residual over the points of a block, by subdomain."""
    return np.sum(_sizes(problem, block, theta) ** 2 * np.asarray(block.weight), axis=1)


def _sizes(problem: Problem, block: Block, theta: jax.Array) -> Float[np.ndarray, "K N"]:
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
