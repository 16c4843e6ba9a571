"""Rows as a bandit sees them."""

from pathlib import Path

from pairs import play

from metalic.study.experience import as_played, is_champion, pair_of


def test_plays_and_pairs() -> None:
    assert [pair_of(n) for n in (1, 2, 3, 4)] == [1, 1, 2, 2]


def test_a_pair_knows_its_champion_and_its_forecast(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 20) as study:
        rows, learned = study.plays, study.learned
    champions, challengers = rows[::2], rows[1::2]
    assert [is_champion(row) for row in rows[:4]] == [True, False, True, False]
    for pair, champion, challenger in zip(learned.history, champions, challengers, strict=True):
        assert pair.champion == champion.reward  # type: ignore[attr-defined]
        assert pair.phases[-1].reward == challenger.reward
        first = challenger.phases[0]
        assert pair.forecast == (None if first.mean is None else (first.mean, first.std))  # type: ignore[attr-defined]
    assert learned.history[-1].forecast is not None  # type: ignore[attr-defined]


def test_levels_are_entries_of_the_arm(tmp_path: Path) -> None:
    with play(tmp_path / "s.db", 2) as study:
        played = as_played(study.plays[0], 1, study.settings.arms)
    assert tuple(played.phases[0].arm) == (1, 0, 0, 0, 1, 0)  # u; the second of three cuts
    assert played.phases[0].loss is None
