"""Independent, plain versions of what the package computes cleverly: NumPy networks, finite differences, equations.

A derivative is a central difference on 2 WIDTH + 1 points of step STEP (in the network's scaled units): its error is
of order STEP^(2 WIDTH), and rounding costs 1e-16 / STEP^order, so that even third derivatives are good to 1e-9.
"""

import math

import numpy as np
from scipy.special import erf

WIDTH, STEP = 6, 0.05


def stencil(order):
    """Weights of the derivative of this order on -WIDTH..WIDTH, from Taylor's conditions."""
    offsets = np.arange(-WIDTH, WIDTH + 1) / WIDTH
    target = np.zeros(2 * WIDTH + 1)
    target[order] = math.factorial(order) / WIDTH**order
    return np.linalg.solve(np.vander(offsets, increasing=True).T, target)


def forward(theta, z, hidden, outputs=1):
    """A tanh network by its definition; z is (n, d), the result (n, outputs). Weights lie layer by layer, row by
    row, a layer's biases after its weights."""
    h, start = z, 0
    sizes = [*hidden, outputs]
    for depth, width in enumerate(sizes):
        count = width * h.shape[1]
        weights = np.asarray(theta[start : start + count]).reshape(width, h.shape[1])
        bias = np.asarray(theta[start + count : start + count + width])
        start += count + width
        h = h @ weights.T + bias
        if depth < len(sizes) - 1:
            h = np.tanh(h)
    assert start == len(theta)
    return h


class Function:
    """A function of points (n, d) with derivatives by differences; `steps` per coordinate."""

    def __init__(self, call, steps):
        self.call, self.steps = call, np.asarray(steps)

    def __call__(self, x):
        return self.call(x)

    def d(self, *axes):
        """Its derivative, a Function too: all differences along one axis at once, axis after axis."""
        found = self
        for axis in sorted(set(axes)):
            found = found._along(axis, axes.count(axis))
        return found

    def _along(self, axis, order):
        h = self.steps[axis]
        shift = h * np.eye(len(self.steps))[axis]
        weights = stencil(order) / h**order

        def difference(x):
            return sum(w * self.call(x + j * shift) for j, w in zip(range(-WIDTH, WIDTH + 1), weights, strict=True))

        return Function(difference, self.steps)


def network(theta, centre, slope, hidden):
    """The function of raw coordinates that one subdomain's network is."""
    theta, centre, slope = (np.asarray(a, dtype=float) for a in (theta, centre, slope))
    return Function(lambda x: forward(theta, (x - centre) * slope, hidden)[:, 0], STEP / slope)


def source(x, s):
    def g(z):
        return np.ones_like(z) if s == 0 else (erf((z - 0.25) * s) - erf((z - 0.75) * s)) / (2 * erf(s / 4))

    return g(x[:, 0]) * g(x[:, 1])


# F[u] - h at points, written down once more from the equations.
RESIDUALS = {
    "poisson": lambda u, x, s: u.d(0, 0)(x) + u.d(1, 1)(x) - source(x, s),
    "advection": lambda u, x, beta: u.d(1)(x) + beta * u.d(0)(x),
    "reaction": lambda u, x, rho: u.d(1)(x) - rho * u(x) * (1 - u(x)),
    "burgers": lambda u, x, nu: u.d(1)(x) + u(x) * u.d(0)(x) - nu * u.d(0, 0)(x),
}
# The flux across the family's interface (its normal is along this axis).
FLUXES = {
    "poisson": (1, lambda u, x, s: u.d(1)(x)),
    "burgers": (0, lambda u, x, nu: u(x) ** 2 / 2 - nu * u.d(0)(x)),
}
BOUNDARY = {
    "poisson": lambda x, s: np.zeros(len(x)),
    "advection": lambda x, beta: np.sin(x[:, 0] - beta * x[:, 1]),
    "burgers": lambda x, nu: -np.sin(np.pi * x[:, 0]),
}


def condition(name, family, u, v, x, values):
    """The rows of one condition at interface points (J, d): networks u and v on either side."""
    coordinates = {"poisson": "xy"}.get(family, "xt")

    def residual(w):
        return Function(lambda y: RESIDUALS[family](w, y, **values), w.steps)

    if name == "u":
        return [u(x) - v(x)]
    if name == "uavg":
        return [u(x) - (u(x) + v(x)) / 2]
    if name == "r":
        return [residual(u)(x), residual(v)(x)]
    if name == "rc":
        return [residual(u)(x) - residual(v)(x)]
    if name == "gr":
        return [residual(w).d(axis)(x) for w in (u, v) for axis in (0, 1)]
    if name == "c":
        _, flux = FLUXES[family]
        return [flux(u, x, **values) - flux(v, x, **values)]
    axes = [coordinates.index(letter) for letter in name]
    return [u.d(*axes)(x) - v.d(*axes)(x)]


def term(name, family, u, v, x, values):
    """The condition's term of the loss: mean squares, over both ordered pairs."""
    pairs = ((u, v), (v, u))
    return sum(np.mean(row**2) for a, b in pairs for row in condition(name, family, a, b, x, values))
