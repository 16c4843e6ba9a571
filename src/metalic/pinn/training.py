"""Train one phase chunk by chunk: take steps, measure, report, save, and move points and parameters in between."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..progress import Stage
from ..sets import Decision
from .adaptive import adapted, misses, residual_sizes
from .checkpoint import Snapshot, progress_of
from .limits import Limits
from .optimizers import Ahead, Optimizer, Progress, Status, advance, restart
from .optimizers import compiled as compile_programs
from .problem import Block, Problem
from .schedule import Phase
from .setup import SolveSetup
from .solution import ERROR_CAP, PhaseRecord, relative_error
from .trained import evaluate

CONVERGED = (Status.GRADIENT, Status.CHANGE, Status.STALLED)
_value = jax.jit(Problem.value)


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

    @property
    def stage(self) -> Stage:
        """For a progress bar."""
        where = f"phase {self.phase + 1}/{self.phases}"
        if self.loss is None:
            return Stage(f"{where} compiling {self.optimizer}", 0, self.iterations)
        error = "" if self.error is None else f"  error {self.error:.2e}"
        return Stage(f"{where} {self.optimizer}", self.iteration, self.iterations, f"loss {self.loss:.2e}{error}")


class PhaseTrainer:
    """Runs one phase chunk by chunk; between chunks it measures, reports and moves points."""

    def __init__(
        self,
        setup: SolveSetup,
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
            residual_sizes(problem, problem.collocation, theta)
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
            if status is Status.RUNNING:
                status = asked
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

    def _measure(self, problem: Problem, done: int, state: Progress, seconds: float) -> Status:
        """Add to the history; the status that the callback asks for."""
        setup, system, theta = self.setup, self.setup.system, state.theta
        loss = float(state.loss if problem.balance is None else _value(problem.unbalanced, theta))
        error = ERROR_CAP if not np.isfinite(loss) else None
        if error is None and setup.reference is not None:
            weights, centre, slope = (np.asarray(array) for array in (theta, problem.centre, problem.slope))
            values = evaluate(system.family, system.network, weights, setup.grid, centre, slope)
            error = relative_error(values, setup.reference)
        self.history.append((done, seconds, loss, error))
        return self._report(done, loss, error, seconds)

    def _report(self, done: int, loss: float | None, error: float | None, seconds: float) -> Status:
        if self.progress is None:
            return Status.RUNNING
        name, budget = self.phase.optimizer.name, self.phase.iterations
        answer = self.progress(Report(self.number, self.phases, name, done, budget, loss, error, seconds))
        return answer if isinstance(answer, Status) else Status.STOPPED if answer is True else Status.RUNNING

    def _move_points(self, problem: Problem, theta: jax.Array) -> Problem:
        setup = self.setup
        self.draws += 1
        stream = 1000 * (self.number + 1) + self.draws
        collocation, boundary, interface = setup.sampler.draw(setup.seed, stream).blocks(setup.options.precision)
        if self.phase.adaptive or self.phase.recheck:
            collocation = setup.on_device(adapted(setup, problem, theta, collocation, stream))
        return _with_points(problem, (collocation, boundary, interface))

    def _is_missing(self, problem: Problem, state: Progress, done: int, status: Status) -> bool:
        """Whether it is time to look at fresh points, and the residual is much larger there."""
        every, ended = self.phase.recheck, status in CONVERGED
        if not every or not (ended or (status is Status.RUNNING and done % every == 0)):
            return False
        if self._longer(done) <= done:
            return False
        missing = misses(self.setup, problem, state.theta, (self.number, done))
        self.gathered += [done] if missing else []
        return missing

    def _longer(self, done: int) -> int:
        """The budget of a phase that has found after `done` iterations that its points miss something."""
        budget = self.phase.iterations
        return max(budget, min(done + (self.phase.recheck or 0), 2 * budget))


def _points(problem: Problem) -> tuple[Block, tuple[Block, ...], Block | None]:
    return problem.collocation, problem.boundary, problem.interface


def _with_points(problem: Problem, points: tuple[Block, tuple[Block, ...], Block | None]) -> Problem:
    return eqx.tree_at(_points, problem, points, is_leaf=lambda leaf: leaf is None)
