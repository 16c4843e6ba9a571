"""The program of the next phase, compiled beside the training."""

import numpy as np
import pytest
from tiny import Tiny

import metalic as mt
from metalic import runtime
from metalic.pinn.optimizers import advance

ADAM, OTHER = mt.Adam(3e-2), mt.Adam(4e-2)


def solved(conditions="u"):
    return mt.solve(Tiny, conditions, [mt.Phase(ADAM, 3), mt.Phase(OTHER, 2)], hidden=(2,), a=1.3, check=False)


@pytest.mark.parametrize("spare", [True, False])
def test_a_phase_finds_its_program_compiled(spare, monkeypatch):
    monkeypatch.setattr(runtime, "has_spare_core", lambda: spare)
    advance.clear_cache()
    solution = solved()
    assert advance._cache_size() == 2  # one for each optimizer, whoever compiled it
    assert [phase.iterations for phase in solution.phases] == [3, 2]


def test_the_result_is_the_same(monkeypatch):
    found = []
    for spare in (True, False):
        monkeypatch.setattr(runtime, "has_spare_core", lambda spare=spare: spare)
        advance.clear_cache()
        found.append(solved().theta)
    np.testing.assert_array_equal(*found)


def test_the_result_does_not_depend_on_what_else_the_program_contains():
    fixed, any_set = solved("u"), solved(lambda phase, loss: "u")
    assert fixed.problem.system.within == ("u",)
    assert any_set.problem.system.within == ("u", "uavg", "x")
    np.testing.assert_allclose(fixed.theta, any_set.theta, rtol=1e-12, atol=1e-14)
