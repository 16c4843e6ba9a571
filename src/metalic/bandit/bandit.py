"""Contextual bandits over sets of conditions: which set to play next, and which to recommend.

An arm is a subset of s conditions, a 0/1 vector a of index sum_i 2^i a_i; the empty set is one of the 2^s. In a
context the reward model of the phase gives every arm a mean and a deviation, and the policy picks. A bandit has no
memory of its own: `learn` takes the finished plays, and every answer is a function of them, of the settings and of
the key that is passed in, so that a study can be continued, or decided on another machine, from its rows alone.
Recommending is greedy. A later phase's loss is not known before the PDE is solved, so the median loss of the ten
finished plays that are nearest is used: squared distance of the scaled contexts plus the share of conditions in which
the arm of the phase before differs. (`losses` or `loss` overrides it once the loss is known.)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from metalic.bandit.gp import GP, train
from metalic.bandit.history import ContextBox, LossScale, Played, PlayedPhase, target
from metalic.bandit.kernel import Form, find_kernel
from metalic.bandit.policies import Belief, Random
from metalic.bandit.settings import PLAIN, Sequential, Settings
from metalic.errors import BanditError
from metalic.sets import ConditionSet, Decision
from metalic.validation import integer, real

MOST_CONDITIONS = 16
NEAREST = 10  # plays whose median loss is used for an unknown loss


@cache
def all_arms(conditions: int) -> Float[np.ndarray, "arms conditions"]:
    """Every subset of the conditions, in the order of its index; row i holds the bits of i, the lowest first."""
    index = np.arange(1 << conditions)
    arms = (index[:, None] >> np.arange(conditions) & 1).astype(float)
    arms.flags.writeable = False
    return arms


@dataclass(frozen=True, eq=False)
class Effects:
    """What switching each condition on does to the phase's target, averaged over the other conditions."""

    mean: Float[np.ndarray, "conditions"]
    std: Float[np.ndarray, "conditions"]


@dataclass(frozen=True, kw_only=True)
class Bandit:
    """A bandit: its settings, and what can be played.

    Args:
        settings: `Single(...)` or `Sequential(...)`.
        conditions: The names of the conditions.
        low: The lower end of the range of every context dimension.
        high: The upper end of every range.
        phases: The number of phases of a play.

    Raises:
        BanditError: An argument is not allowed.

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

    def __post_init__(self) -> None:
        if not isinstance(self.settings, Settings):
            raise BanditError(f"a bandit's settings are Single(...) or Sequential(...), not {self.settings!r}")
        self._check_conditions()
        if integer(self.phases) is None:
            raise BanditError(f"phases is a whole number, not {self.phases!r}")
        if self.phases < 1:
            raise BanditError(f"a play has at least one phase, not {self.phases}")
        for index in self.settings.first:
            if integer(index) is None or index >= 2 ** len(self.conditions):
                most = 2 ** len(self.conditions) - 1
                raise BanditError(
                    f"a set to begin with is an index from 0 to {most}, not {index!r}; a study also takes names"
                )
        find_kernel(self.settings.kernel)
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

    @property
    def arms(self) -> Float[np.ndarray, "arms conditions"]:
        """All sets as 0/1 rows, in the order of their index."""
        return all_arms(len(self.conditions))

    @property
    def decisions(self) -> int:
        """The number of decisions in a play."""
        return self.phases if isinstance(self.settings, Sequential) else 1

    def learn(self, history: Sequence[Played]) -> "Learned":
        """Combine the bandit with finished plays. Reward models are fitted when they are first needed.

        Raises:
            BanditError: A play does not fit the bandit.
        """
        if not isinstance(history, Sequence) or not all(isinstance(play, Played) for play in history):
            raise BanditError(f"a history is a list of finished plays, not {history!r}")
        return Learned(self, tuple(self.checked(play, number) for number, play in enumerate(history)))

    def arm(self, bits: Sequence[int]) -> Float[np.ndarray, "s"]:
        """Check a 0/1 vector."""
        known = isinstance(bits, Sequence | np.ndarray) and len(bits) == len(self.conditions)
        if not known or any(isinstance(bit, Iterable) or bit not in (0, 1) for bit in bits):
            raise BanditError(f"an arm is {len(self.conditions)} zeros and ones, not {bits!r}")
        return np.asarray(bits, float)

    def checked(self, play: Played, number: int) -> Played:
        """Check that a finished play has all values that will be used, and that they are finite."""
        where = f"finished play {number} of the history"
        self.box.scale(play.context)
        if len(play.phases) != self.phases:
            raise BanditError(f"{where} has {len(play.phases)} phases, not {self.phases}")
        for p, phase in enumerate(play.phases):
            self.arm(phase.arm)
            rewarded = isinstance(self.settings, Sequential) or p == self.phases - 1
            if rewarded and real(phase.reward) is None:
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


@dataclass(frozen=True, eq=False)
class Learned:
    """A bandit with its finished plays: it decides, recommends and explains. Fitted models are not pickled."""

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
            form = Form(kernel, len(bandit.conditions), contexts.shape[1], plain)
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
    ) -> Decision:
        """Choose the arm of a phase.

        Args:
            context: The parameters of the PDE.
            play: The number of the play, from 1.
            key: Decides all that is random.
            phase: The phase; 0 is the first.
            loss: The training loss before the phase, in later phases.
            pending: The plays in flight; those that have chosen an arm in this phase count.

        Raises:
            BanditError: An argument is not allowed.
        """
        self._check_phase(phase)
        keys = [integer(part) for part in (key if isinstance(key, list | tuple) else [key])]
        if integer(play, least=1) is None or None in keys or not keys:
            raise BanditError(f"plays are numbered from 1 and keys are not negative; got play {play} and key {key}")
        settings = self.bandit.settings
        policy = settings.policy if play > settings.random_plays else Random()
        self._scaled(context, phase, loss)  # also a random play must have a valid context
        if play <= len(settings.first):
            return self._decision(int(settings.first[play - 1]))
        rng = np.random.default_rng([*(part for part in keys if part is not None), phase])
        if not policy.needs_model:
            return self._decision(policy.choose(_blank(len(self.bandit.arms)), play, rng))
        belief = self._belief(context, phase, loss, pending if policy.counts_pending else ())
        return self._decision(policy.choose(belief, play, rng), belief)

    def recommend(
        self, context: Sequence[float], *, losses: Sequence[float | None] = (), top: int = 5
    ) -> tuple[tuple[Decision, ...], ...]:
        """Rank the arms of every decision by posterior mean.

        Args:
            context: The parameters of the PDE.
            losses: The loss before each phase, where it is known. Elsewhere it is estimated from the nearest plays and
                the arm recommended for the phase before.
            top: The number of arms to return per decision.

        Returns:
            For every decision the best arms, the best first.
        """
        ranked: list[tuple[Decision, ...]] = []
        for phase in range(self.bandit.decisions):
            loss = losses[phase] if phase < len(losses) else None
            if loss is None and self.bandit.needs_loss(phase):
                loss = self.expected_loss(context, phase, ranked[-1][0].conditions.bits)
            ranked.append(self.ranking(context, phase, loss, top))
        return tuple(ranked)

    def predict(
        self, context: Sequence[float], arm: Sequence[int], *, phase: int = 0, loss: float | None = None
    ) -> tuple[float, float]:
        """Predict the target of one arm in a phase: posterior mean and deviation, without noise."""
        mean, std = self.model(phase).predict(self._scaled(context, phase, loss), self.bandit.arm(arm)[None])
        return float(mean[0]), float(std[0])

    def effects(self, context: Sequence[float], *, phase: int = 0, loss: float | None = None) -> Effects:
        """The effect of each condition in a context, by the reward model of a phase."""
        self._check_phase(phase)
        if loss is None and self.bandit.needs_loss(phase):
            before = self.recommend(context, top=1)[phase - 1][0].conditions.bits
            loss = self.expected_loss(context, phase, before)
        arms = self.bandit.arms
        weights = (2 * arms - 1) * (2 / len(arms))
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

    def ranking(self, context: Sequence[float], phase: int, loss: float | None, top: int) -> tuple[Decision, ...]:
        """The `top` sets of largest posterior mean in a phase, the best first."""
        belief = self._belief(context, phase, loss, ())
        return tuple(self._decision(int(i), belief) for i in np.argsort(-belief.mean, kind="stable")[:top])

    def _decision(self, index: int, belief: Belief | None = None) -> Decision:
        chosen = ConditionSet.at(self.bandit.conditions, index)
        if belief is None:
            return Decision(chosen)
        return Decision(chosen, float(belief.mean[index]), float(belief.std[index]))

    def _belief(self, context: Sequence[float], phase: int, loss: float | None, pending: Sequence[Played]) -> Belief:
        started = [(play.context, play.phases[phase]) for play in pending if len(play.phases) > phase]
        model = self.model(phase).with_pending(*self._points(started, phase))
        scaled, arms = self._scaled(context, phase, loss), self.bandit.arms
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
        return contexts, np.array(arms).reshape(len(plays), len(self.bandit.conditions))

    def _loss_scale(self, phase: int) -> LossScale:
        settings = self.bandit.settings
        assert isinstance(settings, Sequential)
        losses = [play.phases[phase].loss for play in self.history]
        return LossScale.seen(settings.loss_context, [loss for loss in losses if loss is not None])


def _blank(arms: int) -> Belief:
    """An empty belief, for policies that use no model."""
    zeros = np.zeros(arms)
    return Belief(zeros, zeros, lambda: np.zeros((arms, arms)))
