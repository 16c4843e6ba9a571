"""Small histories and an independent implementation of the kernels, shared by the tests of the bandits."""

import numpy as np

from metalic.bandit import Bandit, Played, PlayedPhase, Sequential, Single, all_arms

S = 4
NAMES = tuple("abcdefghijklmnopq")


def points(n: int, d: int = 2, s: int = S, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random contexts, arms and standardised rewards."""
    rng = np.random.default_rng(seed)
    context, arm = rng.random((n, d)), rng.integers(0, 2, (n, s)).astype(float)
    reward = np.sin(3 * context.sum(1)) + arm @ np.linspace(-1, 1, s) + 0.3 * rng.standard_normal(n)
    return context, arm, (reward - reward.mean()) / reward.std()


def history(n: int, phases: int = 1, s: int = S, seed: int = 0) -> list[Played]:
    """Random finished plays in a box [0, 10] x [-1, 1]."""
    rng = np.random.default_rng(seed)
    plays = []
    for _ in range(n):
        context = (10 * rng.random(), 2 * rng.random() - 1)
        made = []
        for p in range(phases):
            arm = rng.integers(0, 2, s)
            reward = arm @ np.linspace(-1, 1, s) + 0.1 * context[0] + 0.1 * rng.standard_normal()
            made.append(PlayedPhase(tuple(arm.tolist()), float(reward), None if p == 0 else float(10 ** -rng.random())))
        plays.append(Played(context, tuple(made)))
    return plays


def single(s: int = S, **settings) -> Bandit:
    return Bandit(settings=Single(**settings), conditions=NAMES[:s], low=(0.0, -1.0), high=(10.0, 1.0))


def sequential(phases: int = 2, s: int = S, **settings) -> Bandit:
    return Bandit(
        settings=Sequential(**settings), conditions=NAMES[:s], low=(0.0, -1.0), high=(10.0, 1.0), phases=phases
    )


def numpy_kernel(name: str, values: dict[str, list[float]], x: np.ndarray, y: np.ndarray, d: int) -> np.ndarray:
    """The kernels as their formulas read, pair by pair; x and y hold context and arm side by side."""
    return np.array([[PAIRS[name](values, p[:d], p[d:], q[:d], q[d:]) for q in y] for p in x])


def _paper(v, b, a, c, e) -> float:
    return np.exp(-v["tau1"][0] * np.sum((b - c) ** 2)) * np.exp(v["tau2"][0] * np.mean(a == e))


def _additive(v, b, a, c, e) -> float:
    w, same = np.array(v["weight"]), np.where(a == e, 1.0, -1.0)
    near = np.exp(-np.sum(np.array(v["tau_arm"]) * (b - c) ** 2))
    pairs = sum(w[i] * w[j] * same[i] * same[j] for i in range(len(w)) for j in range(i))
    differing = np.sum(w[a != e]) / np.sum(w)
    return (
        v["context"][0] * np.exp(-np.sum(np.array(v["tau_context"]) * (b - c) ** 2))
        + (1 + v["varying"][0] * near) * (np.sum(w * same) + v["pairs"][0] * pairs)
        + v["rest"][0] * near * np.exp(-v["tau2"][0] * differing)
    )


def _lean(v, b, a, c, e) -> float:
    """Written out sum by sum."""
    near = np.exp(-sum(t * (x - y) ** 2 for t, x, y in zip(v["tau1"], b, c, strict=True)))
    equal = sum(i == j for i, j in zip(a, e, strict=True)) / len(a)
    main = v["main"][0] * (2 * equal - 1)
    return v["context"][0] * near + main + v["product"][0] * near * np.exp(-v["tau2"][0] * (1 - equal))


PAIRS = {"paper": _paper, "lean": _lean, "additive": _additive}
ARMS = all_arms(S)
