"""
A study on several processes
============================

The plays of a study are independent, so they run side by side: here in two processes of this machine, which Dask
starts. With the address of a scheduler in place of the number, the same line uses a whole cluster.

::

    metalic play line.db --family examples/line.py:Line --schedule quick --plays 8 --workers 2

Worker processes import the script, so the work stands under ``if __name__ == "__main__":``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from line import Line

import metalic as mt

if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        mt.Study(Path(folder) / "line.db", Line, mt.Single(policy=mt.Random()), "quick", seed=2) as study,
    ):
        study.play(8, workers=2)
        plays = study.plays
    print(f"{len(plays)} plays, smallest error {min(play.error for play in plays):.1e}")

    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.bar([", ".join(play.phases[-1].conditions) or "none" for play in plays], [play.error for play in plays])
    axes.set(yscale="log", xlabel="set of conditions", ylabel="relative error")
    axes.tick_params(axis="x", rotation=30)
