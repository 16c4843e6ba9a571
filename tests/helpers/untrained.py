"""Solutions that were never trained, for tests of what is kept of a solution."""

import numpy as np
from tiny import Tiny

import metalic as mt
from metalic.pinn.network import Network
from metalic.pinn.optimizers import Status
from metalic.pinn.sampler import scale
from metalic.pinn.solution import PhaseRecord

HIDDEN = (4,)


def solution(theta=None, error=1e-4, family=Tiny, loss=1e-8, status=Status.RUNNING, **parameters):
    """A solution that was never trained."""
    family = mt.find_family(family)
    network = Network(2, 1, HIDDEN)
    history = tuple((n, n / 10, loss, error) for n in range(10, 1210, 10))
    record = PhaseRecord("gauss-newton", ("u", "x"), 5, 1200, 120.0, 0.5, loss, error, status, history)
    given = np.full(network.size, 0.1) if theta is None else theta
    return mt.Solution(
        family=family,
        parameters=parameters,
        theta=np.broadcast_to(given, (2, network.size)).copy(),
        hidden=HIDDEN,
        **dict(zip(("centre", "slope"), scale(family, "subdomain"))),
        phases=(record, record),
        schedule="fast",
        seed=7,
        collocation=(np.zeros((1, 2)),) * 2,
    )
