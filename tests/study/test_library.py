"""A library: what it keeps comes back, starts are interpolated as they should be, and bad files are reported."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny import RANDOM, SETTINGS, Tiny
from untrained import HIDDEN, solution

import metalic as mt
from metalic.errors import LedgerError, LibraryError, StudyError
from metalic.pinn.optimizers import Status
from metalic.study import Library, Study
from metalic.study.continuation import spread


class Two(Tiny):
    """Two parameters, the second in a wide box."""

    name = "two"
    parameters = {"a": (0.5, 2.0), "b": (0.01, 1.0)}

    def residual(self, u, p, a, b):
        return u.t + a * b * u.value

    def reference(self, a, b):
        return lambda points: np.exp(-a * b * points[:, 1])


def line(path, values=(0.5, 1.0, 1.5, 2.0), branch=1, **options):
    """A library on one branch whose weights are linear in the parameter: 10 a."""
    library = Library(path, Tiny)
    for a in values:
        library.add(solution(10.0 * a, a=a, **options), branch=branch)
    library.close()
    return library


# --- What is kept ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_what_is_added_comes_back(tmp_path: Path, precision: str) -> None:
    one = replace(solution(np.linspace(-1, 1, 17), a=1.25), start={"source": "x", "parameters": {}, "kind": "copied"})
    with Library(tmp_path / "a.db") as library:
        library.add(one, branch=3, precision=precision)
    (found,) = Library(tmp_path / "a.db", Tiny)
    assert found.parameters == {"a": 1.25}
    assert found.networks.theta.dtype == precision
    np.testing.assert_array_equal(found.networks.theta, one.theta.astype(precision))
    np.testing.assert_array_equal(found.networks.slope, one.slope)
    assert (found.networks.hidden, found.networks.branch, found.networks.start) == (HIDDEN, 3, one.start)
    assert (found.error, found.loss, found.conditions, found.row.seed) == (1e-4, 1e-8, ("u", "x"), 7)
    assert (tmp_path / "a.db").exists()
    assert not (tmp_path / "a.db-wal").exists()


def test_a_member_is_not_added_twice_unless_asked_for(tmp_path: Path) -> None:
    library = line(tmp_path / "a.db")
    with pytest.raises(LibraryError, match=r"has a member at a=1; replace=True"):
        library.add(solution(a=1.0))
    library.add(solution(a=1.0, error=5e-5), replace=True)
    library.close()
    again = Library(tmp_path / "a.db", Tiny)
    assert len(again) == 4
    assert again.find({"a": 1.0}).error == 5e-5


def test_libraries_of_one_family_are_merged(tmp_path: Path) -> None:
    first, second = line(tmp_path / "a.db", (0.5, 1.0)), line(tmp_path / "b.db", (1.0, 1.75))
    assert first.merge(second) == 1
    assert first.merge(tmp_path / "b.db") == 0
    first.close()
    members = Library(tmp_path / "a.db", Tiny).members
    assert [member.parameters["a"] for member in members] == [0.5, 1.0, 1.75]
    assert [member.networks.branch for member in members] == [1, 1, 2]  # two branches do not become one
    with pytest.raises(LibraryError, match="not of 'two'"):
        Library(tmp_path / "c.db", Two).merge(tmp_path / "a.db")


# --- Where to start --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.6, 1.0, 1.4, 1.9])
def test_members_on_a_branch_are_interpolated(tmp_path: Path, a: float) -> None:
    """Weights that are linear in the parameter are met exactly."""
    first = line(tmp_path / "a.db").starts({"a": a})[0]
    np.testing.assert_allclose(first.theta, 10 * a, rtol=1e-12)
    assert first.kind == ("nearest" if a == 1.0 else "interpolated")


def test_beyond_the_last_member_the_line_is_extended(tmp_path: Path) -> None:
    library = line(tmp_path / "a.db", (0.5, 1.0))
    np.testing.assert_allclose(library.starts({"a": 1.5})[0].theta, 15.0)
    assert [start.kind for start in library.starts({"a": 2.0})] == ["nearest", "nearest"]  # twice as far: too far


def test_members_of_other_branches_or_none_are_not_mixed(tmp_path: Path) -> None:
    library = line(tmp_path / "a.db", (0.5, 1.5), branch=None)
    assert [start.parameters["a"] for start in library.starts({"a": 1.1})] == [1.5, 0.5]
    library = line(tmp_path / "b.db", (0.5,), branch=1)
    library.add(solution(15.0, a=1.5), branch=2)
    library.close()
    assert {start.kind for start in library.starts({"a": 1.1})} == {"nearest"}


def test_bad_members_are_not_used(tmp_path: Path) -> None:
    library = line(tmp_path / "a.db", (0.5, 2.0))
    library.add(solution(np.full(17, np.nan), a=1.0))
    library.add(solution(a=1.1, error=0.2))
    library.add(solution(a=1.2, error=100.0, status=Status.DIVERGED))
    library.close()
    again = Library(tmp_path / "a.db", Tiny)
    assert len(again) == 5
    assert [member.parameters["a"] for member in again.usable] == [0.5, 2.0]


def test_without_errors_a_loss_far_above_the_others_is_bad(tmp_path: Path) -> None:
    library = line(tmp_path / "a.db", error=None)
    library.add(solution(a=1.2, error=None, loss=1.0))
    library.close()
    assert {"a": 1.2} not in [member.parameters for member in library.usable]


def test_interpolation_in_two_parameters_is_exact_for_linear_weights(tmp_path: Path) -> None:
    """Linear in the parameters as they are measured: the second one in logarithms."""
    library = Library(tmp_path / "two.db", Two)
    for values in spread(mt.find_family(Two), 12):
        library.add(solution(values["a"] + 3 * np.log(values["b"]), family=Two, **values), branch=1)
    library.close()
    start = library.starts({"a": 1.1, "b": 0.2})[0]
    assert start.kind == "interpolated"
    np.testing.assert_allclose(start.theta, 1.1 + 3 * np.log(0.2), rtol=1e-9)


def test_a_quick_look_has_its_error(tmp_path: Path) -> None:
    """Networks that are exp(-a t) to first order around t = 0.5 of each half: their error is measured, not promised."""
    library = line(tmp_path / "a.db")
    look = library(a=1.2)
    values = look(mt.find_family(Tiny).error_points())
    exact = np.exp(-1.2 * mt.find_family(Tiny).error_points()[:, 1])
    assert look.error == pytest.approx(np.linalg.norm(values - exact) / np.linalg.norm(exact))
    assert look.start["kind"] == "interpolated"


def test_parameters_that_cover_a_box() -> None:
    (first, *_, last) = spread(mt.find_family("burgers"), 5)
    assert (first["nu"], last["nu"]) == (0.001, pytest.approx(0.05))
    assert spread(mt.find_family("burgers"), 3)[1]["nu"] == pytest.approx(np.sqrt(0.001 * 0.05))
    assert [values["s"] for values in spread(mt.find_family("poisson"), 3)] == [0.0, 25.0, 50.0]
    assert len({tuple(values.values()) for values in spread(mt.find_family("heat"), 8)}) == 8


# --- Bad files -------------------------------------------------------------------------------------------------------


def test_a_library_of_another_family_is_refused(tmp_path: Path) -> None:
    line(tmp_path / "a.db")
    with pytest.raises(LibraryError, match="is a library of 'tiny', not of 'two'"):
        Library(tmp_path / "a.db", Two)
    with pytest.raises(StudyError, match="of your family 'tiny'"):
        Library(tmp_path / "a.db")
    with pytest.raises(LibraryError, match="does not belong to library"):
        Library(tmp_path / "a.db", Tiny).add(solution(family=Two, a=1.0, b=0.5))


def test_other_decompositions_are_refused(tmp_path: Path) -> None:
    class Cut(Tiny):
        name = "tiny"
        decomposition = mt.split(Tiny.domain, t=[0.4])

    line(tmp_path / "a.db")
    refused = pytest.raises(LibraryError, match="networks of another decomposition")
    with refused, pytest.warns(UserWarning, match="have changed"):
        Library(tmp_path / "a.db", Cut)


def test_changed_equations_are_reported(tmp_path: Path) -> None:
    class Changed(Tiny):
        name = "tiny"

        def residual(self, u, p, a):
            return u.t + a * u.value + 1.0

    line(tmp_path / "a.db")
    with pytest.warns(UserWarning, match="the equations of family 'tiny' have changed"):
        Library(tmp_path / "a.db", Changed)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE networks SET theta = zeroblob(length(theta)) WHERE play = 2", "do not match their checksum"),
        ("UPDATE networks SET shape = '[2, 18]'", "do not match their checksum"),
        ("UPDATE networks SET branch = 4", "do not match their checksum"),
        ("DROP TABLE networks", "damaged"),
        ("UPDATE plays SET context = replace(context, '1', '2')", "does not match its checksum"),
    ],
)
def test_damage_is_reported(tmp_path: Path, statement: str, message: str) -> None:
    line(tmp_path / "a.db")
    db = sqlite3.connect(tmp_path / "a.db")
    db.execute(statement)
    db.commit()
    db.close()
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(LedgerError, match=message):
        Library(tmp_path / "a.db", Tiny)
    assert (tmp_path / "a.db").read_bytes() == before


def test_a_library_is_not_a_study_and_a_study_not_a_library_to_write(tmp_path: Path, pretending) -> None:
    line(tmp_path / "a.db")
    with pytest.raises(StudyError, match="is a library of solved members, not a study"):
        Study(tmp_path / "a.db", Tiny)
    with Study(tmp_path / "s.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(1)
    with pytest.raises(LibraryError, match="is the ledger of a study"):
        Library(tmp_path / "s.db", Tiny).add(solution(a=1.0))


def test_an_empty_library_says_so(tmp_path: Path) -> None:
    assert len(Library(tmp_path / "a.db")) == 0
    with pytest.raises(LibraryError, match="name its family"):
        _ = Library(tmp_path / "a.db").family
    with pytest.raises(LibraryError, match="no member that could be used"):
        Library(tmp_path / "a.db", Tiny)(a=1.0)
    assert not (tmp_path / "a.db").exists()


# --- Studies ---------------------------------------------------------------------------------------------------------


def test_a_study_keeps_the_networks_of_its_plays(tmp_path: Path) -> None:
    with Study(tmp_path / "s.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(2)
        task = study.task(
            study.plays[0], study.plays, study.plays[0].phases[0].decision(study.settings.catalogue.names)
        )
        again = task.solve()
    members = Library(tmp_path / "s.db", Tiny).members
    assert [member.row.number for member in members] == [1, 2]
    np.testing.assert_array_equal(members[0].networks.theta, again.theta)
    assert members[0].networks.branch is None
    with Study(tmp_path / "n.db", Tiny, RANDOM, networks=False, **SETTINGS) as study:
        study.play(1)
    assert len(Library(tmp_path / "n.db", Tiny)) == 0
