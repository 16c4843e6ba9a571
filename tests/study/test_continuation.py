"""Passes by continuation: one branch over the box, completed where they were stopped; one failure does not end them."""

import itertools

import numpy as np
from small import SOLVER, Line

import metalic as mt
from metalic.errors import LibraryError
from metalic.study.continuation import Pass


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
    library = mt.prepare(path, Line, members=9)
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
