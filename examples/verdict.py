"""
What the verdict says
=====================

Every solve ends with a check, which estimates the error without a reference. Here good and bad sets of conditions are
solved for several parameters, and the estimate is compared with the true error.
"""

import warnings

import matplotlib.pyplot as plt
from line import Line

import metalic as mt

if __name__ == "__main__":
    warnings.simplefilter("ignore", mt.MetalicWarning)  # some of these solves are bad on purpose
    colours = {"good": "tab:green", "doubtful": "tab:orange", "wrong": "tab:red"}
    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    for k in (1.2, 1.8, 2.4):
        for conditions in ("u,c", "u", "none"):
            solution = mt.solve(Line, conditions, "quick", k=k)
            found = solution.checked
            axes.loglog(solution.error, found.estimate, "o", color=colours[found.verdict])
    print(solution.checked.text)  # of the last one

    axes.axline((1e-4, 1e-4), (1, 1), color="0.7", zorder=0)
    axes.set(xlabel="true relative error", ylabel="estimate")
    for verdict, colour in colours.items():
        axes.plot([], [], "o", color=colour, label=verdict)
    axes.legend()
