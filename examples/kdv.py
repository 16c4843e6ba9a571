"""
The Korteweg-de Vries equation
==============================

Two waves run, meet and part on a ring. The equation has a third derivative; the reference is a spectral solution.

::

    metalic solve kdv -p nu=5 --plot kdv.png
"""

import metalic as mt

if __name__ == "__main__":
    family = mt.find_family("kdv").changed(conditions=("u", "t"))  # the sets to choose from; fewer compile faster
    solution = mt.solve(family, schedule="quick", nu=5)
    print(f"error {solution.error:.1e}, estimate {solution.checked.estimate:.1e}: {solution.checked.verdict}")
    solution.plot()
