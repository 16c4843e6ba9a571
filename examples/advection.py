"""
Advection
=========

A wave that moves at speed beta, with data at t = 0 and at both ends. The domain is cut in time.

::

    metalic solve advection -p beta=10 --plot advection.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("advection").changed(conditions=("u", "t"))  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", beta=10)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
