"""What a play is worth: larger is better, in decades.

    error       -log10 of the relative L2 error against the family's reference (the paper's reward)
    estimate    -log10 of the estimate of this error by a check of the solution, which needs no reference
    residual    -log10 of a residual on fresh points, which needs no reference
    error+time  -log10 error - seconds / exchange

Each phase has a reward, that of the networks at its end; seconds count from the beginning of the play. One file per
reward; a user's own is a class that extends `Reward`, named by its place.
"""

from .base import REWARDS, Reward, find_reward
from .error import Error
from .error_time import ErrorTime
from .estimate import Estimate
from .residual import Residual

__all__ = ["REWARDS", "Error", "ErrorTime", "Estimate", "Residual", "Reward", "find_reward"]
