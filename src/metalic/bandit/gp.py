"""Gaussian-process regression of the reward on (context, arm), with shapes that do not grow with every play.

r = f + noise, f ~ GP(0, k), noise ~ N(0, sigma0^2), on standardised rewards. With K = k(X, X) + sigma0^2 I = L L^T
and z = L^-1 r, A = L^-1 k(X, x): mean A^T z, variance k(x, x) - A^T A, log marginal likelihood -|z|^2/2 - log|L| -
n/2 log 2 pi. Data are padded to a few fixed sizes. A padded point is an identity row of K with reward 0: it changes
none of the three (its log 2 pi / 2 is added back), so a program is compiled once per size and not once per play. Plays
in flight (GP-BUCB) come after the finished ones: the rows of L above do not depend on them, so z restricted to the
finished rows gives the mean of the finished plays, and A over all rows the deviation of both, from one factorisation.
The hyperparameters maximise likelihood times log-normal priors. The search depends on the data alone: the
quasi-random starts are always the same, and the best few are refined by L-BFGS-B in units of the prior. Beyond 64 plays
these searches use 64 plays, evenly spread over the history, and one more search starts from their end on up to 512.
The posterior uses up to 2000 plays, so that a decision takes bounded time and memory: of a longer history the last
1000, which are the most informative, and 1000 evenly spread over the earlier ones. A *plain* form takes the rewards as
they are and maximises the likelihood alone; medians and spreads of the priors then only bound the search.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Float
from scipy.optimize import OptimizeResult, minimize

from metalic.bandit.kernel import AnyArray, Form, Inputs, Masked

SIZES = (
    64,
    256,
    512,
    1024,
    2048,
)  # points in a padded data set; few sizes, because every compiled program takes memory
POSTERIOR = 256  # the smallest size for a posterior, which is computed only once
COARSE, FINE = 64, 512  # the most points that the two searches for hyperparameters use
MOST = 2000  # the most plays that a model uses
CHUNK = 1024  # arms whose posterior is computed at once
STARTS, REFINED = 8, 3  # fixed starts whose likelihoods are compared, and how many of them are refined
GRADIENTS, POLISH = 40, 20  # evaluations of the gradient: per refined start, and in the second search
BOUND = 4.0  # hyperparameters stay within this many prior deviations of their prior median

Contexts = Float[np.ndarray, "n d"]
ArmRows = Float[np.ndarray, "n s"]
Rewards = Float[np.ndarray, "observed"]


class Data(NamedTuple):
    """Padded data: points, rewards, and two masks: finished plays, and finished or pending plays."""

    points: Inputs
    reward: Float[AnyArray, "N"]
    observed: Float[AnyArray, "N"]
    present: Float[AnyArray, "N"]


def padded_size(n: int) -> int:
    """The smallest size that holds n points; beyond the largest (many plays in flight) a multiple of it."""
    return next((size for size in SIZES if n <= size), -(-n // SIZES[-1]) * SIZES[-1])


def _rows(x: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([x, np.zeros((size - len(x), *x.shape[1:]))])


def pad(context: Contexts, arm: ArmRows, reward: Rewards, least: int = 0) -> Data:
    """Data of a fixed size, at least the given one; points beyond the rewards given are pending."""
    n, done = len(context), len(reward)
    size = padded_size(max(n, least))
    observed, present = _rows(np.ones(done), size), _rows(np.ones(n), size)
    return Data(Inputs(_rows(context, size), _rows(arm, size)), _rows(reward, size), observed, present)


def _covariance(form: Form, theta: Float[Array, "p"], data: Data) -> Float[Array, "N N"]:
    points: Any = (data.points, data.present)
    return Masked(form.build(theta))(points, points) + jnp.diag(jnp.where(data.present > 0, form.noise(theta), 1.0))


# The likelihood's gradient is three programs and not one: inside one, XLA gives all matrices the column-major layout
# that LAPACK wants, and the kernel's element-wise passes become slower than all the rest. The second sees rewards
# and masks and not the points, so that models of different contexts share it.
covariance = jax.jit(_covariance, static_argnums=0)


def _likelihood(
    K: Float[Array, "N N"], reward: Float[Array, "N"], present: Float[Array, "N"]
) -> tuple[Float[Array, ""], Float[Array, "N"], Float[Array, "N N"]]:
    """log N(reward | 0, K) without the padding; K^-1 r; and the factor of K."""
    L = jnp.linalg.cholesky(K)
    v = cho_solve((L, True), reward)
    constant = 0.5 * jnp.sum(present) * jnp.log(2 * jnp.pi)
    return -0.5 * jnp.dot(reward, v) - jnp.sum(jnp.log(jnp.diag(L))) - constant, v, L


@jax.jit
def likelihood(K: Float[Array, "N N"], reward: Float[Array, "N"], present: Float[Array, "N"]) -> Float[Array, ""]:
    """log N(reward | 0, K), the padding left out."""
    return _likelihood(K, reward, present)[0]


@jax.jit
def likelihood_and_slope(
    K: Float[Array, "N N"], reward: Float[Array, "N"], present: Float[Array, "N"]
) -> tuple[Float[Array, ""], Float[Array, "N N"]]:
    """`likelihood`, and its gradient with respect to K, (v v^T - K^-1) / 2 with v = K^-1 r."""
    value, v, L = _likelihood(K, reward, present)
    return value, 0.5 * (jnp.outer(v, v) - cho_solve((L, True), jnp.eye(len(L))))


@partial(jax.jit, static_argnums=0)
def _chain(form: Form, theta: Float[Array, "p"], data: Data, slope: Float[Array, "N N"]) -> Float[Array, "p"]:
    return jax.grad(lambda theta: jnp.vdot(slope, _covariance(form, theta, data)))(theta)


def log_marginal(form: Form, theta: Float[np.ndarray, "p"], data: Data) -> tuple[float, Float[np.ndarray, "p"]]:
    """The log marginal likelihood of the data and its gradient with respect to theta."""
    value, slope = likelihood_and_slope(covariance(form, theta, data), data.reward, data.present)
    return float(value), np.asarray(_chain(form, theta, data, slope))


@lru_cache
def _starts(p: int) -> Float[np.ndarray, "starts p"]:
    """Starts in prior units: the median first, then quasi-random draws, somewhat closer to it than the prior's."""
    from scipy.stats import norm, qmc  # takes a second, and not every solve needs it

    return 0.7 * norm.ppf(qmc.Sobol(p, scramble=False).random(2 * STARTS)[1 : STARTS + 1])


def _penalty(form: Form, u: Float[np.ndarray, "p"]) -> float:
    """-log of the prior density up to a constant; none in a plain form."""
    return 0.0 if form.plain else 0.5 * float(u @ u)


def _descend(form: Form, data: Data, u: Float[np.ndarray, "p"], gradients: int) -> OptimizeResult:
    """A maximum of the posterior density of theta near a start, both in prior units."""

    def loss_and_slope(u: Float[np.ndarray, "p"]) -> tuple[float, Float[np.ndarray, "p"]]:
        value, slope = log_marginal(form, form.center + form.spread * u, data)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return 1e10, np.zeros_like(u)  # K has no factor there: the line search turns back
        return _penalty(form, u) - value, (0.0 if form.plain else u) - form.spread * slope

    options = {"maxfun": gradients, "ftol": 1e-7, "gtol": 1e-4}
    bounds = [(-BOUND, BOUND)] * len(u)
    return minimize(loss_and_slope, u, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def _search(form: Form, data: Data) -> Float[np.ndarray, "p"]:
    """The best maximum from the fixed starts."""

    def loss(u: Float[np.ndarray, "p"]) -> float:
        value = float(likelihood(covariance(form, form.center + form.spread * u, data), data.reward, data.present))
        return _penalty(form, u) - value if np.isfinite(value) else np.inf

    starts = sorted(_starts(len(form.center)), key=loss)[:REFINED]
    return min((_descend(form, data, u, GRADIENTS) for u in starts), key=lambda end: end.fun).x


def fit(form: Form, context: Contexts, arm: ArmRows, reward: Rewards) -> Float[np.ndarray, "p"]:
    """The theta of largest posterior density for standardised rewards: the same for the same data."""

    def part(size: int) -> Data:
        chosen = np.linspace(0, len(reward) - 1, min(len(reward), size)).round().astype(int)
        return jax.tree.map(jnp.asarray, pad(context[chosen], arm[chosen], reward[chosen]))

    u = _search(form, part(COARSE))
    if len(reward) > COARSE:
        u = _descend(form, part(FINE), u, POLISH).x
    return form.center + form.spread * u


class Posterior(NamedTuple):
    """What predictions need: hyperparameters, data, the factor L of K, and z = L^-1 r on the finished rows."""

    theta: Float[AnyArray, "p"]
    data: Data
    L: Float[Array, "N N"]
    z: Float[Array, "N"]


@jax.jit
def _factor(
    K: Float[Array, "N N"], reward: Float[Array, "N"], observed: Float[Array, "N"]
) -> tuple[Float[Array, "N N"], Float[Array, "N"]]:
    L = jnp.linalg.cholesky(K)
    return L, solve_triangular(L, reward, lower=True) * observed


def condition(form: Form, theta: Float[np.ndarray, "p"], data: Data) -> Posterior:
    """The process given the data. (K comes from the program that the search for theta has compiled already.)"""
    return Posterior(theta, data, *_factor(covariance(form, theta, data), data.reward, data.observed))


def _seen(given: Posterior) -> Any:
    """The data, as points of a masked kernel."""
    return given.data.points, given.data.present


def _at(context: Float[Array, "d"], arms: Float[Array, "m s"]) -> Any:
    """All arms in one context, as points of a masked kernel."""
    m = len(arms)
    return Inputs(jnp.broadcast_to(context, (m, len(context))), arms), jnp.ones(m)


@partial(jax.jit, static_argnums=0)
def _marginals(
    form: Form, given: Posterior, context: Float[Array, "d"], arms: Float[Array, "m s"]
) -> tuple[Float[Array, "m"], Float[Array, "m"]]:
    kernel, points = Masked(form.build(given.theta)), _at(context, arms)
    A = solve_triangular(given.L, kernel(_seen(given), points), lower=True)
    variance = kernel(points) - jnp.sum(A**2, axis=0)
    return A.T @ given.z, jnp.sqrt(jnp.maximum(variance, 0.0))


@partial(jax.jit, static_argnums=0)
def _joint(form: Form, given: Posterior, context: Float[Array, "d"], arms: Float[Array, "m s"]) -> Float[Array, "m m"]:
    kernel, points = Masked(form.build(given.theta)), _at(context, arms)
    A = solve_triangular(given.L, kernel(_seen(given), points), lower=True)
    return kernel(points, points) - A.T @ A


@partial(jax.jit, static_argnums=0)
def _cross(
    form: Form,
    given: Posterior,
    context: Float[Array, "d"],
    arms: Float[Array, "m s"],
    weights: Float[Array, "m q"],
) -> Float[Array, "N q"]:
    return Masked(form.build(given.theta))(_seen(given), _at(context, arms)) @ weights


@partial(jax.jit, static_argnums=0)
def _own(
    form: Form,
    theta: Float[Array, "p"],
    context: Float[Array, "d"],
    rows: tuple[Float[Array, "m s"], Float[Array, "m q"]],
    columns: tuple[Float[Array, "n s"], Float[Array, "n q"]],
) -> Float[Array, "q q"]:
    K = Masked(form.build(theta))(_at(context, rows[0]), _at(context, columns[0]))
    return rows[1].T @ K @ columns[1]


@jax.jit
def _contrast(
    L: Float[Array, "N N"], z: Float[Array, "N"], cross: Float[Array, "N q"], own: Float[Array, "q q"]
) -> tuple[Float[Array, "q"], Float[Array, "q q"]]:
    A = solve_triangular(L, cross, lower=True)
    return A.T @ z, own - A.T @ A


def _chunks(*arrays: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    return [tuple(x[i : i + CHUNK] for x in arrays) for i in range(0, len(arrays[0]), CHUNK)]


def _standard(form: Form, reward: Rewards) -> tuple[float, float]:
    """Mean and deviation of the rewards; deviation one where they do not vary (rounding aside). A plain form leaves
    the rewards as they are."""
    if form.plain or not len(reward):
        return 0.0, 1.0
    center, scale = float(np.mean(reward)), float(np.std(reward))
    return center, scale if scale > 1e-9 * max(1.0, abs(center)) else 1.0


@dataclass(frozen=True, eq=False)
class GP:
    """A reward model with its hyperparameters and data, in the units of the rewards; contexts are scaled to [0, 1]^d.

    Points beyond the rewards given (`context` and `arm` may be longer than `reward`) are plays in flight: they lower
    the deviation and do not touch the mean.
    """

    form: Form
    theta: Float[np.ndarray, "p"]
    context: Contexts
    arm: ArmRows
    reward: Rewards

    @cached_property
    def hyperparameters(self) -> dict[str, list[float]]:
        """The hyperparameters by name; variances are in units of the rewards' variance."""
        with jax.enable_x64(True):
            return {name: np.asarray(value).tolist() for name, value in self.form.values(self.theta).items()}

    @cached_property
    def _standard(self) -> tuple[float, float]:
        return _standard(self.form, self.reward)

    @cached_property
    def data(self) -> Data:
        center, scale = self._standard
        return pad(self.context, self.arm, (self.reward - center) / scale, least=POSTERIOR)

    @cached_property
    def _posterior(self) -> Posterior:
        return condition(self.form, self.theta, self.data)

    def log_marginal_likelihood(self) -> float:
        """The log marginal likelihood of the finished plays' standardised rewards."""
        n, (center, scale) = len(self.reward), self._standard
        data = pad(self.context[:n], self.arm[:n], (self.reward - center) / scale)
        with jax.enable_x64(True):
            return float(likelihood(covariance(self.form, self.theta, data), data.reward, data.present))

    def with_pending(self, context: Contexts, arm: ArmRows) -> "GP":
        """The same model with plays in flight."""
        if not len(context):
            return self
        stacked = np.concatenate([self.context, context]), np.concatenate([self.arm, arm])
        return replace(self, context=stacked[0], arm=stacked[1])

    def predict(
        self, context: Float[np.ndarray, "d"], arms: Float[np.ndarray, "m s"]
    ) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
        """Posterior mean and deviation of the reward (without noise) of many arms in one context."""
        center, scale = self._standard
        with jax.enable_x64(True):
            parts = [_marginals(self.form, self._posterior, context, chunk) for (chunk,) in _chunks(arms)]
        mean, std = (np.concatenate([np.asarray(part[i]) for part in parts]) for i in (0, 1))
        return center + scale * mean, scale * std

    def covariance(self, context: Float[np.ndarray, "d"], arms: Float[np.ndarray, "m s"]) -> Float[np.ndarray, "m m"]:
        """Posterior covariance of the rewards of many arms in one context, all at once."""
        with jax.enable_x64(True):
            return self._standard[1] ** 2 * np.asarray(_joint(self.form, self._posterior, context, arms))

    def contrast(
        self,
        context: Float[np.ndarray, "d"],
        arms: Float[np.ndarray, "m s"],
        weights: Float[np.ndarray, "m q"],
    ) -> tuple[Float[np.ndarray, "q"], Float[np.ndarray, "q q"]]:
        """Posterior mean and covariance of q weighted sums over arms, in bounded memory."""
        center, scale = self._standard
        chunks = _chunks(arms, weights)
        with jax.enable_x64(True):
            given, form = self._posterior, self.form
            cross = sum(np.asarray(_cross(form, given, context, *chunk)) for chunk in chunks)
            own = sum(np.asarray(_own(form, given.theta, context, rows, cols)) for rows in chunks for cols in chunks)
            mean, cov = _contrast(given.L, given.z, cross, own)
        return center * weights.sum(axis=0) + scale * np.asarray(mean), scale**2 * np.asarray(cov)


def kept(n: int) -> np.ndarray:
    """The indices of the plays, of n, that a model uses."""
    if n <= MOST:
        return np.arange(n)
    recent = MOST // 2
    early = np.linspace(0, n - recent - 1, MOST - recent).round().astype(int)
    return np.concatenate([early, np.arange(n - recent, n)])


def train(form: Form, context: Contexts, arm: ArmRows, reward: Rewards) -> GP:
    """Fit a reward model to finished plays; without plays it is the prior at the hyperparameters' prior medians."""
    chosen = kept(len(reward))
    context, arm, reward = context[chosen], arm[chosen], reward[chosen]
    n = len(reward)
    if n == 0:
        return GP(form, form.center, context, arm, reward)
    center, scale = _standard(form, reward)
    with jax.enable_x64(True):
        theta = fit(form, context, arm, (reward - center) / scale)
    return GP(form, theta, context, arm, reward)
