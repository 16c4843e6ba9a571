"""A member: when a solve may start from it, and how a solution becomes one."""

from dataclasses import replace

import numpy as np
import pytest
from untrained import solution

from metalic.pinn.optimizers import Status
from metalic.study.members import Member, row_of
from metalic.study.networks import Networks


def member(**options):
    one = solution(a=1.25, **options)
    return Member(row_of(one, 3), Networks.of(one))


def test_a_row_has_what_the_solution_has():
    row = member().row
    assert (row.number, row.parameters, row.seed, row.error) == (3, {"a": 1.25}, 7, 1e-4)
    assert row.phases[-1].reward == pytest.approx(4.0)
    assert row.phases[-1].conditions == ("u", "x")


def test_good_members_are_usable():
    assert member().usable
    assert member(error=None).usable
    assert not member(error=0.02).usable
    assert not member(theta=np.full(17, np.nan)).usable
    assert not member(status=Status.DIVERGED, error=100.0).usable


def test_an_estimate_stands_for_an_error_that_is_unknown():
    one = member(error=None)
    assert one.measure is None
    judged = replace(one, row=replace(one.row, estimate=0.3))
    assert judged.measure == 0.3
    assert not judged.usable
    assert not replace(one, row=replace(one.row, verdict="wrong")).usable
