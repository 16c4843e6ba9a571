"""Can a study distinguish its sets from the plain cPINN set? What its reward model promises, and what was measured.

    python -m experiments.certainty results/tests results/plays --out results/certainty

For every offline test of a sequential study with `fast`: the play-to-play noise that the reward model of the last phase
has fitted, how much better than the cPINN set it expects its own sets to be, at the unseen PDEs that were solved with
both, and how much better they were. All in decades: 0.3 is a factor of two.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import markdown, write
from experiments.offline import bandit_of, order, origins
from metalic import runtime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", type=Path, help="directory of files that `metalic test` wrote")
    parser.add_argument("plays", type=Path, help="directory of the studies tested")
    parser.add_argument("--out", type=Path, default=Path("results/certainty"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.conditions import cpinn_set
    from metalic.evaluation.offline import OfflineTest, experience_hash
    from metalic.study import Study

    tests = [OfflineTest.read(path) for path in sorted(options.tests.glob("*.db"))]
    tests = [test for test in tests if test.settings["schedule"]["name"] == "fast"]
    plain = {test.settings["family"]["name"]: test.measures("cpinn") for test in tests if "cpinn" in test.methods}
    paths = {experience_hash(study.history): study.path for study in origins(options.plays)}
    rows: list[dict[str, Any]] = []
    for test in sorted(tests, key=lambda test: order(test.settings)):
        family, about = test.settings["family"]["name"], test.settings["trials"]
        if test.settings["bandit"]["name"] != "sequential" or about["hash"] not in paths:
            continue
        with Study(paths[about["hash"]], read_only=True) as study:
            learned, catalogue = study.learned, study.settings.catalogue
        last = learned.bandit.decisions - 1
        model, cpinn = learned.model(last), cpinn_set(catalogue).bits
        promised, measured = [], []
        for pde, row in test.rows["learned"].items():
            if pde not in plain[family] or row.error is None:
                continue
            where = {"context": tuple(row.parameters.values()), "phase": last, "loss": row.phases[last - 1].loss}
            chosen = row.phases[last].arm
            ours, theirs = (learned.predict(arm=arm, **where)[0] for arm in (chosen, cpinn))
            promised.append(ours - theirs)
            measured.append(np.log10(plain[family][pde] / row.error))
        found: dict[str, Any] = {"family": family, "study": f"{bandit_of(test.settings)}, {about['plays']} plays"}
        found |= {"PDEs": len(measured), "noise of a play": model.hyperparameters["sigma0"][0] * np.std(model.reward)}
        found |= {"promised": np.mean(promised), "measured": np.mean(measured), "spread": np.std(measured)}
        rows.append({name: float(v) if isinstance(v, np.floating) else v for name, v in found.items()})
    head = list(rows[0])
    cells = [[f"{v:+.2f}" if k in ("promised", "measured") else v for k, v in row.items()] for row in rows]
    text = (
        f"`python -m experiments.certainty {options.tests} {options.plays}`\n\n"
        "In decades: 0.3 is a factor of two. noise of a play: the deviation that the reward model of the last phase "
        "has fitted; promised: by how much the model expects the recommended sets to be better than the cPINN set, "
        "mean over the unseen PDEs; measured: by how much they were; spread: its standard deviation over the PDEs.\n\n"
        f"{markdown(head, cells)}"
    )
    write(options.out, "What a study promises against the plain cPINN set", text, rows)
    print(text)


if __name__ == "__main__":
    main()
