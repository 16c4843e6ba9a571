"""Contextual bandits over sets of conditions: which set to play next, and which to recommend.

An arm is a subset of s conditions, a 0/1 vector a of index sum_i 2^i a_i; the empty set is one of the 2^s. In a
context the reward model of the phase gives every arm a mean and a deviation, and the policy picks. A bandit has no
memory of its own: `learn` takes the finished plays, and every answer is a function of them, of the settings and of
the key that is passed in, so that a study can be continued, or decided on another machine, from its rows alone.
Recommending is greedy. A later phase's loss is not known before the PDE is solved, so the median loss of the ten
finished plays that are nearest is used: squared distance of the scaled contexts plus the share of conditions in which
the arm of the phase before differs. (`losses` or `loss` overrides it once the loss is known.)
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from metalic.bandit.gp import GP, train
from metalic.bandit.history import ContextBox, LossScale, Pair, Played, PlayedPhase, target
from metalic.bandit.kernel import Form, find_kernel
from metalic.bandit.policies import Belief, Random
from metalic.bandit.settings import PLAIN, Paired, Sequential, Settings
from metalic.choices import Arms, Choice
from metalic.errors import BanditError
from metalic.sets import Decision, Level
from metalic.validation import integer, real

MOST_CONDITIONS = 16
NEAREST = 10  # plays whose median loss is used for an unknown loss


@cache
def all_arms(conditions: int) -> Float[np.ndarray, "arms conditions"]:
    """Every subset of the conditions, in the order of its index; row i holds the bits of i, the lowest first."""
    return Arms(tuple(map(str, range(conditions)))).vectors


@dataclass(frozen=True, eq=False)
class Effects:
    """What switching each condition on does to the phase's target, averaged over the other conditions, and what each
    level does, compared with the other levels of its choice; in the order of `Bandit.columns`."""

    mean: Float[np.ndarray, "columns"]
    std: Float[np.ndarray, "columns"]


@dataclass(frozen=True, kw_only=True)
class Bandit:
    """A bandit: its settings, and what can be played.

    Args:
        settings: `Paired(...)`, `Single(...)` or `Sequential(...)`.
        conditions: The names of the conditions.
        low: The lower end of the range of every context dimension.
        high: The upper end of every range.
        phases: The number of phases of a play.
        choices: What is chosen besides the conditions, once for a play.

    Raises:
        BanditError: An argument is not allowed; a ChoiceError if there are too many arms.

    Example:
        >>> from metalic.bandit import Played, PlayedPhase, Random, Single
        >>> bandit = Bandit(settings=Single(policy=Random()), conditions=("u", "c"), low=(0.0,), high=(1.0,))
        >>> learned = bandit.learn([Played((0.5,), (PlayedPhase((1, 0), reward=2.0),))])
        >>> learned.decide((0.3,), play=2, key=0).conditions.known
        ('u', 'c')
    """

    settings: Settings
    conditions: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    phases: int = 1
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.settings, Settings):
            raise BanditError(
                f"a bandit's settings are Paired(...), Single(...) or Sequential(...), not {self.settings!r}"
            )
        self._check_conditions()
        if integer(self.phases) is None:
            raise BanditError(f"phases is a whole number, not {self.phases!r}")
        if self.phases < 1:
            raise BanditError(f"a play has at least one phase, not {self.phases}")
        for index in self.settings.first:
            if integer(index) is None or index >= len(self.space):
                most = len(self.space) - 1
                raise BanditError(
                    f"a set to begin with is an index from 0 to {most}, not {index!r}; a study also takes names"
                )
        if not isinstance(self.settings, Paired):
            find_kernel(self.settings.kernel)
        elif not 0 <= self.settings.champion_number < len(self.space):
            most = len(self.space) - 1
            raise BanditError(f"a champion is the number of an arm from 0 to {most}, not {self.settings.champion}")
        try:
            ends = {end: tuple(map(float, getattr(self, end))) for end in ("low", "high")}
        except (TypeError, ValueError, OverflowError):
            raise BanditError(f"low and high are numbers for each context, not {self.low!r}, {self.high!r}") from None
        for end, values in ends.items():
            object.__setattr__(self, end, values)
        ContextBox(self.low, self.high)

    def _check_conditions(self) -> None:
        given: Any = self.conditions
        if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
            raise BanditError(f"conditions are a tuple of names, not {given!r}")
        if len(set(given)) < len(given):
            raise BanditError(f"conditions have distinct names, not {given!r}")
        if not given:
            raise BanditError(
                f"there are no conditions to choose among: a bandit takes 1 to {MOST_CONDITIONS} conditions"
            )
        if len(given) > MOST_CONDITIONS:
            raise BanditError(
                f"a bandit chooses among 1 to {MOST_CONDITIONS} conditions (2^{MOST_CONDITIONS} sets), not "
                f"{len(given)}; leave out the conditions that are least likely to matter"
            )
        object.__setattr__(self, "conditions", tuple(given))

    @cached_property
    def box(self) -> ContextBox:
        return ContextBox(self.low, self.high)

    @cached_property
    def space(self) -> Arms:
        """What can be played."""
        return Arms(self.conditions, self.choices)

    @property
    def arms(self) -> Float[np.ndarray, "arms columns"]:
        """All arms as 0/1 rows, in the order of their numbers."""
        return self.space.vectors

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the entries of an arm: conditions, then levels."""
        return self.space.columns

    @property
    def decisions(self) -> int:
        """The number of decisions in a play."""
        return self.phases if isinstance(self.settings, Sequential) else 1

    def learn(self, history: Sequence[Played]) -> "Knowledge":
        """Combine the bandit with finished plays. Reward models are fitted when they are first needed.

        Raises:
            BanditError: A play does not fit the bandit.
        """
        if not isinstance(history, Sequence) or not all(isinstance(play, Played) for play in history):
            raise BanditError(f"a history is a list of finished plays, not {history!r}")
        plays = tuple(self.checked(play, number) for number, play in enumerate(history))
        if isinstance(self.settings, Paired):
            from metalic.bandit.compared import Compared

            return Compared(self, plays)
        return Learned(self, plays)

    def arm(self, bits: Sequence[int]) -> Float[np.ndarray, "s"]:
        """Check a 0/1 vector."""
        known = isinstance(bits, Sequence | np.ndarray) and len(bits) == len(self.columns)
        if not known or any(isinstance(bit, Iterable) or bit not in (0, 1) for bit in bits):
            raise BanditError(f"an arm is {len(self.columns)} zeros and ones, not {bits!r}")
        return np.asarray(bits, float)

    def checked(self, play: Played, number: int) -> Played:
        """Check that a finished play has all values that will be used, and that they are finite."""
        where = f"finished play {number} of the history"
        self.box.scale(play.context)
        if len(play.phases) != self.phases:
            raise BanditError(f"{where} has {len(play.phases)} phases, not {self.phases}")
        for p, phase in enumerate(play.phases):
            self.arm(phase.arm)
            if isinstance(self.settings, Paired) and not isinstance(play, Pair):
                raise BanditError(f"{where} has no champion: a paired bandit learns from pairs")
            rewarded = isinstance(self.settings, Sequential) or p == self.phases - 1
            if rewarded and (real(phase.reward) is None or real(getattr(play, "champion", 0.0)) is None):
                raise BanditError(
                    f"{where} has the reward {phase.reward} in phase {p}; rewards must be finite numbers: give a play "
                    "that diverged the reward of the worst outcome, and leave out one that failed"
                )
            if self.needs_loss(p) and not isinstance(phase.loss, float | int):
                raise BanditError(f"{where} has no loss before phase {p}, which the bandit uses as a context")
        return play

    def needs_loss(self, phase: int) -> bool:
        """Whether the reward model of a phase has the training loss as a context."""
        return phase > 0 and isinstance(self.settings, Sequential) and self.settings.loss_context != "none"

    def target(self, play: Played, phase: int) -> float:
        """The target of the reward model of a phase."""
        rewards = [p.reward for p in play.phases if p.reward is not None]
        if isinstance(self.settings, Sequential):
            return target(rewards[phase:], self.settings.gamma)
        return rewards[-1]


def randomness(play: int, key: int | Sequence[int]) -> list[int]:
    """The numbers that a decision's random numbers start from, checked."""
    keys = [integer(part) for part in (key if isinstance(key, list | tuple) else [key])]
    found = [part for part in keys if part is not None]
    if integer(play, least=1) is None or len(found) < len(keys) or not found:
        raise BanditError(f"plays and pairs are numbered from 1, keys are not negative; got {play} and key {key}")
    return found


class Knowledge(ABC):
    """A bandit with its finished plays: it decides, recommends and explains."""

    bandit: Bandit
    history: tuple[Played, ...]

    @abstractmethod
    def decide(
        self,
        context: Sequence[float],
        *,
        play: int,
        key: int | Sequence[int],
        phase: int = 0,
        loss: float | None = None,
        pending: Sequence[Played] = (),
        choices: Mapping[str, Level] | None = None,
    ) -> Decision:
        """Choose the arm of a phase.

        Args:
            context: The parameters of the PDE.
            play: The number of the play, from 1.
            key: Decides all that is random.
            phase: The phase; 0 is the first.
            loss: The training loss before the phase, in later phases.
            pending: The plays in flight; those that have chosen an arm in this phase count.
            choices: The levels that were chosen in the first phase.

        Raises:
            BanditError: An argument is not allowed.
        """

    @abstractmethod
    def ranking(
        self,
        context: Sequence[float],
        phase: int,
        loss: float | None,
        top: int,
        choices: Mapping[str, Level] | None = None,
    ) -> tuple[Decision, ...]:
        """The arm to recommend in a phase, and the next best ones."""

    @abstractmethod
    def recommend(
        self, context: Sequence[float], *, losses: Sequence[float | None] = (), top: int = 5
    ) -> tuple[tuple[Decision, ...], ...]:
        """The `top` arms for every decision of a play, the recommended one first.

        Args:
            context: The parameters of the PDE.
            losses: The loss before each phase, where it is known. Elsewhere it is estimated from the nearest plays and
                the arm recommended for the phase before.
            top: The number of arms to return per decision.
        """

    @abstractmethod
    def effects(self, context: Sequence[float], *, phase: int = 0, loss: float | None = None) -> Effects:
        """The effect of each condition and level in a context, by the reward model of a phase."""

    @abstractmethod
    def forecast(self, context: Sequence[float], arm: Decision) -> tuple[float, float]:
        """The last reward of one more play of a recommended arm: mean, and deviation with the noise of a play."""


@dataclass(frozen=True, eq=False)
class Learned(Knowledge):
    """What is known from rewards, by a Gaussian process per phase. Fitted models are not pickled."""

    bandit: Bandit
    history: tuple[Played, ...]
    _models: dict[int, GP] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"bandit": self.bandit, "history": self.history, "_models": {}}

    def model(self, phase: int = 0) -> GP:
        """The reward model of a phase (0 is the first)."""
        self._check_phase(phase)
        if phase not in self._models:
            bandit, plays = self.bandit, self.history
            contexts, arms = self._points([(play.context, play.phases[phase]) for play in plays], phase)
            kernel, plain = find_kernel(bandit.settings.kernel), bandit.settings.gp == PLAIN
            form = Form(kernel, len(bandit.columns), contexts.shape[1], plain)
            rewards = np.array([bandit.target(play, phase) for play in plays])
            self._models[phase] = train(form, contexts, arms, rewards)
        return self._models[phase]

    def decide(
        self,
        context: Sequence[float],
        *,
        play: int,
        key: int | Sequence[int],
        phase: int = 0,
        loss: float | None = None,
        pending: Sequence[Played] = (),
        choices: Mapping[str, Level] | None = None,
    ) -> Decision:
        self._check_phase(phase)
        random = randomness(play, key)
        settings = self.bandit.settings
        policy = settings.policy if play > settings.random_plays else Random()
        self._scaled(context, phase, loss)  # also a random play must have a valid context
        if play <= len(settings.first):
            return self._decision(int(settings.first[play - 1]))
        rng = np.random.default_rng([*random, phase])
        allowed = self._allowed(phase, choices)
        if not policy.needs_model:
            return self._decision(int(allowed[policy.choose(_blank(len(allowed)), play, rng)]))
        belief = self._belief(context, phase, loss, pending if policy.counts_pending else (), allowed)
        chosen = policy.choose(belief, play, rng)
        return self._decision(int(allowed[chosen]), belief, chosen)

    def recommend(
        self, context: Sequence[float], *, losses: Sequence[float | None] = (), top: int = 5
    ) -> tuple[tuple[Decision, ...], ...]:
        ranked: list[tuple[Decision, ...]] = []
        for phase in range(self.bandit.decisions):
            loss = losses[phase] if phase < len(losses) else None
            if loss is None and self.bandit.needs_loss(phase):
                loss = self.expected_loss(context, phase, self._vector(ranked[-1][0]))
            ranked.append(self.ranking(context, phase, loss, top, ranked[0][0].choices if ranked else None))
        return tuple(ranked)

    def predict(
        self, context: Sequence[float], arm: Sequence[int], *, phase: int = 0, loss: float | None = None
    ) -> tuple[float, float]:
        """Predict the target of one arm in a phase: posterior mean and deviation, without noise."""
        mean, std = self.model(phase).predict(self._scaled(context, phase, loss), self.bandit.arm(arm)[None])
        return float(mean[0]), float(std[0])

    def effects(self, context: Sequence[float], *, phase: int = 0, loss: float | None = None) -> Effects:
        self._check_phase(phase)
        if loss is None and self.bandit.needs_loss(phase):
            before = self._vector(self.recommend(context, top=1)[phase - 1][0])
            loss = self.expected_loss(context, phase, before)
        arms = self.bandit.arms
        weights = arms / arms.sum(axis=0) - (1 - arms) / (1 - arms).sum(axis=0)
        mean, cov = self.model(phase).contrast(self._scaled(context, phase, loss), arms, weights)
        return Effects(mean, np.sqrt(np.maximum(np.diag(cov), 0.0)))

    def expected_loss(self, context: Sequence[float], phase: int, before: Sequence[int]) -> float:
        """The median loss before a phase in the nearest plays, `before` being the arm of the phase before."""
        here, arm = self.bandit.box.scale(context), self.bandit.arm(before)
        distances, losses = [], []
        for play in self.history:
            step = self.bandit.box.scale(play.context) - here
            share = np.mean(self.bandit.arm(play.phases[phase - 1].arm) != arm)
            distances.append(float(step @ step + share))
            losses.append(play.phases[phase].loss)
        nearest = np.array(losses, float)[np.argsort(distances, kind="stable")[:NEAREST]]
        finite = nearest[np.isfinite(nearest)]
        return float(np.median(finite)) if len(finite) else 1.0

    def _check_phase(self, phase: int) -> None:
        if integer(phase) is None or phase >= self.bandit.decisions:
            raise BanditError(f"phases are numbered 0 to {self.bandit.decisions - 1}, not {phase}")

    def forecast(self, context: Sequence[float], arm: Decision) -> tuple[float, float]:
        assert arm.mean is not None, "a ranking has means"
        assert arm.std is not None
        model = self.model(self.bandit.decisions - 1)
        noise = model.hyperparameters["sigma0"][0] * float(np.std(model.reward))
        return arm.mean, math.hypot(arm.std, noise)

    def ranking(
        self,
        context: Sequence[float],
        phase: int,
        loss: float | None,
        top: int,
        choices: Mapping[str, Level] | None = None,
    ) -> tuple[Decision, ...]:
        """The `top` arms of largest posterior mean in a phase, the best first."""
        allowed = self._allowed(phase, choices)
        belief = self._belief(context, phase, loss, (), allowed)
        best = np.argsort(-belief.mean, kind="stable")[:top].tolist()
        return tuple(self._decision(int(allowed[i]), belief, i) for i in best)

    def _allowed(self, phase: int, choices: Mapping[str, Level] | None) -> Int[np.ndarray, "k"]:
        """The numbers of the arms among which a phase chooses: later phases keep the levels of the first."""
        space = self.bandit.space
        if phase == 0 or not space.choices:
            return np.arange(len(space))
        if choices is None:
            raise BanditError(f"phase {phase} needs the levels that were chosen in the first; pass choices=...")
        return space.with_levels(choices)

    def _vector(self, decision: Decision) -> tuple[int, ...]:
        return self.bandit.space.vector(decision.conditions.bits, decision.choices)

    def _decision(self, number: int, belief: Belief | None = None, place: int = 0) -> Decision:
        """The arm of a number, with what is believed of it: the entry at its place among those allowed."""
        if belief is None:
            return self.bandit.space.decision(number)
        return self.bandit.space.decision(number, float(belief.mean[place]), float(belief.std[place]))

    def _belief(
        self,
        context: Sequence[float],
        phase: int,
        loss: float | None,
        pending: Sequence[Played],
        allowed: Int[np.ndarray, "k"] | None = None,
    ) -> Belief:
        """What is believed of the arms with these numbers; of all by default."""
        started = [(play.context, play.phases[phase]) for play in pending if len(play.phases) > phase]
        model = self.model(phase).with_pending(*self._points(started, phase))
        scaled, arms = self._scaled(context, phase, loss), self.bandit.arms
        arms = arms if allowed is None else arms[allowed]
        mean, std = model.predict(scaled, arms)
        return Belief(mean, std, lambda: model.covariance(scaled, arms))

    def _scaled(self, context: Sequence[float], phase: int, loss: float | None) -> Float[np.ndarray, "d"]:
        """A context as the reward model of a phase sees it."""
        return self._contexts([context], [loss], phase)[0]

    def _contexts(
        self, contexts: Sequence[Sequence[float]], losses: Sequence[float | None], phase: int
    ) -> Float[np.ndarray, "n d"]:
        scaled = np.array([self.bandit.box.scale(context) for context in contexts])
        scaled = scaled.reshape(len(contexts), len(self.bandit.low))
        if not self.bandit.needs_loss(phase):
            return scaled
        known = [loss for loss in losses if loss is not None]
        if len(known) < len(losses):
            raise BanditError(f"phase {phase} needs the training loss before it as a context; pass loss=...")
        return np.hstack([scaled, self._loss_scale(phase).scale(known)])

    def _points(
        self, plays: Sequence[tuple[Sequence[float], PlayedPhase]], phase: int
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n s"]]:
        contexts = self._contexts([context for context, _ in plays], [played.loss for _, played in plays], phase)
        arms = [self.bandit.arm(played.arm) for _, played in plays]
        return contexts, np.array(arms).reshape(len(plays), len(self.bandit.columns))

    def _loss_scale(self, phase: int) -> LossScale:
        settings = self.bandit.settings
        assert isinstance(settings, Sequential)
        losses = [play.phases[phase].loss for play in self.history]
        return LossScale.seen(settings.loss_context, [loss for loss in losses if loss is not None])


def _blank(arms: int) -> Belief:
    """An empty belief, for policies that use no model."""
    zeros = np.zeros(arms)
    return Belief(zeros, zeros, lambda: np.zeros((arms, arms)))
