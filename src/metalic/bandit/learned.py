"""What is known from rewards: a Gaussian process per phase gives every arm a mean and a deviation.

Recommending is greedy. A later phase's loss is not known before the PDE is solved, so the median loss of the ten
finished plays that are nearest is used: squared distance of the scaled contexts plus the share of conditions in which
the arm of the phase before differs. (`losses` or `loss` overrides it once the loss is known.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from metalic.bandit.bandit import Bandit
from metalic.bandit.gp import GP, train
from metalic.bandit.history import LossScale, Played, PlayedPhase
from metalic.bandit.kernel import Form, find_kernel
from metalic.bandit.knowledge import Effects, Knowledge, randomness
from metalic.bandit.policies import Belief, Random
from metalic.bandit.settings import PLAIN, Sequential
from metalic.errors import BanditError
from metalic.sets import Decision, Level
from metalic.validation import integer

NEAREST = 10  # plays whose median loss is used for an unknown loss


@dataclass(frozen=True, eq=False)
class Learned(Knowledge):
    """What is known from rewards, by a Gaussian process per phase."""

    bandit: Bandit
    history: tuple[Played, ...]
    _models: dict[int, GP] = field(default_factory=dict, init=False, repr=False)

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
            return self._decision(int(allowed[policy.choose(Belief.blank(len(allowed)), play, rng)]))
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
        bandit = self.bandit
        mean, cov = self.model(phase).contrast(self._scaled(context, phase, loss), bandit.arms, bandit.contrasts)
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
