"""How ledgers of studies with choices are begun and opened again, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from pairs import CUTS, SCHEDULE, Cuttable, play

import metalic as mt
from metalic.errors import StudyError
from metalic.study import Ledger, Study


def test_choices_and_champion_are_kept(tmp_path: Path) -> None:
    play(tmp_path / "s.db", 2, bandit=mt.Paired(champion="u,x cut=0.7", first=["u,x", "textbook"])).close()
    with Study(tmp_path / "s.db", Cuttable, mt.Paired(champion="u,x cut=0.7", first=["u,x", "textbook"])) as study:
        assert (str(study.champion.conditions), study.champion.choices) == ("u,x", {"cut": 0.7})  # type: ignore[union-attr]
        first = [study.settings.arms.decision(i) for i in study.settings.bandit_settings.first]
        assert {one.choices["cut"] for one in first} == {0.7}
    with Ledger(tmp_path / "s.db") as ledger:
        assert ledger.settings()["choices"] == CUTS


def test_a_study_without_choices_has_no_such_key(tmp_path: Path) -> None:
    play(tmp_path / "s.db", 2, choices=None).close()
    with Ledger(tmp_path / "s.db") as ledger:
        assert "choices" not in ledger.settings()
        assert [row.choices for row in ledger.plays()] == [None, None]
        assert [row.pair for row in ledger.plays()] == [1, 1]


def test_other_choices_are_another_study(tmp_path: Path) -> None:
    play(tmp_path / "s.db", 2).close()
    with pytest.raises(StudyError, match=r"choices.cut was \[0.3, 0.5, 0.7\] and is now \[0.3, 0.5\]"):
        Study(tmp_path / "s.db", Cuttable, choices={"cut": [0.3, 0.5]})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"choices": {"cut": []}}, "choice 'cut' has no levels"),
        ({"choices": {"cut": [0.5]}}, "choice 'cut' has only the level 0.5"),
        ({"choices": {"cut": [0.5, 2.0]}}, "cut=2.0 cannot be chosen for family 'cuttable'"),
        ({"choices": {"knife": [1, 2]}}, "family 'cuttable' has no choice 'knife': allowed are cut, parts, lambda"),
        ({"choices": {"lambda_boundary": list(range(20000))}}, "there are 160000 arms"),
        ({"choices": {"cut": [0.3, 0.7]}}, "the champion is not an arm: choice 'cut' has no level 0.5"),
        ({"bandit": mt.Paired(champion="u cut=0.4")}, "the champion is not an arm: choice 'cut' has no level 0.4"),
        ({"bandit": mt.Paired(champion="u knife=1")}, "'u knife=1' is not an arm: this study does not choose 'knife'"),
        ({"bandit": mt.Paired(champion="v")}, "no condition 'v'"),
        ({"bandit": mt.Paired(champion="u x")}, "an arm is written as 'u,c' or 'u,c strip=0.1', not 'u x'"),
        ({"bandit": mt.Paired(champion=24)}, "its number from 0 to 23; not 24"),
    ],
)
def test_bad_choices_leave_no_file(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"bandit": mt.Paired(), "choices": CUTS} | settings
    with pytest.raises(mt.MetalicError, match=message):
        Study(tmp_path / "s.db", Cuttable, given.pop("bandit"), SCHEDULE, **given)
    assert not list(tmp_path.iterdir())
