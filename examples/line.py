"""
A family in one dimension
=========================

The smallest family worth learning about: it solves in a second, so that the examples of sweeps, studies and clusters
use it.

::

    u'' + k^2 u = 0                  x in [0, 1], k in [1, 2.5]
    u(0) = 0, u(1) = 1
    u = sin(k x) / sin(k)            the exact solution

Solve it with and without continuity of the flux. Each half fulfils the equation in both cases.

::

    metalic solve examples/line.py:Line -p k=2 -c u,c
"""

import matplotlib.pyplot as plt
import numpy as np

import metalic as mt


class Line(mt.Family):
    title = "u'' + k^2 u = 0"
    parameters = {"k": (1.0, 2.5)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    conditions = ("u", "c", "r")
    points = mt.Points(24, 8, 6)
    solver_options = {"hidden": (6,)}
    grid = (41,)

    def residual(self, u, p, k):
        return u.xx + k**2 * u

    def flux(self, u, p, k):
        return {"x": u.x}

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", lambda p: p.x)]

    def reference(self, k):
        return lambda points: np.sin(k * points[:, 0]) / np.sin(k)


if __name__ == "__main__":
    x = np.linspace(0, 1, 201)
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot(x, np.sin(2 * x) / np.sin(2), color="0.7", linewidth=5, label="exact")
    for conditions in ("u,c", "u"):
        solution = mt.solve(Line, conditions, "quick", k=2, check=False)
        axes.plot(x, solution(x=x), label=f"{{{conditions}}}: error {solution.error:.0e}")
    axes.set(xlabel="x", ylabel="u")
    axes.legend()
