"""
The heat equation
=================

Four numbers set the data. The domain is cut in time; across such a cut the solution itself is what flows.

::

    metalic solve heat -p a=1 -p b=0.5 -p c=1 -p d=-1 --plot heat.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("heat").changed(conditions=("u", "t"))  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", a=1, b=0.5, c=1, d=-1)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
