"""
An L-shape
==========

Poisson's equation on an L-shape: a domain with a re-entrant corner, as a union of boxes.

::

    u_xx + u_yy = -2 w^2 sin(w x) sin(w y)       on ([0, 2] x [0, 1]) with ([0, 1] x [1, 2]); w in [1, 4]
    u = exact values                             on the boundary
    u = sin(w x) sin(w y)                        the exact solution

The names "x=1" and "y=1" are the two faces that meet in the re-entrant corner (1, 1).

::

    metalic solve examples/l_shape.py:LShape -p w=2 -c u,c --plot l_shape.png
"""

import jax.numpy as jnp
import numpy as np

import metalic as mt


def exact(xp, x, y, w):
    return xp.sin(w * x) * xp.sin(w * y)


class LShape(mt.Family):
    title = "u_xx + u_yy = f on an L-shape"
    parameters = {"w": (1.0, 4.0)}
    domain = mt.Union(mt.Box(x=(0, 2), y=(0, 1)), mt.Box(x=(0, 1), y=(1, 2)))
    decomposition = mt.split(domain, y=[1.0])
    conditions = ("u", "c")
    default_conditions = ("u", "c")

    def residual(self, u, p, w):
        return u.laplacian("x", "y") + 2 * w**2 * exact(jnp, p.x, p.y, w)

    def flux(self, u, p, w):
        return {"x": u.x, "y": u.y}

    def boundary(self):
        faces = ("x=0", "x=1", "x=2", "y=0", "y=1", "y=2")
        return [mt.Dirichlet(*faces, lambda p, w: exact(jnp, p.x, p.y, w))]

    def reference(self, w):
        return lambda points: exact(np, *points.T, w)


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(LShape, schedule=short, points=few, w=2)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
