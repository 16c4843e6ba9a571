"""Offline tests: PDEs that were not played, solved with the learned sets and by every baseline.

PDE number p has the same parameters, points and starting weights for all methods; they follow from the seed and p. The
number of a trial is p * STRIDE + the method's number, so that PDEs, methods or draws of the oracle can be added to a
file at any time. The measure of a solve is the relative L2 error, or, for a family without a reference, the residual
on fresh points. A *failure* is a solve that diverged, failed, or is no better than the zero function (measure of 1 or
more).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.stats import wilcoxon

from ..bandit import Knowledge, Played, Random
from ..errors import StudyError
from ..pinn.schedule import find_schedule
from ..study import Ledger, Study
from ..study.driver import Show
from ..study.ledger import TRIALS
from ..study.play import Task
from ..study.rewards import find_reward
from ..study.rows import PlayRow
from ..study.settings import StudySettings
from .baselines import LEARNED, METHODS, Method, RandomSets, Setup, make_task
from .trials import Trials

KIND = "offline test"
STRIDE = 10_000
ORACLE = 1_000  # the number of the oracle's first draw
ORACLE_NAME = "oracle"
OWN = range(100, ORACLE)  # the numbers of users' own methods
CONTEXT, SEED = 2, 3  # streams of random numbers; a study's plays have 0 and 1
FAILURE = 1.0


@dataclass(frozen=True)
class Summary:
    """The results of one method, and its comparison with the learned choice on the PDEs that both solved.

    `ratio` is the median of measure / learned measure, `better` the share of PDEs on which the learned choice is
    better, and `p` the two-sided p-value of Wilcoxon's signed-rank test on the logarithms.
    """

    method: str
    title: str
    pdes: int
    mean: float
    std: float
    median: float
    quartiles: tuple[float, float]
    failures: float
    ratio: float | None = None
    better: float | None = None
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def method_name(number: int, own: Sequence[Method] = ()) -> tuple[int, str]:
    """The PDE and the name of the method of a trial."""
    pde, method = divmod(number, STRIDE)
    names = {one.number: one.name for one in (*METHODS.values(), *own)}
    return pde, ORACLE_NAME if method >= ORACLE else names.get(method, f"method-{method}")


class OfflineTest:
    """The result of an offline test, read from its file."""

    def __init__(self, rows: Mapping[int, PlayRow], settings: Mapping[str, Any], own: Sequence[Method] = ()):
        self.settings = settings
        self.titles = {method.name: method.title for method in (*METHODS.values(), *own)}
        self.rows: dict[str, dict[int, PlayRow]] = {}
        self.draws: dict[int, list[PlayRow]] = {}
        for number, row in sorted(rows.items()):
            pde, name = method_name(number, own)
            if name == ORACLE_NAME:
                self.draws.setdefault(pde, []).append(row)
            else:
                self.rows.setdefault(name, {})[pde] = row

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> OfflineTest:
        """Read a file that `run_test` has written or is writing."""
        with Ledger(path) as ledger:
            settings, rows = ledger.settings(), {row.number: row for row in ledger.plays()}
        if settings.get(TRIALS, {}).get("kind") != KIND:
            raise StudyError(f"'{path}' is the ledger of a study, not of an offline test; `metalic test` makes one")
        return cls(rows, settings)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods with results: in the order of `METHODS`, then users' own, the oracle last."""
        found = (*(name for name in METHODS if name in self.rows), *(name for name in self.rows if name not in METHODS))
        return (*found, ORACLE_NAME) if self.draws else found

    def __repr__(self) -> str:
        learned = self.measures("learned")
        middle = f", median {np.median(list(learned.values())):.2e} with the learned sets" if learned else ""
        return f"<OfflineTest of {self.settings['family']['name']}: {len(self.methods)} methods{middle}>"

    def _repr_html_(self) -> str:
        from .tables import summary_table

        return summary_table(self.summary(), self.settings).to_html()

    def measures(self, method: str) -> dict[int, float]:
        """The measure of every PDE that a method has solved; infinite where it failed."""
        if method != ORACLE_NAME:
            return {pde: measure(row) for pde, row in self.rows.get(method, {}).items()}
        tried = [rows for name, rows in self.rows.items() if not name.startswith("pinn")]
        return {
            pde: min(measure(row) for row in (*draws, *(rows[pde] for rows in tried if pde in rows)))
            for pde, draws in self.draws.items()
        }

    def summary(self) -> list[Summary]:
        """Summarize all methods, in order."""
        return [self._summary(name) for name in self.methods]

    def _summary(self, name: str) -> Summary:
        mine, learned = self.measures(name), self.measures("learned")
        common = [pde for pde in mine if pde in learned and np.isfinite(mine[pde]) and np.isfinite(learned[pde])]
        against: tuple[Any, Any, Any] = (None, None, None)
        if common and name != "learned":
            against = compare(np.array([mine[p] for p in common]), np.array([learned[p] for p in common]))
        values = np.array(list(mine.values()))
        title = f"oracle of {self._tried()} draws" if name == ORACLE_NAME else self.titles.get(name, name)
        return Summary(name, title, len(values), *statistics(values), *against)

    def _tried(self) -> str:
        counts = {len(draws) for draws in self.draws.values()}
        return f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def measure(row: PlayRow) -> float:
    """The relative error of a trial, or the residual if there is no reference; infinite if it failed."""
    if row.error is not None:
        return row.error
    return np.inf if row.reward is None else float(10**-row.reward)


def statistics(values: Float[np.ndarray, "n"]) -> tuple[float, float, float, tuple[float, float], float]:
    """Mean, standard deviation, median and quartiles of the finite values, and the share of failures in all values."""
    finite = values[np.isfinite(values)]
    failures = float(np.mean(~(values < FAILURE))) if len(values) else np.nan
    if not len(finite):
        return np.nan, np.nan, np.nan, (np.nan, np.nan), failures
    low, middle, high = np.quantile(finite, (0.25, 0.5, 0.75)).tolist()
    return float(finite.mean()), float(finite.std()), middle, (low, high), failures


def compare(theirs: Float[np.ndarray, "n"], ours: Float[np.ndarray, "n"]) -> tuple[float, float, float]:
    """Median ratio theirs / ours, share of pairs in which ours is smaller, and Wilcoxon's p on the logarithms."""
    difference = np.log10(np.maximum(theirs, 1e-300)) - np.log10(np.maximum(ours, 1e-300))
    p = float(wilcoxon(difference).pvalue) if np.any(difference) else 1.0
    return float(10 ** np.median(difference)), float(np.mean(difference > 0)), p


class Planner:
    """Makes the tasks of an offline test of one study."""

    def __init__(self, settings: StudySettings, learned: Knowledge | None, seed: int):
        self.settings, self.learned, self.seed = settings, learned, seed
        self._played = {play.context for play in learned.history} if learned is not None else set()
        self._setups: dict[str, Setup] = {}

    def parameters(self, pde: int) -> dict[str, float]:
        """Draw parameters uniformly from their ranges, never those of a play."""
        rng = np.random.default_rng(self._sequence(pde, CONTEXT))
        boxes = self.settings.family.parameters
        while True:
            found = {name: float(rng.uniform(low, high)) for name, (low, high) in boxes.items()}
            if not boxes or tuple(found.values()) not in self._played:
                return found

    def todo(self, pdes: int, methods: Sequence[Method], oracle: int = 0) -> dict[int, Callable[[], Task]]:
        """All trials, PDE by PDE, so that finished trials can be compared at any time."""
        chance = replace(self.settings.bandit_settings, policy=Random())
        draws = [RandomSets(ORACLE_NAME, ORACLE_NAME, ORACLE + k, chance) for k in range(oracle)]
        chosen: list[Method] = [*methods, *draws]
        return {
            pde * STRIDE + method.number: partial(self.task, method, pde)
            for pde in range(1, pdes + 1)
            for method in chosen
        }

    def task(self, method: Method, pde: int) -> Task:
        """One PDE of the test for one method."""
        seed = int(self._sequence(pde, SEED).generate_state(1)[0])
        return self.at(method, self.parameters(pde), seed, pde * STRIDE + method.number)

    def at(self, method: Method, parameters: Mapping[str, float], seed: int, number: int = 0) -> Task:
        """Any PDE of the family for one method."""
        if method.name not in self._setups:  # fitted once, not for every PDE
            self._setups[method.name] = method.setup(self.settings, self.learned)
        return make_task(self._setups[method.name], self.settings, number, parameters, seed, (self.seed, number))

    def _sequence(self, pde: int, stream: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(pde, stream))


def planner(study: Study, schedule: Any = None, seed: int = 0) -> Planner:
    """The planner of a study; another schedule must have as many phases as the study's."""
    settings = study.settings
    if schedule is not None:
        found = find_schedule(schedule)
        if len(found.phases) != len(settings.schedule.phases):
            raise StudyError(
                f"'{study.path}' knows plays of {len(settings.schedule.phases)} phase(s); schedule '{found.name}' has "
                f"{len(found.phases)}"
            )
        settings = replace(settings, schedule=found)
    return Planner(settings, study.learned, seed)


def check_methods(given: Sequence[str | Method] | None, study: Study) -> list[Method]:
    """The methods to run: those given, or all that suit the family; 'learned' is always among them."""
    if given is None:
        whole = not study.family.coefficients
        return [method for name, method in METHODS.items() if whole or not name.startswith("pinn")]
    found = {one.number: one for one in (METHODS.find(one) if isinstance(one, str) else one for one in given)}
    own = [method for method in found.values() if method not in METHODS.values()]
    if bad := [method for method in own if method.number not in OWN or method.name in METHODS]:
        raise StudyError(
            f"method '{bad[0].name}' of your own needs a name of its own and a number from {OWN[0]} to {OWN[-1]}, "
            f"not {bad[0].number}"
        )
    return [*(method for method in METHODS.values() if method.number in found or method is LEARNED), *own]


def run_test(
    study: Study,
    out: str | os.PathLike[str],
    *,
    pdes: int = 100,
    methods: Sequence[str | Method] | None = None,
    oracle: int = 0,
    schedule: Any = None,
    seed: int = 0,
    workers: int | str | Any = 1,
    progress: Show | None = None,
) -> OfflineTest:
    """Test what a study has learned on PDEs that it has not played.

    Trials that are in the file are not run again; PDEs, methods or draws of the oracle can be added later.

    Args:
        study: The study.
        out: The file of the results; created if it does not exist.
        pdes: The number of PDEs.
        methods: Keys of `METHODS`, or your own: a `Method`, or its place (`file.py:NAME`); by default all built-in
            methods that suit the family.
        oracle: The number of random sets to try per PDE; their best is the oracle.
        schedule: A schedule other than the study's, with as many phases.
        seed: Decides PDEs, points and random sets.
        workers: As in `Study.play`.
        progress: As in `Study.play`.

    Returns:
        The results so far.

    Raises:
        StudyError: An argument is not allowed, or the file belongs to another test.
        KeyboardInterrupt: After Ctrl-C, as in `Study.play`.
    """
    if not 1 <= pdes <= 10**6 or not 0 <= oracle < STRIDE - ORACLE:
        raise StudyError(f"a test has at least 1 PDE and an oracle at least 0 draws, not {pdes} and {oracle}")
    chosen = check_methods(methods, study)
    plan = planner(study, schedule, seed)
    with Trials(out, settings_of(study, plan)) as trials:
        trials.run(plan.todo(pdes, chosen, oracle), workers, progress)
        return OfflineTest(trials.rows, trials.settings, chosen)


def settings_of(study: Study, plan: Planner) -> dict[str, Any]:
    """The settings of a test's file: those of the study, and which plays it learned from."""
    about = {
        "kind": KIND,
        "plays": len(study.learned.history),
        "hash": experience_hash(study.learned.history),
        "reward": str(study.settings.reward),
        "seed": study.settings.seed,
    }
    measured = str(find_reward(None, study.family))
    return plan.settings.to_dict() | {"reward": measured, "seed": plan.seed, TRIALS: about}


def experience_hash(history: Sequence[Played]) -> str:
    """A hash of the plays that were learned from."""
    rows = [(play.context, [(phase.arm, phase.reward) for phase in play.phases]) for play in history]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
