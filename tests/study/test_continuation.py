"""Passes by continuation: one branch over the box, completed where they were stopped; one failure does not end them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from small import SOLVER, Line

import metalic as mt
from metalic.errors import LibraryError, ParameterError
from metalic.study import Library, continuation
from metalic.study.continuation import Pass
from metalic.study.warm import Warm


def test_a_prepared_library_covers_the_box_on_one_branch(prepared):
    assert [round(member.parameters["k"], 4) for member in prepared] == np.linspace(1, 2.5, 9).round(4).tolist()
    assert {member.networks.branch for member in prepared} == {1}
    assert all(member.error < 1e-3 for member in prepared)
    assert [member.row.phases[0].optimizer for member in prepared] == ["adam"] + 8 * ["gauss-newton"]
    assert {member.networks.theta.dtype.name for member in prepared} == {"float32"}


def test_weights_vary_continuously_along_it(prepared):
    """Each step is small against the weights: that is what interpolation rests on."""
    thetas = [np.asarray(member.networks.theta, float) for member in prepared]
    steps = [np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in itertools.pairwise(thetas)]
    assert max(steps) < 0.5


def test_a_library_that_exists_is_completed(prepared, tmp_path):
    path = tmp_path / "line.db"
    path.write_bytes(prepared.path.read_bytes())
    library = mt.prepare(path, Line, members=9, refine=0)
    assert len(library) == 9
    assert path.read_bytes() == prepared.path.read_bytes()


def test_one_failed_member_does_not_end_a_sweep(tmp_path, monkeypatch):
    solve = Pass.member

    def fails(self, values, *more):
        if values["k"] == 1.5:
            raise LibraryError("no such luck")
        return solve(self, values, *more)

    monkeypatch.setattr(Pass, "member", fails)
    found = mt.sweep(Line, k=[1.0, 1.5, 2.0], library=tmp_path / "a.db", solver=SOLVER)
    assert found.failures == {1: "no such luck"}
    assert np.isnan(found.errors).tolist() == [False, True, False]
    assert np.isnan(found.values()[1]).all()


def test_steps_are_halved_where_starts_in_between_are_bad(tmp_path, monkeypatch):
    """Nothing is close enough, then everything: the path is refined as deep as allowed, then not at all."""
    monkeypatch.setattr(Warm, "close", lambda self, values: False)
    library = mt.prepare(tmp_path / "a.db", Line, members=3, refine=2, solver=SOLVER)
    ks = sorted(member.parameters["k"] for member in library)
    np.testing.assert_allclose(ks, np.linspace(1.0, 2.5, 9))
    again = mt.prepare(tmp_path / "a.db", Line, members=3, refine=2)
    assert len(again) == 9
    monkeypatch.setattr(Warm, "close", lambda self, values: True)
    assert len(mt.prepare(tmp_path / "b.db", Line, members=3, refine=2, solver=SOLVER)) == 3


def test_close_members_are_distinguished_from_distant_ones(prepared, tmp_path):
    """Between members of a dense library ten iterations are enough; from random weights they are not."""
    assert Warm(prepared).close({"k": 1.77})
    rng = np.random.default_rng(0)
    with Library(tmp_path / "bad.db", Line, solver=SOLVER) as library:
        for member in list(prepared)[::4]:
            one = prepared(member.parameters)
            record = replace(one.phases[0], error=1e-5, loss=member.loss)
            library.add(replace(one, theta=rng.normal(size=one.theta.shape), phases=(record,)))
    assert not Warm(library).close({"k": 1.77})


def test_a_pass_begins_where_it_is_asked_to(tmp_path):
    library = mt.prepare(tmp_path / "a.db", Line, members=3, refine=0, begin={"k": 2.4}, solver=SOLVER)
    assert [member.parameters["k"] for member in library] == [2.5, 1.75, 1.0]
    with pytest.raises(ParameterError, match="outside its box"):
        mt.prepare(tmp_path / "b.db", Line, members=3, begin={"k": 9.0}, solver=SOLVER)
    assert not (tmp_path / "b.db").exists()


def test_where_losses_grow_a_cold_member_begins_a_branch(tmp_path, monkeypatch):
    """Every step counts as a loss that has grown; a cold solve is taken only if it is better."""
    monkeypatch.setattr(Pass, "_drifts", lambda self, solution, member: True)
    monkeypatch.setattr(continuation, "BETTER", 0.0)
    kept = mt.prepare(tmp_path / "a.db", Line, members=3, refine=0, solver=SOLVER)
    assert {member.networks.branch for member in kept} == {1}
    monkeypatch.setattr(continuation, "BETTER", np.inf)
    fresh = mt.prepare(tmp_path / "b.db", Line, members=3, refine=0, solver=SOLVER)
    assert [member.networks.branch for member in fresh] == [1, 2, 3]
    assert all(member.networks.start is None for member in fresh)


def test_adaptive_members_have_points_of_their_own_and_say_so(tmp_path):
    library = mt.prepare(tmp_path / "a.db", Line, members=3, refine=0, adaptive=True, solver=SOLVER)
    again = Library(tmp_path / "a.db", Line)
    assert library.adaptive
    assert again.adaptive
    warm = mt.solve(Line, k=1.4, start=again)
    fixed = mt.solve(Line, "u,c", [mt.Phase(mt.GaussNewton(), 20)], k=1.4, start=again, **SOLVER)
    assert warm.error < 1e-3
    assert not np.array_equal(warm.collocation[0], fixed.collocation[0])
