"""The methods that are compared. All of them use the same solver.

    learned         what the study recommends: the sets of largest posterior mean, or surely better than the champion
    random-single   one random set for the whole training          random-seq   a random set for every phase
    pinn-sub        one subdomain's network on the whole domain, with the union of all points
    pinn-merge-h    the same, twice as wide                        pinn-merge-v  the same, twice as deep
    all             all conditions                                 xpinn         {uavg, rc}
    cpinn           {uavg, c}; where the catalogue has no c, {uavg, u}: across a cut in time the flux is u itself
    fixed           one arm for the whole family: the best on average by the study's reward model
    champion        the arm that a study compares all others with: by default the family's default set and levels

A single-domain PINN is the multi-domain solver on a decomposition of one subdomain: K times the collocation and
boundary points, the same schedule and weights, and no interfaces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..bandit import BanditChooser, GreedyChooser, Knowledge, Random, Sequential, Settings, Single
from ..chooser import Chooser, FixedChooser
from ..conditions import Catalogue, cpinn_set, xpinn_set
from ..errors import StudyError
from ..families.base import Family
from ..pinn.chosen import chosen
from ..pinn.options import SolverOptions
from ..registry import Registry
from ..sets import ALL, NONE, ConditionSet, Decision
from ..study.play import Task
from ..study.rewards import Reward, find_reward
from ..study.settings import StudySettings
from .rules import best_fixed

Widths = tuple[int, ...]


@dataclass(frozen=True)
class Setup:
    """How a method solves a problem: the family as it is solved, a function that makes the chooser of the sets from
    the key of a trial, and options of the solver."""

    family: Family
    chooser: Callable[[tuple[int, ...]], Chooser]
    options: SolverOptions


@dataclass(frozen=True)
class Method(ABC):
    """A method. Its `number` identifies its trials in a file and must never change."""

    name: str
    title: str
    number: int

    @abstractmethod
    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        """Set the method up for the settings of a study and for what it has learned."""


@dataclass(frozen=True)
class Recommended(Method):
    """The sets that the study recommends; in later phases for the loss that the solve reaches."""

    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        known = _needed(learned)
        return Setup(settings.family, lambda key: GreedyChooser(known), settings.options)


@dataclass(frozen=True)
class RandomSets(Method):
    """Uniformly random sets."""

    bandit_settings: Settings

    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        chance = replace(settings.bandit, settings=self.bandit_settings).learn(())
        return Setup(settings.family, lambda key: BanditChooser(chance, 1, key), settings.options)


@dataclass(frozen=True)
class FixedSet(Method):
    """One set for every member of the family."""

    rule: Callable[[Catalogue, Knowledge | None], ConditionSet]

    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        chooser = FixedChooser((Decision(self.rule(settings.catalogue, learned)),))
        return Setup(settings.family, lambda key: chooser, settings.options)


@dataclass(frozen=True)
class FixedArm(Method):
    """One set, and one level of each choice, for every member of the family."""

    rule: Callable[[StudySettings, Knowledge | None], Decision]

    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        chooser = FixedChooser((self.rule(settings, learned),))
        return Setup(settings.family, lambda key: chooser, settings.options)


@dataclass(frozen=True)
class Undivided(Method):
    """A single-domain PINN."""

    widths: Callable[[Widths], Widths]

    def setup(self, settings: StudySettings, learned: Knowledge | None) -> Setup:
        usual = settings.options.resolve(settings.family, settings.schedule)
        points = usual.points.together(settings.family.decomposition.names)
        options = replace(settings.options, hidden=self.widths(usual.hidden), points=points)
        chooser = FixedChooser((Decision(settings.catalogue.parse(NONE)),))
        return Setup(settings.family.undivided(), lambda key: chooser, options)


def _needed(learned: Knowledge | None) -> Knowledge:
    if learned is None:
        raise StudyError("this method chooses by what a study has learned; give it a study's ledger")
    return learned


RANDOM_SEQUENTIAL = Sequential(policy=Random())
LEARNED = Recommended("learned", "learned", 0)
RANDOM_SINGLE = RandomSets("random-single", "Random-Single", 1, Single(policy=Random()))
RANDOM_SEQ = RandomSets("random-seq", "Random-Seq", 2, RANDOM_SEQUENTIAL)
PINN_SUB = Undivided("pinn-sub", "PINN-Sub", 3, lambda hidden: hidden)
PINN_MERGE_H = Undivided("pinn-merge-h", "PINN-Merge-H", 4, lambda hidden: tuple(2 * width for width in hidden))
PINN_MERGE_V = Undivided("pinn-merge-v", "PINN-Merge-V", 5, lambda hidden: hidden * 2)
ALL_CONDITIONS = FixedSet("all", "all conditions", 6, lambda catalogue, _: catalogue.parse(ALL))
XPINN = FixedSet("xpinn", "XPINN (uavg, rc)", 7, lambda catalogue, _: xpinn_set(catalogue))
CPINN = FixedSet("cpinn", "cPINN (uavg, c)", 8, lambda catalogue, _: cpinn_set(catalogue))
FIXED = FixedArm(
    "fixed", "best fixed set", 9, lambda settings, learned: settings.arms.decision(best_fixed(_needed(learned)))
)
CHAMPION = FixedArm("champion", "champion", 10, lambda settings, _: settings.usual)
METHODS: Registry[Method] = Registry("method", Method, __name__, StudyError, instances=True)
PAPER = ("random-single", "random-seq", "pinn-sub", "pinn-merge-h", "pinn-merge-v")


def measured_by(settings: StudySettings) -> Reward:
    """What trials are measured by: the error; for a family without a reference the reward of the study."""
    usual = find_reward(None, settings.family)
    return usual if usual.needs_reference else settings.reward


def make_task(
    setup: Setup,
    settings: StudySettings,
    number: int,
    parameters: Mapping[str, float],
    seed: int,
    key: tuple[int, ...],
) -> Task:
    """One PDE solved by one method; `key` decides what is random in its choice of sets."""
    chooser = setup.chooser(key)
    levels = chooser.begin(parameters)
    family, options = chosen(setup.family, setup.options, settings.schedule, levels)
    return Task(
        number=number,
        family=family,
        parameters=parameters,
        seed=seed,
        schedule=settings.schedule,
        options=options,
        reward=measured_by(settings),
        chooser=chooser,
        choices=levels,
    )
