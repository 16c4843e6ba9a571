"""
A system of two equations
=========================

A system of two equations: water of small height h and momentum v between two walls.

::

    h_t + v_x = 0                    x in [0, 1], t in [0, 1], c in [0.5, 3]
    v_t + c^2 h_x = 0
    v = 0                            at x = 0 and x = 1: nothing passes a wall
    h = cos(pi x), v = 0             at t = 0
    h = cos(pi x) cos(c pi t), v = c sin(pi x) sin(c pi t)          the exact solution

The unknown has two components, `u.h` and `u.v`; the residual and the flux have one entry per equation. A condition
such as `u` asks for continuity of both components.

::

    metalic solve examples/system.py:Sloshing -p c=2 -c u,c --plot sloshing.png
"""

import jax.numpy as jnp
import numpy as np

import metalic as mt


class Sloshing(mt.Family):
    title = "h_t + v_x = 0, v_t + c^2 h_x = 0"
    parameters = {"c": (0.5, 3.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    components = ("h", "v")
    conditions = ("u", "c")
    default_conditions = ("u", "c")

    def residual(self, u, p, c):
        return u.h.t + u.v.x, u.v.t + c**2 * u.h.x

    def flux(self, u, p, c):
        return {"x": (u.v, c**2 * u.h), "t": (u.h, u.v)}

    def boundary(self):
        return [
            mt.Dirichlet("x=0", "x=1", 0.0, of="v"),
            mt.Dirichlet("t=0", lambda p: jnp.cos(jnp.pi * p.x), of="h"),
            mt.Dirichlet("t=0", 0.0, of="v"),
        ]

    def reference(self, c):
        def exact(points):
            x, t = np.pi * points.T
            return np.stack([np.cos(x) * np.cos(c * t), c * np.sin(x) * np.sin(c * t)], axis=-1)

        return exact


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(Sloshing, schedule=short, points=few, c=2)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
