"""
Reaction
========

A logistic equation at every point, with the rate rho. The domain is cut in time.

::

    metalic solve reaction -p rho=5 --plot reaction.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("reaction").changed(conditions=("u", "t"))  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", rho=5)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
