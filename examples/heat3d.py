"""
Heat in two dimensions of space and one of time
===============================================

The heat equation in two dimensions of space and one of time.

::

    u_t = k (u_xx + u_yy)            (x, y) in [0, 1]^2, t in [0, 1], k in [0.01, 0.1]
    u = 0                            on the four sides
    u = sin(pi x) sin(pi y)          at t = 0
    u = exp(-2 pi^2 k t) sin(pi x) sin(pi y)          the exact solution

The interface x = 1/2 is a square in (y, t); the flux through it is -k u_x.

::

    metalic solve examples/heat3d.py:Heat3D -p k=0.05 -c u,c --plot heat.png
"""

import jax.numpy as jnp
import numpy as np

import metalic as mt


class Heat3D(mt.Family):
    title = "u_t = k (u_xx + u_yy)"
    parameters = {"k": (0.01, 0.1)}
    domain = mt.Box(x=(0, 1), y=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    points = mt.Points(boundary=300, interface=200)  # surfaces, not lines: more points than the default
    conditions = ("u", "c")
    default_conditions = ("u", "c")

    def residual(self, u, p, k):
        return u.t - k * u.laplacian("x", "y")

    def flux(self, u, p, k):
        return {"x": -k * u.x, "y": -k * u.y, "t": u}

    def boundary(self):
        return [
            mt.Dirichlet("x=0", "x=1", "y=0", "y=1", 0.0),
            mt.Dirichlet("t=0", lambda p: jnp.sin(jnp.pi * p.x) * jnp.sin(jnp.pi * p.y)),
        ]

    def reference(self, k):
        def exact(points):
            x, y, t = np.pi * points.T
            return np.exp(-2 * np.pi * k * t) * np.sin(x) * np.sin(y)

        return exact


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(Heat3D, schedule=short, points=few, k=0.05)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
