"""How the champion's reward runs over the contexts: a smooth function and noise, for forecasts.

y = mean + slope + a sum of smooth functions, one per context dimension, + noise. The champion's plays are fixed
beforehand, so that nothing was chosen by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from metalic.bandit.regression import Fitted, fit

MEDIANS = np.array([1.0, 0.5, 0.4, 0.3])  # decades: slope, smooth part; its length; noise
LEVEL = 3.0  # decades; the deviation of the mean around that of the data


@dataclass(frozen=True, eq=False)
class Trend:
    """A smooth function of contexts scaled to [0, 1], fitted to values."""

    contexts: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "n"]

    @cached_property
    def fitted(self) -> Fitted:
        def covariance(theta: Float[np.ndarray, "4"]) -> Float[np.ndarray, "n n"]:
            return _kernel(theta, self.contexts, self.contexts) + theta[-1] ** 2 * np.eye(len(self.y))

        return fit(covariance, self.y - self.y.mean(), MEDIANS)

    @property
    def noise(self) -> float:
        """The deviation of a value around the function."""
        return float(self.fitted.theta[-1])

    def predict(self, z: Float[np.ndarray, "d"]) -> tuple[float, float]:
        """Mean and deviation of the function in a context."""
        theta, here = self.fitted.theta, z[None]
        cross, own = _kernel(theta, self.contexts, here), np.diag(_kernel(theta, here, here))
        mean, std = self.fitted.predict(cross, own)
        return float(mean[0] + self.y.mean()), float(std[0])


def _kernel(
    theta: Float[np.ndarray, "4"], a: Float[np.ndarray, "n d"], b: Float[np.ndarray, "m d"]
) -> Float[np.ndarray, "n m"]:
    slope, smooth, length, _ = theta
    apart = (a[:, None, :] - b[None, :, :]) / length
    return LEVEL**2 + slope**2 * (a - 0.5) @ (b - 0.5).T + smooth**2 * np.exp(-0.5 * apart**2).sum(axis=-1)
