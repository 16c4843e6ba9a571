"""Which policy should a study with a champion have? Simulated studies on worlds whose truth is known.

A world gives every arm a gain over the champion at every parameter. `strips` is Burgers' equation in outline: four
widths of the strip with the errors that were measured (a table over nu), sixteen sets with additive effects. `sets` has
512 sets, of which the good ones gain 0.3 decades in half of the box. `level` has no differences. The noise of a play is
0.3 decades, two thirds of which (in variance) a pair shares. What counts is the true gain of what is recommended,
averaged over parameters, and how often it is worse than the champion by more than 0.05 decades.

    python -m experiments.policies --out results/policies.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metalic.bandit import UCB, Bandit, Pair, Paired, PlayedPhase, Policy, Random, Thompson, TopTwo
from metalic.choices import Choice

NOISE, SHARED = 0.3, 0.667
PLACES = 15
COUNTS = (10, 20, 40)  # pairs
POLICIES: dict[str, Policy] = {
    "top-two": TopTwo(),
    "thompson": Thompson(),
    "ucb": UCB(),
    "random": Random(),
}
NU = np.log10([0.0015, 0.003, 0.006, 0.015, 0.04])
ERRORS = np.log10(  # half-widths 0.06, 0.1, 0.2, 0.4 at these nu, measured with `fast`
    [
        [1.6e-3, 3.3e-4, 1.1e-2, 5.0e-2],
        [8.1e-5, 1.3e-5, 5.4e-4, 1.8e-3],
        [4.5e-5, 8.1e-6, 4.1e-6, 4.8e-5],
        [3.3e-6, 2.3e-6, 1.0e-6, 4.9e-7],
        [7.2e-7, 8.3e-7, 5.5e-7, 3.1e-7],
    ]
)


@dataclass(frozen=True)
class World:
    """What can be played, and the gain of every arm over the champion at a parameter."""

    bandit: Callable[[Policy], Bandit]
    gains: Callable[[float], np.ndarray]


def strips() -> World:
    names, choice = ("u", "r", "c", "x"), Choice("strip", (0.06, 0.1, 0.2, 0.4))

    def bandit(policy: Policy) -> Bandit:
        champion = 0b1101 + 16 * 1
        return Bandit(
            settings=Paired(policy=policy, champion=champion),
            conditions=names,
            low=(0.001,),
            high=(0.05,),
            choices=(choice,),
        )

    arms = bandit(Random()).arms

    def gains(nu: float) -> np.ndarray:
        errors = np.array([np.interp(np.log10(nu), NU, column) for column in ERRORS.T])
        u, r, c, x = arms[:, :4].T
        sets = -2.0 * (1 - u) - 0.8 * (1 - c) * (1 - x) + 0.15 * r * (nu < 0.02) + 0.1 * x * (nu > 0.02)
        return (errors[1] - errors)[np.argmax(arms[:, 4:], axis=1)] + sets - sets[0b1101]

    return World(bandit, gains)


def sets(size: float = 0.3) -> World:
    names = tuple("abcdefghi")
    effects = np.array([-1.0, 0.0, 0.2, -0.3, -0.6, 0.6, 0.0, -0.1, -0.2])

    def bandit(policy: Policy) -> Bandit:
        return Bandit(settings=Paired(policy=policy, champion=0b100001), conditions=names, low=(0.0,), high=(1.0,))

    bits = bandit(Random()).arms

    def gains(z: float) -> np.ndarray:
        if not size:
            return np.zeros(len(bits))
        now = effects.copy()
        now[0], now[2] = 1.0, size if z > 0.5 else -size
        found = bits @ now - 0.2 * bits[:, 2] * bits[:, 4]
        return found - found[0b100001]

    return World(bandit, gains)


WORLDS = {"strips": strips(), "sets": sets(), "level": sets(0.0)}


def study(world: World, policy: Policy, seed: int) -> dict[int, tuple[float, float, bool]]:
    """After some numbers of pairs: the mean true gain of what is recommended, the share of losses, and `level`."""
    bandit, rng, found, pairs = world.bandit(policy), np.random.default_rng([seed, 1]), {}, []
    low, high = bandit.low[0], bandit.high[0]
    places = low + (high - low) * (np.arange(PLACES) + 0.5) / PLACES
    for number in range(1, max(COUNTS) + 1):
        here = float(rng.uniform(low, high))
        arm = bandit.learn(pairs).decide((here,), play=number, key=(seed, number))
        gain = float(world.gains(here)[bandit.space.number(arm)])
        shared, own = NOISE * np.sqrt(SHARED) * rng.standard_normal(), NOISE * np.sqrt(1 - SHARED)
        first, second = shared + own * rng.standard_normal(2)
        vector = bandit.space.vector(arm.conditions.bits, arm.choices)
        forecast = None if arm.mean is None or arm.std is None else (arm.mean, arm.std)
        played = (PlayedPhase(vector, float(max(gain, -4.0) + second)),)
        pairs.append(Pair((here,), played, champion=float(first), number=number, forecast=forecast))
        if number in COUNTS:
            known = bandit.learn(pairs)
            best = [bandit.space.number(known.ranking((float(z),), 0, None, 1)[0]) for z in places]
            true = np.array([world.gains(float(z))[i] for z, i in zip(places, best)])
            found[number] = float(true.mean()), float(np.mean(true < -0.05)), bool(known.level)  # type: ignore[attr-defined]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=8)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    head = "| world | policy | " + " | ".join(f"{n} pairs" for n in COUNTS) + " | losses | level |"
    lines = [head, "|---" * (len(COUNTS) + 4) + "|"]
    for name in given.worlds:
        world, made = WORLDS[name], WORLDS[name].bandit(Random())
        low, high = made.low[0], made.high[0]
        places = low + (high - low) * (np.arange(PLACES) + 0.5) / PLACES
        best = np.mean([world.gains(float(z)).max() for z in places])
        lines.append(f"| {name} | best possible | {' | '.join([f'{best:.2f}'] * len(COUNTS))} | 0 | |")
        for label, policy in POLICIES.items():
            runs = [study(world, policy, seed) for seed in range(given.studies)]
            cells = []
            for n in COUNTS:
                gains = np.array([run[n][0] for run in runs])
                cells.append(f"{gains.mean():.2f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.2f}")
            last = [run[max(COUNTS)] for run in runs]
            losses, level = np.mean([one[1] for one in last]), np.mean([one[2] for one in last])
            lines.append(f"| {name} | {label} | {' | '.join(cells)} | {losses:.1%} | {level:.0%} |")
            print(lines[-1], flush=True)
    text = [
        "# Policies for a study with a champion",
        "",
        f"Mean true gain over the champion, in decades, of what is recommended, over {PLACES} parameters and "
        f"{given.studies} simulated studies (± standard error). Losses: the share of parameters where it is worse than "
        f"the champion by more than 0.05 decades after {max(COUNTS)} pairs; level: the share of studies that say so.",
        "",
        *lines,
        "",
        "Made by",
        "",
        "```sh",
        "python -m experiments.policies --out results/policies.md",
        "```",
        "",
    ]
    if given.out is not None:
        given.out.write_text("\n".join(text))


if __name__ == "__main__":
    main()
