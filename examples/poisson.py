"""
Poisson's equation
==================

The source is a product of sines whose frequency is the parameter s. The domain is cut in two at y = 1/2, where
the values and the fluxes of the two networks agree.

::

    metalic solve poisson -p s=20 --plot poisson.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("poisson").changed(conditions=("u", "c"))  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", s=20)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
