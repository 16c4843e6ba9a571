"""Numbers that a textbook does not have: not finite, singular, zero, all the same, too many."""

import json
import math
import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from tiny import RANDOM, SCHEDULE, SETTINGS, Tiny

import metalic as mt
from metalic.bandit import Bandit, Played, PlayedPhase, Sequential, Single
from metalic.bandit.gp import MOST, kept
from metalic.errors import BanditError, MetalicError
from metalic.pinn.solution import relative_error
from metalic.study import Ledger, Study
from metalic.study.rows import Numbers, PhaseRow, PlayRow

OPTIMIZERS = {"adam": mt.Adam(1e-2), "lbfgs": mt.LBFGS(), "gauss-newton": mt.GaussNewton()}


def solved(family: type[mt.Family], optimizer: str, conditions: Any = "u", **options: Any) -> mt.Solution:
    phases = [mt.Phase(OPTIMIZERS[optimizer], 5), mt.Phase(OPTIMIZERS[optimizer], 5)]
    return mt.solve(family(), conditions, phases, hidden=(4,), **({"a": 1.0} | options))


def changed(**body: Any) -> type[mt.Family]:
    return type("Odd", (Tiny,), {"name": "odd", **body})


# --- Residuals that are not finite, or nearly not -------------------------------------------------------------------


class Wild(Tiny):
    """Its residual has a factor: the parameter says which."""

    name = "wild"
    parameters = {"a": (0.0, 4.0)}
    factors = (math.nan, math.inf, -math.inf, 1e200, 1e140)

    def residual(self, u: Any, p: Any, a: Any) -> Any:
        return (u.t + u.value) * jnp.asarray(self.factors)[a.astype(int)]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_residuals_that_are_not_finite(optimizer: str) -> None:
    """A recorded outcome, ready for JSON; huge ones, whose squares are finite, may give either."""
    for a, factor in enumerate(Wild.factors):
        solution = solved(Wild, optimizer, a=float(a))
        assert solution.diverged or factor == 1e140
        assert solution.error is not None
        assert solution.error == 100.0 or (factor == 1e140 and solution.error > 0)
        text = json.dumps(solution.to_dict(history=True), allow_nan=False)
        assert json.loads(text)["diverged"] == solution.diverged


def test_a_solution_that_diverged_survives_its_file(tmp_path: Path) -> None:
    family = changed(residual=lambda self, u, p, a: u.t * math.nan)
    solution = solved(family, "adam")
    loaded = mt.Solution.load(solution.save(tmp_path / "a.npz"), family)
    assert loaded.diverged
    assert loaded.to_dict(history=True) == solution.to_dict(history=True)


def test_a_residual_that_is_finite_here_and_not_there() -> None:
    """1 / 0 at one end of the domain only."""
    solution = solved(changed(residual=lambda self, u, p, a: u.t + u.value / jnp.floor(p.x + 0.5)), "adam")
    assert solution.diverged


@pytest.mark.parametrize("reward", ["error", "residual"])
def test_a_study_of_what_never_converges(tmp_path: Path, reward: str) -> None:
    family = changed(residual=lambda self, u, p, a: u.t * math.inf)
    with Study(tmp_path / "a.db", family, mt.Sequential(random_plays=1), reward=reward, **SETTINGS) as study:
        study.play(3)
        assert {play.status for play in study.plays} == {"diverged"}
        assert math.isfinite(study.recommend(a=1.0).phases[0].best.mean)


# --- Singular, zero, one value --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_singular_gauss_newton_system(weight: float) -> None:
    """A residual without u: J^T J has rank zero (no weight on the boundary) or that of the boundary rows."""
    family = changed(residual=lambda self, u, p, a: 0.0 * u.value + 1.0)
    solution = solved(family, "gauss-newton", "none", lambda_boundary=weight)
    assert np.isfinite(solution.theta).all()
    assert not solution.diverged
    terms = solution.terms()
    assert all(math.isfinite(value) for value in terms.values())
    assert terms["residual"] == pytest.approx(2.0)  # 1 on each of two subdomains


def test_a_reference_of_zeros() -> None:
    """Then the error is absolute: the root mean square of the values."""
    zeros, values = np.zeros((4, 1)), np.array([[3.0], [0.0], [0.0], [4.0]])
    assert relative_error(values, zeros) == pytest.approx(2.5)
    assert relative_error(zeros, zeros) == 0.0
    family = changed(reference=lambda self, a: lambda points: np.zeros(len(points)))
    solution = solved(family, "adam")
    grid = family().error_points()
    assert solution.error == pytest.approx(float(np.sqrt(np.mean(solution(grid) ** 2))))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_reference_that_is_not_finite(bad: float) -> None:
    """No error can be measured against it: reported before anything is trained."""
    family = changed(reference=lambda self, a: lambda points: np.full(len(points), bad))
    with pytest.raises(MetalicError, match="the reference is not finite"):
        solved(family, "adam")


def test_a_family_of_one_member(tmp_path: Path) -> None:
    family = changed(parameters={"a": (1.0, 1.0)})
    with Study(tmp_path / "a.db", family, mt.Sequential(random_plays=2), **SETTINGS) as study:
        study.play(4)
        assert {play.parameters["a"] for play in study.plays} == {1.0}
        assert study.recommend(a=1.0).plays == 4
        assert all(math.isfinite(effect.mean) for effect in study.effects(a=1.0)[0].values())


def test_a_family_without_parameters(tmp_path: Path) -> None:
    class Alone(Tiny):
        parameters = {}

        def residual(self, u: Any, p: Any) -> Any:
            return u.t + u.value

        def reference(self) -> Any:
            return lambda points: np.exp(-points[:, 1])

    with Study(tmp_path / "a.db", Alone, mt.Sequential(random_plays=2), **SETTINGS) as study:
        study.play(4)
        assert study.recommend().plays == 4


# --- Rewards, contexts and arms that say nothing --------------------------------------------------------------------


def history(plays: int, rewards: Any, arms: Any, contexts: Any, conditions: int = 3) -> list[Played]:
    rng = np.random.default_rng(0)
    found = []
    for number in range(plays):
        arm = tuple(int(bit) for bit in arms(rng, conditions))
        found.append(Played((contexts(rng),), (PlayedPhase(arm, rewards(number)),)))
    return found


def free(rng: np.random.Generator, conditions: int) -> Any:
    return rng.integers(0, 2, conditions)


@pytest.mark.parametrize("kernel", ["additive", "paper"])
@pytest.mark.parametrize(
    ("rewards", "arms", "contexts"),
    [
        (lambda number: 2.0, free, lambda rng: rng.uniform()),
        (lambda number: 1e12, free, lambda rng: rng.uniform()),
        (lambda number: 1.0 + 1e-15 * (number % 2), free, lambda rng: rng.uniform()),
        (lambda number: float(number % 3), free, lambda rng: 0.5),
        (lambda number: float(number % 3), lambda rng, s: np.ones(s), lambda rng: rng.uniform()),
        (lambda number: 1.0, lambda rng, s: np.zeros(s), lambda rng: 0.5),
        (lambda number: (-1) ** number * 1e150, free, lambda rng: rng.uniform()),
    ],
    ids=["constant", "large constant", "rounding", "one context", "one arm", "all the same", "huge"],
)
def test_plays_that_say_little(kernel: str, rewards: Any, arms: Any, contexts: Any) -> None:
    bandit = Bandit(settings=Single(kernel=kernel), conditions=("u", "c", "x"), low=(0.0,), high=(1.0,))
    learned = bandit.learn(history(40, rewards, arms, contexts))
    decision = learned.decide((0.5,), play=41, key=1)
    assert 0 <= decision.conditions.index < 8
    assert decision.mean is not None
    assert math.isfinite(decision.mean)
    best = learned.recommend((0.5,))[0]
    assert all(math.isfinite(one.mean) and math.isfinite(one.std) for one in best)
    assert np.isfinite(learned.effects((0.5,)).mean).all()


def test_a_box_of_one_value() -> None:
    bandit = Bandit(settings=Single(), conditions=("u", "c"), low=(3.0,), high=(3.0,))
    plays = [Played((3.0,), (PlayedPhase((i % 2, 1), float(i % 2)),)) for i in range(12)]
    assert bandit.learn(plays).recommend((3.0,))[0][0].conditions.bits[0] == 1


# --- How many -------------------------------------------------------------------------------------------------------


def test_fourteen_conditions() -> None:
    """16 384 sets: decided in seconds, and the additive truth is found."""
    bandit = Bandit(settings=Single(), conditions=tuple("abcdefghijklmn"), low=(0.0,), high=(1.0,))
    plays = [
        Played(play.context, (PlayedPhase(play.phases[0].arm, float(sum(play.phases[0].arm[:4]))),))
        for play in history(60, lambda number: 0.0, free, lambda rng: rng.uniform(), conditions=14)
    ]
    learned = bandit.learn(plays)
    assert 0 <= learned.decide((0.5,), play=61, key=1).conditions.index < 2**14
    assert learned.recommend((0.5,), top=1)[0][0].conditions.bits[:4] == (1, 1, 1, 1)


class Mean(mt.Condition):
    """One of many conditions."""

    def __init__(self, number: int):
        self.name, self.description, self.formula = f"m{number}", "mean", "u"

    def law(self, a: Any, b: Any, n: Any) -> Any:
        return a.u.value - b.u.value


@pytest.mark.parametrize(("count", "message"), [(40, "1 to 16 conditions .* not 40; leave out"), (0, "no conditions")])
def test_too_many_conditions_and_none(tmp_path: Path, count: int, message: str) -> None:
    family = changed(conditions=(), own_conditions=tuple(Mean(i) for i in range(count)))
    with pytest.raises(BanditError, match=message):
        Study(tmp_path / "a.db", family, **SETTINGS)
    assert not list(tmp_path.iterdir())


def test_a_long_history_is_thinned() -> None:
    for n in (0, 1, 7, MOST):
        assert kept(n).tolist() == list(range(n))
    for n in (MOST + 1, 2500, 10_000, 10**6):
        chosen = kept(n)
        assert len(set(chosen.tolist())) == MOST
        assert chosen.tolist() == sorted(chosen)
        assert chosen[0] == 0
        assert chosen[-MOST // 2 :].tolist() == list(range(n - MOST // 2, n))


def long_ledger(path: Path, plays: int, bandit: Sequential) -> None:
    """A ledger with this many finished plays, written at once."""
    with Study(path.with_suffix(".one"), Tiny, bandit, **SETTINGS) as study:
        settings = study.settings.to_dict()
    rng = np.random.default_rng(0)
    rows = []
    for number in range(1, plays + 1):
        phases = []
        for _ in range(2):
            arm = tuple(int(bit) for bit in rng.integers(0, 2, 3))
            names = tuple(name for name, bit in zip(Tiny.conditions, arm, strict=True) if bit)
            reward = float(sum(arm) + 0.1 * rng.standard_normal())
            index = sum(bit << i for i, bit in enumerate(arm))
            phases.append(PhaseRow(names, index, arm, 0.0, 1.0, reward, 10**-reward, 10**-reward, 1.0, 5, "x", "adam"))
        parameters = {"a": float(rng.uniform(0.5, 2.0))}
        rows.append(PlayRow(number, "done", parameters, number, tuple(phases), Numbers.of(range(1, number))))
    Ledger.writer(path, settings, rows).close()


@pytest.mark.soak
def test_ten_thousand_plays(tmp_path: Path) -> None:
    """Opening, deciding and telling take bounded time; after the first decision, which compiles, a second or two."""
    path = tmp_path / "long.db"
    long_ledger(path, 10_000, mt.Sequential())
    begun = time.process_time()
    with Study(path, Tiny) as study:
        opened = time.process_time() - begun
        study.ask()
        begun = time.process_time()
        task = study.ask()
        asked = time.process_time() - begun
        assert (task.number, len(study.plays)) == (10_002, 10_002)
    assert opened < 10
    assert asked < 10


def test_random_sets_need_no_model(tmp_path: Path) -> None:
    path = tmp_path / "random.db"
    long_ledger(path, 300, RANDOM)
    with Study(path, Tiny) as study:
        assert study.ask().number == 301


def test_weights_of_zero() -> None:
    solution = mt.solve(Tiny(), "u", SCHEDULE, hidden=(4,), a=1.0, lambda_boundary=0.0, lambda_interface=0.0)
    ordinary = mt.solve(Tiny(), "u", SCHEDULE, hidden=(4,), a=1.0)
    object.__setattr__(ordinary, "theta", solution.theta)
    assert solution.terms() == pytest.approx(ordinary.terms())
