"""A phase, chunk by chunk: its budget, its reports and its history."""

import pytest
from small import ADAM, NEWTON, line

from metalic.pinn import Phase


def test_budgets_and_reports():
    seen = []
    solution = line(schedule=[Phase(ADAM, 260), Phase(NEWTON, 23)], progress=seen.append)
    assert [phase.iterations for phase in solution.phases] == [260, 23]
    assert [phase.stop_reason for phase in solution.phases] == ["budget used up"] * 2
    assert [(r.phase, r.iteration) for r in seen] == [(0, 0), (0, 250), (0, 260), (1, 0), (1, 10), (1, 20), (1, 23)]
    assert [r.iteration for r in seen if r.loss is None] == [0, 0]
    assert {(r.phases, r.optimizer, r.iterations) for r in seen} == {(2, "adam", 260), (2, "gauss-newton", 23)}
    assert [h[0] for phase in solution.phases for h in phase.history] == [250, 260, 10, 20, 23]
    assert seen[-1].loss == solution.loss == solution.phases[-1].history[-1][2]
    assert seen[-1].error == solution.error == solution.phases[-1].history[-1][3]


def test_the_loss_reported_is_that_of_the_networks(first):
    terms = first.terms()
    total = terms["residual"] + 20 * terms["boundary"] + 5 * (terms["u"] + terms["c"])
    assert first.loss == pytest.approx(total, rel=1e-9)
