"""
Two materials
=============

Heat flow through a plate of two materials: the gradient jumps, the flux does not.

::

    (k u_x)_x + (k u_y)_y = 0        on [0, 1]^2; k = 1 for x < 1/2, k = 5 for x > 1/2; q in [1, 5]
    u = exact values                 on the boundary
    u = (cosh(pi z) + (q / k) sinh(pi z)) sin(pi y),  z = x - 1/2          the exact solution

At x = 1/2 both sides have the value sin(pi y) and the flux k u_x = q pi sin(pi y), so u_x jumps by the factor 5.
Continuity of the gradient (`x`) is wrong here; continuity of the flux (`c`), each side with its own k, is right.

::

    metalic solve examples/two_materials.py:TwoMaterials -p q=2 -c u,c --plot plate.png
"""

import jax.numpy as jnp
import numpy as np

import metalic as mt


def exact(xp, x, y, k, q):
    z = xp.pi * (x - 0.5)
    return (xp.cosh(z) + q / k * xp.sinh(z)) * xp.sin(xp.pi * y)


class TwoMaterials(mt.Family):
    title = "div(k grad u) = 0"
    parameters = {"q": (1.0, 5.0)}
    domain = mt.Box(x=(0, 1), y=(0, 1))
    decomposition = mt.Decomposition(
        domain, {"left": domain.replaced(x=(0, 0.5)), "right": domain.replaced(x=(0.5, 1))}
    )
    coefficients = {"k": {"left": 1.0, "right": 5.0}}
    conditions = ("u", "c", "x")
    default_conditions = ("u", "c")

    def residual(self, u, p, q):
        return p.k * u.laplacian("x", "y")

    def flux(self, u, p, q):
        return {"x": p.k * u.x, "y": p.k * u.y}

    def boundary(self):
        return [mt.Dirichlet("x=0", "x=1", "y=0", "y=1", lambda p, q: exact(jnp, p.x, p.y, p.k, q))]

    def reference(self, q):
        return lambda points: exact(np, *points.T, np.where(points[:, 0] < 0.5, 1.0, 5.0), q)


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(TwoMaterials, schedule=short, points=few, q=2)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
