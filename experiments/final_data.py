"""How much easier is a time-dependent problem if the solution at the final time is given, as in some experiments?

    python -m experiments.final_data results/tests/burgers-paper.db --out results/final_data

Solves the PDEs of an offline test again, with the sets, the seeds and the schedule that its methods had, and with the
reference at the final time as one more boundary condition.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import markdown, write
from metalic import runtime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test", type=Path, help="a file that `metalic test` wrote")
    parser.add_argument("--methods", nargs="+", default=["learned"], choices=["learned", "cpinn", "pinn-sub"])
    parser.add_argument("--pdes", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("results/final_data"))
    options = parser.parse_args()
    runtime.prepare()
    from metalic.evaluation.baselines import METHODS
    from metalic.evaluation.offline import OfflineTest

    test = OfflineTest.read(options.test)
    (parameter,) = test.settings["family"]["parameters"]
    rows: list[dict[str, Any]] = []
    for method in options.methods:
        for pde, row in list(test.rows[method].items())[: options.pdes]:
            eased = with_final_data(test, method, row.parameters, row.seed, [one.conditions for one in row.phases])
            found: dict[str, Any] = {"method": METHODS[method].title, "PDE": pde, parameter: row.parameters[parameter]}
            rows.append(found | {"without": row.error, "with": eased})
            print(rows[-1], flush=True)
    means = [
        {"method": title, "PDE": "mean", parameter: None}
        | {kind: float(np.mean([row[kind] for row in rows if row["method"] == title])) for kind in ("without", "with")}
        for title in dict.fromkeys(row["method"] for row in rows)
    ]
    cells = [[*list(row.values())[:3], f"{row['without']:.1e}", f"{row['with']:.1e}"] for row in rows + means]
    schedule, family = test.settings["schedule"]["name"], test.settings["family"]["name"]
    text = (
        f"`python -m experiments.final_data {options.test}`\n\n"
        f"Relative L2 errors on {family} with the schedule `{schedule}`, without and with the solution at the final "
        f"time as data; same sets and seeds.\n\n{markdown(list(rows[0]), cells)}"
    )
    write(options.out, "Data at the final time", text, rows)


def with_final_data(
    test: Any, method: str, parameters: dict[str, float], seed: int, sets: Sequence[Sequence[str]]
) -> float | None:
    """The error of one of a test's solves, taken again with data at the final time."""
    import metalic as mt
    from metalic.families import find_family

    family = type(find_family(test.settings["family"]["name"]))(final_data=True)  # type: ignore[call-arg]
    options: dict[str, Any] = {"schedule": test.settings["schedule"]["name"], "seed": seed, "parameters": parameters}
    if method == "pinn-sub":
        return mt.solve(family.undivided(), (), **options).error
    return mt.solve(family, [list(one) for one in sets], **options).error


if __name__ == "__main__":
    main()
