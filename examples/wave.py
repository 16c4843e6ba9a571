"""
The wave equation on four subdomains
====================================

The wave equation on four subdomains, a 2 x 2 grid in space and time.

::

    u_tt = c^2 u_xx              x in [0, 1], t in [0, 1], c in [0.5, 3]
    u = 0                        at x = 0 and x = 1: the ends are held
    u = sin(pi x)                at t = 0: a displacement to begin with
    u_t = c pi sin(pi x)         at t = 0: and a velocity
    u = sin(pi x) (cos(c pi t) + sin(c pi t))          the exact solution

Across x = 1/2 and across t = 1/2 the solution and its derivative along the normal must be continuous: `u,x,t`.

::

    metalic solve examples/wave.py:Wave -p c=2 -c u,x,t --plot wave.png
"""

import jax.numpy as jnp
import numpy as np

import metalic as mt


class Wave(mt.Family):
    title = "u_tt = c^2 u_xx"
    parameters = {"c": (0.5, 3.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.5], t=[0.5])
    conditions = ("u", "x", "t")  # the sets to choose from; fewer compile faster
    default_conditions = ("u", "x", "t")

    def residual(self, u, p, c):
        return u.tt - c**2 * u.xx

    def flux(self, u, p, c):
        return {"x": -(c**2) * u.x, "t": u.t}

    def boundary(self):
        return [
            mt.Dirichlet("x=0", "x=1", 0.0),
            mt.Dirichlet("t=0", lambda p: jnp.sin(jnp.pi * p.x)),
            mt.Neumann("t=0", lambda p, c: c * jnp.pi * jnp.sin(jnp.pi * p.x)),
        ]

    def reference(self, c):
        def exact(points):
            x, t = points.T
            return np.sin(np.pi * x) * (np.cos(c * np.pi * t) + np.sin(c * np.pi * t))

        return exact


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(Wave, schedule=short, points=few, c=2)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
