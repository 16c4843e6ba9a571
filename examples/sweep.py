"""
A sweep over a parameter
========================

Neighbouring members of a family have similar solutions. A sweep solves each member from its neighbours, which takes a
few iterations where a solve from random networks takes hundreds.

::

    metalic sweep examples/line.py:Line -p k=1:2.4:15 --out line.npz
"""

import matplotlib.pyplot as plt
import numpy as np
from line import Line

import metalic as mt

if __name__ == "__main__":
    found = mt.sweep(Line, k=(1.0, 2.4, 15), schedule="quick")
    print(f"{len(found.members)} members, the largest error {found.errors.max():.1e}")

    x = np.linspace(0, 1, 101)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for parameters, values in zip(found.parameters, found.values(x[:, None])):
        axes.plot(x, values, color=plt.cm.viridis((parameters["k"] - 1) / 1.4))
    axes.set(xlabel="x", ylabel="u")
    figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(1, 2.4)), ax=axes, label="k")
