"""Rewards by name, and against closed forms."""

import math

import pytest
from tiny import Blind, Tiny

from metalic.pinn.optimizers import Status
from metalic.pinn.solution import PhaseRecord
from metalic.study.rewards import Error, ErrorTime, Residual, find_reward


def record(error: float | None, score: float | None = None) -> PhaseRecord:
    return PhaseRecord("adam", (), 0, 1, 30.0, 0.0, 1.0, error, Status.RUNNING, (), score)


def test_formulas() -> None:
    assert Error().of(record(1e-3), 30.0) == pytest.approx(3.0)
    assert ErrorTime(60.0).of(record(1e-3), 30.0) == pytest.approx(2.5)
    assert Residual().of(record(1e-3, 0.01), 30.0) == pytest.approx(2.0)
    for reward, worst in ((Error(), -2.0), (Residual(), -4.0)):
        for value in (None, math.nan, math.inf, 1e9):
            assert reward.of(record(value, value), 0.0) == worst


def test_default() -> None:
    assert find_reward(None, Tiny()).name == "error"
    assert find_reward(None, Blind()).name == "estimate"
    assert str(find_reward("error+time:90", Tiny())) == "error+time:90"
