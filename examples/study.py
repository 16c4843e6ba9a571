"""
A study
=======

A study plays random members of a family with different sets of conditions and learns which sets give small errors.
Eight sets are possible here; after twelve plays the study knows that the flux is what matters.

::

    metalic play line.db --family examples/line.py:Line --schedule quick --plays 12
    metalic recommend line.db --family examples/line.py:Line -p k=2
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from line import Line

import metalic as mt

if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        mt.Study(Path(folder) / "line.db", Line, mt.Single(), "quick", seed=1) as study,
    ):
        study.play(12)
        best = study.recommend(k=2.0)
        plays = study.plays
    print(best)

    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for flux, colour in ((True, "tab:green"), (False, "tab:red")):
        some = [play for play in plays if ("c" in play.phases[-1].conditions) is flux]
        axes.semilogy(
            [play.number for play in some],
            [play.error for play in some],
            "o",
            color=colour,
            label=f"{'with' if flux else 'without'} continuity of the flux",
        )
    axes.set(xlabel="play", ylabel="relative error")
    axes.legend()
