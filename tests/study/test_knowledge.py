"""The ledgers that are shipped inside the package."""

from pathlib import Path

import numpy as np
import pytest

import metalic as mt
from metalic.cli.commands.solve import recommended
from metalic.families import find_family
from metalic.study import Library, Study
from metalic.study.interpolation import halfway
from metalic.study.knowledge import MEMBERS, shipped, shipped_library

RESULTS = Path(__file__).parents[2] / "results" / "plays"
PAPER = ("advection", "burgers", "poisson", "reaction")
DIVIDED = ("layer", "materials", "oscillator", "turning")  # their studies chose how to divide the domain, or weights
BEGUN_WITH_TEXTBOOK_SETS = {"advection", "reaction"}  # docs/decisions/0006 says why


def test_there_are_eight() -> None:
    assert sorted(shipped()) == sorted(PAPER + DIVIDED)


@pytest.mark.parametrize("name", PAPER)
def test_it_is_the_whole_study_of_the_results(name: str) -> None:
    begun = name in BEGUN_WITH_TEXTBOOK_SETS
    assert shipped()[name].read_bytes() == (RESULTS / f"{name}-seq-ucb{'-first' * begun}-1.db").read_bytes()
    with Study(name, read_only=True) as study:
        assert bool(study.settings.bandit_settings.first) == begun
        assert study.family.name == name
        assert study.settings.schedule.name == "fast"
        assert len(study.plays) == 200
        assert {play.status for play in study.plays} <= {"done", "diverged"}


@pytest.mark.parametrize("name", DIVIDED)
def test_it_is_the_study_with_choices_of_the_results(name: str) -> None:
    assert shipped()[name].samefile(RESULTS.parent / "choices" / "plays" / f"{name}.db")
    with Study(name, read_only=True) as study:
        assert (study.family.name, study.settings.schedule.name) == (name, "fast")
        assert len(study.plays) == (240 if name == "layer" else 120)
        assert study.settings.choices
        ((parameter, box),) = study.family.parameters.items()
        for value in box:
            advice = study.recommend({parameter: value})
            assert advice.comparison is not None
            assert advice.choices.keys() == {choice.name for choice in study.settings.choices}


@pytest.mark.parametrize("name", PAPER)
def test_it_advises(name: str) -> None:
    family = find_family(name)
    middle = {parameter: sum(ends) / 2 for parameter, ends in family.parameters.items()}
    advice = recommended(name, family, {key: str(value) for key, value in middle.items()}, "fast", False)
    assert len(advice.conditions) == 2
    assert advice.conditions[-1], "a last phase without any condition leaves the subdomains apart"
    with Study(name, read_only=True) as study:
        unlearned = [play.error for play in study.plays[:10] if play.error is not None]
    assert advice.expected is not None
    assert advice.expected < np.median(unlearned)


def test_a_study_starts_from_it(tmp_path: Path) -> None:
    with Study(tmp_path / "new.db", "poisson", start_from="poisson", seed=5) as study:
        ours = study.recommend(s=17)
        assert study.plays == []
    with Study("poisson", read_only=True) as study:
        theirs = study.recommend(s=17)
    assert (ours.plays, ours.conditions, ours.expected) == (200, theirs.conditions, theirs.expected)


def test_its_name_is_never_a_ledger_to_write_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mt.MetalicError, match="say which family"):
        Study("poisson")


# --- Libraries of solved members -------------------------------------------------------------------------------------

LIBRARIES = sorted(MEMBERS.glob("*.db"))


def test_a_library_is_for_a_built_in_family_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalic.study.knowledge.MEMBERS", tmp_path)
    (tmp_path / "poisson.db").touch()
    assert shipped_library(find_family("poisson")) == tmp_path / "poisson.db"
    assert shipped_library(find_family("poisson").undivided()) is None
    assert shipped_library(find_family("burgers")) is None


@pytest.mark.filterwarnings("error")  # the equations have not changed since
@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_a_shipped_library_covers_its_box_and_is_small(path: Path) -> None:
    library = Library(path, path.stem)
    assert path.stat().st_size < 200_000
    assert len(library.usable) == len(library)
    places = np.sort([library.place(member.parameters)[0] for member in library])
    assert (places[0], places[-1]) == (0, pytest.approx(1))
    assert np.diff(places).max() < 0.15
    assert library.starts(halfway(library.family.parameters, *(one.parameters for one in library.members[:2])))
