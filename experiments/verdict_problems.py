"""New problems with known solutions, on which nothing in the package was tuned: equations, sets and budgets."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

import metalic as mt


class Exact(mt.Family):
    """A family whose solution is a formula, `exact(xp, *coordinates, **parameters)`, given on the boundary too."""

    faces: tuple[str, ...] = ()
    default_conditions = ("u", "c")
    conditions = ("u", "c")

    def exact(self, xp, *coordinates, **parameters):
        raise NotImplementedError

    def boundary(self):
        names = self.coordinates
        value = lambda p, **given: self.exact(jnp, *(getattr(p, name) for name in names), **given)  # noqa: E731
        return [mt.Dirichlet(*self.faces, value)]

    def reference(self, **parameters):
        return lambda points: self.exact(np, *points.T, **parameters)


class Helmholtz(Exact):
    title = "u_xx + u_yy + 4 u = f"
    parameters = {"a": (1.0, 9.0)}
    domain = mt.Box(x=(0, 1), y=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    faces = ("x=0", "x=1", "y=0", "y=1")

    def exact(self, xp, x, y, a):
        return xp.sin(a * x + 0.3) * xp.cos(0.7 * a * y)

    def residual(self, u, p, a):
        return u.laplacian("x", "y") + 4 * u - (4 - 1.49 * a**2) * self.exact(jnp, p.x, p.y, a)

    def flux(self, u, p, a):
        return {"x": u.x, "y": u.y}


class KleinGordon(Exact):
    title = "u_tt - u_xx + u^3 = f"
    parameters = {"w": (1.0, 6.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])
    faces = ("x=0", "x=1", "t=0")

    def exact(self, xp, x, t, w):
        return x * xp.cos(w * t) + (x * t) ** 3

    def residual(self, u, p, w):
        source = -(w**2) * p.x * jnp.cos(w * p.t) + 6 * p.x**3 * p.t - 6 * p.x * p.t**3
        return u.tt - u.xx + u.value**3 - source - self.exact(jnp, p.x, p.t, w) ** 3

    def flux(self, u, p, w):
        return {"x": -u.x, "t": u.t}

    def boundary(self):
        return [*super().boundary(), mt.Neumann("t=0", 0.0)]


class Layer(Exact):
    title = "-e u_xx + u_x = 1"
    parameters = {"e": (0.02, 0.3)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.5])
    faces = ("x=0", "x=1")

    def exact(self, xp, x, e):
        return x - (xp.exp((x - 1) / e) - xp.exp(-1 / e)) / (1 - xp.exp(-1 / e))

    def residual(self, u, p, e):
        return -e * u.xx + u.x - 1

    def flux(self, u, p, e):
        return {"x": u - e * u.x}


class AllenCahn(Exact):
    title = "u_t = d u_xx + 5 (u - u^3) + f"
    parameters = {"d": (0.01, 0.2)}
    domain = mt.Box(x=(-1, 1), t=(0, 1))
    decomposition = mt.split(domain, x=[0.0])
    faces = ("x=-1", "x=1", "t=0")

    def exact(self, xp, x, t, d):
        return xp.exp(-t) * xp.sin(np.pi * x) + 0.3 * xp.cos(2 * x) * t

    def residual(self, u, p, d):
        wave, slow = jnp.exp(-p.t) * jnp.sin(np.pi * p.x), 0.3 * jnp.cos(2 * p.x)
        value = wave + slow * p.t
        source = -wave + slow + d * (np.pi**2 * wave + 4 * slow * p.t) - 5 * (value - value**3)
        return u.t - d * u.xx - 5 * (u.value - u.value**3) - source

    def flux(self, u, p, d):
        return {"x": -d * u.x, "t": u}


class Contrast(Exact):
    title = "div(k grad u) = 0, k = 1 and 1000"
    parameters = {"q": (1.0, 5.0)}
    domain = mt.Box(x=(0, 1), y=(0, 1))
    decomposition = mt.Decomposition(
        domain, {"left": domain.replaced(x=(0, 0.5)), "right": domain.replaced(x=(0.5, 1))}
    )
    coefficients = {"k": {"left": 1.0, "right": 1000.0}}
    faces = ("x=0", "x=1", "y=0", "y=1")

    def exact(self, xp, x, y, q, k=None):
        k = xp.where(x < 0.5, 1.0, 1000.0) if k is None else k
        z = np.pi * (x - 0.5)
        return (xp.cosh(z) + q / k * xp.sinh(z)) * xp.sin(np.pi * y)

    def residual(self, u, p, q):
        return u.laplacian("x", "y")

    def flux(self, u, p, q):
        return {"x": p.k * u.x, "y": p.k * u.y}

    def boundary(self):
        return [mt.Dirichlet(*self.faces, lambda p, q: self.exact(jnp, p.x, p.y, q, p.k))]


class Fisher(Exact):
    title = "u_t = u_xx + 6 u (1 - u)"
    parameters = {"s": (-2.0, 2.0)}
    domain = mt.Box(x=(0, 4), t=(0, 1))
    decomposition = mt.split(domain, x=[2.0])
    faces = ("x=0", "x=4", "t=0")

    def exact(self, xp, x, t, s):
        return (1 + xp.exp(x - s - 5 * t)) ** -2

    def residual(self, u, p, s):
        return u.t - u.xx - 6 * u.value * (1 - u.value)

    def flux(self, u, p, s):
        return {"x": -u.x, "t": u}


class Beam(Exact):
    title = "u_xxxx = f"
    parameters = {"w": (1.0, 12.0)}
    domain = mt.Box(x=(0, 1))
    decomposition = mt.split(domain, x=[0.4])
    faces = ("x=0", "x=1")
    conditions = ("u", "c", "x", "xx")
    default_conditions = conditions

    def exact(self, xp, x, w):
        return xp.sin(w * x) + x**2

    def residual(self, u, p, w):
        return u.xxxx - w**4 * jnp.sin(w * p.x)

    def flux(self, u, p, w):
        return {"x": u.xxx}

    def boundary(self):
        slope = lambda p, w: (2 * p.x - 1) * (w * jnp.cos(w * p.x) + 2 * p.x)  # noqa: E731
        return [*super().boundary(), mt.Neumann("x=0", "x=1", slope)]
