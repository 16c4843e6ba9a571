"""Bayesian regression with a covariance that depends on a few positive numbers, for up to a thousand points.

y ~ N(0, K(theta)), the noise included in K. The logarithms of theta maximise the likelihood times a normal prior, from
the prior medians by L-BFGS-B. Plain NumPy: matrices are small, and nothing has to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

BOUND = 3.0  # prior deviations between which the logarithms are searched
STEPS = 40

Covariance = Callable[[Float[np.ndarray, "p"]], Float[np.ndarray, "n n"]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Numbers theta, and what predictions need of K at them: its factor L and K^-1 y."""

    theta: Float[np.ndarray, "p"]
    factor: Float[np.ndarray, "n n"]
    weights: Float[np.ndarray, "n"]

    def predict(
        self, cross: Float[np.ndarray, "n m"], prior: Float[np.ndarray, "m"]
    ) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
        """Mean and deviation where the covariance with the data is `cross` and the prior variance is `prior`."""
        explained = solve_triangular(self.factor, cross, lower=True)
        return cross.T @ self.weights, np.sqrt(np.maximum(prior - np.sum(explained**2, axis=0), 0.0))

    def solve(self, right: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        """K^-1 times a vector."""
        return np.asarray(cho_solve((self.factor, True), right))


def fit(
    covariance: Covariance, y: Float[np.ndarray, "n"], median: Float[np.ndarray, "p"], spread: float = 0.7
) -> Fitted:
    """Find theta, and factorise K there.

    Args:
        covariance: K as a function of theta.
        y: The data.
        median: The prior medians of theta.
        spread: The prior deviation of their logarithms.
    """

    def negative(u: Float[np.ndarray, "p"]) -> float:
        K = covariance(median * np.exp(spread * u))
        try:
            L, _ = cho_factor(K, lower=True)
        except np.linalg.LinAlgError:
            return 1e10
        return float(0.5 * y @ cho_solve((L, True), y) + np.sum(np.log(np.diag(L))) + 0.5 * u @ u)

    u = np.zeros(len(median))
    if len(y):
        bounds = [(-BOUND, BOUND)] * len(u)
        u = minimize(negative, u, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}).x
    theta = median * np.exp(spread * u)
    L = np.linalg.cholesky(covariance(theta))
    return Fitted(theta, L, np.asarray(cho_solve((L, True), y)))
