"""Derivatives: orders, scales, what they need, and their rules against sympy."""

import itertools

import pytest
import sympy as sp

from metalic.families.derivatives import Laplacian, Partial, closure

X = sp.symbols("x y t")
Z = sp.Rational(1, 3) + X[0] * X[1] - 2 * X[1] ** 2 * X[2] + X[0] ** 2 / 5 + X[2]
AT = {X[0]: sp.Rational(1, 2), X[1]: sp.Rational(1, 3), X[2]: sp.Rational(1, 5)}
ALL = [Partial(orders) for orders in itertools.product(range(4), repeat=3) if 0 < sum(orders) <= 3]
SUMS = [Laplacian((2, 2, 0)), Laplacian((2, 2, 2)), Laplacian((0, 2, 2))]


def coefficient(derivative, expression, at=AT):
    found = sum(sp.diff(expression, *zip(X, term.orders, strict=True)) for term in derivative.terms)
    return float(found.subs(at)) / derivative.scale


@pytest.mark.parametrize("derivative", [*ALL, *SUMS], ids=str)
def test_the_chain_rule(derivative):
    """y = exp(z): slope and bend are y again."""
    needed = closure([derivative])
    z = {one: coefficient(one, Z) for one in needed}
    found = derivative.chain(z, lambda b: coefficient(b, sp.exp(Z)), coefficient(needed[0], sp.exp(Z)))
    assert found == pytest.approx(coefficient(derivative, sp.exp(Z)), rel=1e-12)


@pytest.mark.parametrize("derivative", [*ALL, *SUMS], ids=str)
def test_the_symbol_is_the_coefficient_of_an_exponential(derivative):
    c = (0.5, -1.5, 2.0)
    slopes = {derivative.first(axis): value for axis, value in enumerate(c)}
    wave = sp.exp(sum(value * x for value, x in zip(c, X, strict=True)))
    truth = coefficient(derivative, wave, dict.fromkeys(X, 0))
    assert derivative.symbol(slopes) == pytest.approx(truth, rel=1e-12)


def test_a_laplacian_is_no_partial_derivative():
    assert Laplacian((2, 2)) != Partial((2, 2))
    assert Laplacian((2, 2)) == Laplacian((2, 2))
    assert len({Laplacian((2, 2)), Partial((2, 2)), Laplacian((2, 2))}) == 2
    assert Laplacian((2, 2)).order == 2
    assert Partial((2, 2)).order == 4


def test_a_laplacian_is_the_sum_of_its_terms_and_needs_first_derivatives():
    assert Laplacian((2, 0, 2)).terms == (Partial((2, 0, 0)), Partial((0, 0, 2)))
    assert closure([Laplacian((2, 2))]) == (
        Partial((0, 0)),
        Partial((0, 1)),
        Partial((1, 0)),
        Laplacian((2, 2)),
    )


def test_the_closure_is_downward_with_the_value_first_and_sums_last():
    assert [b.orders for b in Partial((1, 2)).below()] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    found = closure([Laplacian((2, 2)), Partial((3, 0)), Partial((0, 1))])
    assert [b.orders for b in found] == [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0), (2, 2)]
    assert found[-1] == Laplacian((2, 2))


def test_raised():
    assert Partial((1, 0)).raised(1) == Partial((1, 1))
    assert Partial((1, 2)) - Partial((0, 2)) == Partial((1, 0))
