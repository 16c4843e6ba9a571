"""Does a study that may choose the strip of Burgers' equation beat its champion?

The half-width of the inner strip is chosen among 0.06, 0.1, 0.2 and 0.4, together with the set, from the sixteen of
{u, r, c, x}. The champion is the family's default, {u, c, x} with 0.1. What is recommended is then compared with the
champion on unseen parameters, from the same seeds.

    python -m experiments.strips play results/choices/plays/burgers-strips.db --plays 100
    python -m experiments.strips test results/choices/plays/burgers-strips.db --out results/strips --pdes 20
    python -m experiments.strips draw results/choices/plays/burgers-strips.db --out results/strips
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import metalic as mt
from metalic import runtime
from metalic.choices import arm_text
from metalic.conditions import Catalogue
from metalic.families.burgers import Burgers
from metalic.study import Study

STRIPS = (0.06, 0.1, 0.2, 0.4)
UNSEEN = 10**6  # what is added to the seed of an unseen PDE


class Fronts(Burgers):
    """Burgers' equation with four conditions to choose among."""

    name = "burgers-fronts"
    conditions = ("u", "r", "c", "x")


def play(path: Path, plays: int, seed: int) -> None:
    """Play a study up to this number of plays, and print every play."""
    with Study(path, Fronts, mt.Paired(), seed=seed, choices={"strip": STRIPS}, networks=False) as study:
        left = plays - study.finished_count
        if left > 0:
            study.play(left, progress=lambda now: print(_line(now.play), flush=True))


def _line(row: Any) -> str:
    return "" if row is None else f"{row.number}  nu={row.parameters['nu']:.4f}  {row.arm}  error {row.error:.2e}"


def test(path: Path, pdes: int, seeds: int) -> dict[str, Any]:
    """Solve unseen PDEs with what is recommended and with the champion, from the same seeds."""
    with Study(path, Fronts, read_only=True) as study:
        rng, rows = np.random.default_rng(UNSEEN), []
        champion = arm_text(study.settings.usual)
        for pde in range(pdes):
            nu = float(rng.uniform(*Fronts.parameters["nu"]))
            advice = study.recommend(nu=nu, top=8)
            best = advice.phases[0].best
            compared = advice.comparison
            assert compared is not None
            errors: dict[str, list[float]] = {"learned": [], "champion": []}
            for seed in range(UNSEEN + pde * seeds, UNSEEN + (pde + 1) * seeds):
                errors["champion"].append(_error(study, nu, study.settings.usual, seed))
                same = arm_text(best) == champion
                errors["learned"].append(errors["champion"][-1] if same else _error(study, nu, best, seed))
            row = {"nu": nu, "arm": arm_text(best), "probability": compared.probability, **errors}
            row |= {"promised": compared.ratio if compared.won else 1.0, "expected": advice.expected}
            rows.append(row | {"interval": advice.interval})
            print(json.dumps(rows[-1]), flush=True)
        return {"champion": champion, "plays": study.finished_count, "pdes": rows}


def _error(study: Study, nu: float, arm: Any, seed: int) -> float:
    names = Catalogue(study.family).parse(arm.conditions.names)
    solution = mt.solve(Fronts, names, nu=nu, seed=seed, choices=arm.choices, check=False)
    assert solution.error is not None
    return solution.error


def draw(path: Path, out: Path) -> None:
    """What each strip gains over the champion, against nu."""
    from metalic.bandit import Compared
    from metalic.evaluation.gains import gains_figure

    with Study(path, Fronts, read_only=True) as study:
        assert isinstance(study.learned, Compared)
        figure = gains_figure(study.learned, study.settings.choices[0], study.family.parameters)
    figure.savefig(out.with_suffix(".png"), dpi=110)


def summary(found: dict[str, Any]) -> str:
    """The page of a test."""
    rows = found["pdes"]
    logs = np.array([np.mean(np.log10(row["learned"])) - np.mean(np.log10(row["champion"])) for row in rows])
    promised = 10 ** np.mean(np.log10([row["promised"] for row in rows]))
    inside = [row["interval"][0] <= error <= row["interval"][1] for row in rows for error in row["learned"]]
    lines = [
        "# A study that chooses the strip of Burgers' equation",
        "",
        "![What each strip gains over the champion, against nu](strips.png)",
        "",
        f"{found['plays']} plays with `fast`, in pairs with the champion, {found['champion']}; {len(rows)} unseen nu.",
        "",
        f"- learned / champion: {10 ** logs.mean():.2f} (geometric mean; standard error "
        f"{logs.std(ddof=1) / np.sqrt(len(logs)):.2f} decades); promised {promised:.2f}",
        f"- better {np.sum(logs < 0)} times, equal {np.sum(logs == 0)}, worse {np.sum(logs > 0)}",
        f"- {np.sum(inside)} of {len(inside)} errors lie in the forecast's 95 % interval",
        "",
        "| nu | recommended | probability | learned | champion | promised ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row["nu"]):
        errors = [10 ** np.mean(np.log10(row[name])) for name in ("learned", "champion")]
        lines.append(
            f"| {row['nu']:.4f} | {row['arm']} | {row['probability']:.2f} | {errors[0]:.1e} | {errors[1]:.1e} | "
            f"{row['promised']:.2f} |"
        )
    return "\n".join(
        [
            *lines,
            "",
            "Made by",
            "",
            "```sh",
            *(line.strip() for line in (__doc__ or "").strip().splitlines()[-3:]),
            "```",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("play", "test", "draw"))
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--plays", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pdes", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    runtime.prepare()
    if given.what == "play":
        play(given.ledger, given.plays, given.seed)
        return
    if given.what == "draw":
        draw(given.ledger, given.out or Path("strips"))
        return
    found = test(given.ledger, given.pdes, given.seeds)
    text = summary(found)
    print(text)
    if given.out is not None:
        given.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
        given.out.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
