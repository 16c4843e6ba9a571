"""
A condition of your own
=======================

A condition of your own: the Robin condition of optimized Schwarz methods.

::

    (u + w du/dn) - (u' + w du'/dn),   n the normal from one side to the other

Seen from the other side n changes its sign, so the two ordered pairs ask for different things, and only together for
continuity of both u and du/dn. That is why the condition is not `symmetric`. It joins two of the built-in family.

::

    metalic solve examples/own_condition.py:PoissonRobin -p s=5 -c robin --plot robin.png
"""

import metalic as mt
from metalic.families import Poisson


class RobinTransmission(mt.Condition):
    name = "robin"
    description = "Robin transmission"
    formula = "(u + w du/dn) - (u' + w du'/dn)"

    def __init__(self, w):
        self.w = w

    def law(self, a, b, n):
        jump_of_slope = (a.u.x - b.u.x) * n[0] + (a.u.y - b.u.y) * n[1]
        return a.u - b.u + self.w * jump_of_slope


class PoissonRobin(Poisson):
    conditions = ("u", "c")
    own_conditions = (RobinTransmission(w=0.5),)
    default_conditions = ("robin",)


if __name__ == "__main__":
    short = [mt.Phase(mt.GaussNewton(), 40)]
    few = mt.Points(collocation=300, boundary=100, interface=50)
    solution = mt.solve(PoissonRobin, schedule=short, points=few, s=5)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
