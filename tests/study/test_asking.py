"""How plays of a study with a champion come about, and what such a study finds where the truth is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs import CUTS, SCHEDULE, Cuttable, gain, invented, level, play

import metalic as mt
from metalic.choices import arm_text
from metalic.errors import StudyError
from metalic.study import Study
from metalic.study.replay import redecide


def test_a_pair_is_one_pde_with_one_seed(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 8) as study:
        rows = study.plays
    for champion, challenger in zip(rows[::2], rows[1::2], strict=True):
        assert champion.arm == "u cut=0.5"
        assert challenger.arm != champion.arm
        assert (champion.parameters, champion.seed) == (challenger.parameters, challenger.seed)
        assert champion.pair == challenger.pair == challenger.number // 2
    assert len({row.seed for row in rows}) == 4


def regret(study: Study, a: float) -> tuple[float, float]:
    """What is recommended, and the best arm, in true decades over the champion."""
    best = study.recommend(a=a).phases[0].best
    arms = study.settings.arms
    found = gain(a, best.conditions.bits, float(best.choices["cut"]))
    every = [arms.decision(i) for i in range(len(arms))]
    return found, max(gain(a, one.conditions.bits, float(one.choices["cut"])) for one in every)


@pytest.mark.parametrize("seed", range(2))
def test_the_best_cut_and_set_are_found_where_they_depend_on_the_parameter(tmp_path: Path, seed: int) -> None:
    with play(tmp_path / "s.db", 80, seed=seed) as study:
        found = [regret(study, a) for a in (0.6, 0.8, 1.7, 1.9)]
        assert np.mean([mine for mine, _ in found]) > 0.5 * np.mean([best for _, best in found])
        assert min(mine for mine, _ in found) >= 0
        assert study.recommend(a=0.7).choices == {"cut": 0.3}
        assert study.recommend(a=1.9).choices == {"cut": 0.7}
        assert "beats the champion, u cut=0.5, with probability" in study.recommend(a=0.7).comparison.reason  # type: ignore[union-attr]
        assert all(one.identical for one in redecide(study, [2, 30, 31, 60]))


def test_where_nothing_differs_it_falls_back_to_the_champion(tmp_path: Path) -> None:
    """At a demand of 0.95 a few places of a few studies err; nothing is lost there."""
    chosen: list[str] = []
    for seed in range(4):
        with play(tmp_path / f"{seed}.db", 60, level, seed=seed) as study:
            chosen += [arm_text(study.recommend(a=a).phases[0].best) for a in np.linspace(0.5, 2, 9)]
    assert chosen.count("u cut=0.5") >= 0.85 * len(chosen)


def test_a_study_that_is_level_stops_if_asked(tmp_path: Path, pretending: Any) -> None:
    def flat(task: Any) -> Any:
        """No arm differs, without noise: the model is soon sure."""
        outcome = level(task)
        (row,) = outcome.phases
        from dataclasses import replace

        worth = 3.0 + 0.01 * np.random.default_rng(task.seed).standard_normal()
        return replace(outcome, phases=(replace(row, reward=float(worth), error=float(10**-worth)),))

    pretending(flat)
    with play(tmp_path / "s.db", 0) as study:
        study.play(60, stop_when_level=True)
        assert study.level
        assert study.finished_count == 30


def test_a_study_is_continued_within_a_pair(tmp_path: Path) -> None:
    play(tmp_path / "a.db", 20).close()
    play(tmp_path / "b.db", 11).close()
    with Study(tmp_path / "b.db", Cuttable) as study:
        study.ask()  # killed while it runs
    with Study(tmp_path / "b.db", Cuttable) as study:
        for _ in range(9):
            task = study.ask()
            study.tell(task, invented(task))
        whole = Study(tmp_path / "a.db", Cuttable, read_only=True)
        assert all(a.same_outcome(b) for a, b in zip(study.plays, whole.plays, strict=True))
        whole.close()


def test_two_in_flight_are_the_two_of_a_pair(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 12) as study:
        champion, challenger = study.ask(), study.ask()
        assert champion.seed == challenger.seed
        study.tell(challenger, invented(challenger))
        study.tell(champion, invented(champion))
        assert len(study.learned.history) == 7


def test_a_pair_with_a_failure_teaches_nothing(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 2) as study:
        first, second = study.ask(), study.ask()
        study.tell(first, RuntimeError("no"))
        study.tell(second, invented(second))
        assert len(study.learned.history) == 1


def test_an_odd_number_of_plays_is_refused(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 0) as study, pytest.raises(StudyError, match="0 plays and 3 more make an odd number"):
        study.play(3)
    with (
        play(tmp_path / "t.db", 0, bandit=mt.Single()) as study,
        pytest.raises(StudyError, match="only a study with a champion can be level"),
    ):
        study.play(2, stop_when_level=True)


@pytest.mark.parametrize("bandit", [mt.Single(policy=mt.Random()), mt.Sequential(policy=mt.UCB())])
def test_the_papers_bandits_choose_levels_too(tmp_path: Path, bandit: Any) -> None:
    with play(tmp_path / "s.db", 8, bandit=bandit, choices=CUTS) as study:
        assert len({row.choices["cut"] for row in study.plays if row.choices}) > 1
        advice = study.recommend(a=1.0)
        assert advice.choices["cut"] in CUTS["cut"]
        assert advice.comparison is None
        assert "cut=0.3" in advice.phases[0].effects


def test_real_plays_on_other_cuts(tmp_path: Path) -> None:
    """Networks, reward and replay of real plays; a solve starts from the plays on its own cut."""
    solver = {"hidden": (3,)}
    with Study(tmp_path / "s.db", Cuttable, mt.Paired(), SCHEDULE, choices=CUTS, solver=solver) as study:
        study.play(4)
        cuts = {row.choices["cut"] for row in study.plays if row.choices}
        assert len(cuts) > 1
        solution = study.solve(a=1.0)
        assert solution.family.decomposition == Cuttable().decompose(cut=study.recommend(a=1.0).choices["cut"])
        advised = mt.solve(Cuttable, study.recommend(a=1.0), SCHEDULE, hidden=(3,), a=1.0, check=False)
        assert advised.family.decomposition == solution.family.decomposition
