"""
Burgers' equation
=================

A front that gets thinner as the viscosity nu falls. It has a subdomain of its own, a strip around x = 0.

::

    metalic solve burgers -p nu=0.01 --plot burgers.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("burgers").changed(
        conditions=("u", "c", "x")
    )  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", nu=0.01)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
