"""A user's file with one of each kind of thing that can be added; `test_registry.py` names them by their place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import metalic as mt
from metalic.bandit import Policy, RewardKernel
from metalic.bandit.kernel import Hyperprior
from metalic.evaluation.baselines import FixedSet
from metalic.evaluation.pictures import Picture
from metalic.evaluation.tables import Table
from metalic.pinn.optimizers import Optimizer, Progress
from metalic.pinn.optimizers.base import status_of, unevaluated
from metalic.reproduction.campaign import Campaign, Item, Made
from metalic.study import Reward, Study


class Twice(mt.Condition):
    """Twice the jump."""

    name, description, formula, symmetric = "twice", "twice the jump", "2 (u - u')", True

    def law(self, a: Any, b: Any, n: Any) -> Any:
        return 2 * (a.u - b.u)


class Own(mt.Family):
    """u_x = -a u; exact solution exp(-a x)."""

    parameters = {"a": (0.5, 2.0)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    conditions = ("u", "x")
    own_conditions = (Twice(),)
    points = mt.Points(8, 1, 1)
    grid = (11,)
    solver_options = {"hidden": (3,)}

    def residual(self, u: Any, p: Any, a: Any) -> Any:
        return u.x + a * u.value

    def boundary(self) -> list[Any]:
        return [mt.Dirichlet("x=0", 1.0)]

    def reference(self, a: float) -> Any:
        return lambda points: np.exp(-a * points[:, 0])


@dataclass(frozen=True)
class Descent(Optimizer):
    """Gradient descent."""

    rate: float = 1e-3

    name = "descent"
    chunk = 2

    def init(self, objective: Any, theta: Any) -> Progress:
        return unevaluated(theta, None)

    def step(self, objective: Any, state: Progress) -> Progress:
        loss, gradient = objective.value_and_gradient(state.theta)
        return Progress(state.theta - self.rate * gradient, loss, status_of(loss), None)


SCHEDULE = mt.Schedule("descending", (mt.Phase(Descent(), 4),), sampling="grid")


@dataclass(frozen=True)
class Last(Policy):
    """The set of all conditions, always."""

    name: ClassVar[str] = "last"

    def scores(self, belief: Any, play: int, rng: np.random.Generator) -> Any:
        return np.arange(len(belief.mean), dtype=float) * (1 + belief.std.max())


class Flat(RewardKernel):
    """All sets are alike in all contexts."""

    name = "flat"

    @staticmethod
    def priors(s: int, d: int) -> dict[str, Hyperprior]:
        return {"amplitude": Hyperprior(1.0, 1.0)}

    def evaluate(self, X1: Any, X2: Any) -> Any:
        return jnp.asarray(self["amplitude"][0])


@dataclass(frozen=True)
class Plain(Reward):
    """Minus the error."""

    name: ClassVar[str] = "plain"

    def of(self, record: Any, seconds: float) -> float:
        return -record.error


LAST_ONLY = FixedSet(
    "last-only", "last condition alone", 100, lambda catalogue, _: catalogue.parse(catalogue.names[-1:])
)


class PlaysOfEach(Picture):
    """A bar per study."""

    name = "plays-of-each"
    caption = "The number of plays of each study."

    def draw(self, studies: Sequence[Study]) -> Iterator[tuple[str, Figure]]:
        figure = Figure()
        figure.subplots().bar(range(len(studies)), [len(study.plays) for study in studies])
        yield "Plays of each study", figure


def _counted(campaign: Campaign) -> Made:
    table = Table("PDEs per family", ("PDEs",), ((campaign.scale.pdes,),))
    return campaign.save("count", {}, table, table, schedule="")


COUNT = Item("count", _counted)
