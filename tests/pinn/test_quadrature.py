"""Gauss's rule is exact for polynomials: measures, moments, normals; places that do not exist are refused."""

import numpy as np
import pytest
from small import Line, Quad, Room

import metalic as mt
from metalic.errors import GeometryError
from metalic.families import Burgers
from metalic.pinn.quadrature import quadrature


class Corner(mt.Family):
    """An L-shape, whose face x = 1 has two pieces: one of the outer boundary is at x = 2."""

    domain = mt.Union(mt.Box(x=(0, 2), y=(0, 1)), mt.Box(x=(0, 1), y=(1, 2)))
    decomposition = mt.split(domain, x=[1])

    def residual(self, u, p):
        return u.laplacian("x", "y")

    def boundary(self):
        return [mt.Dirichlet("x=0", 0.0)]


@pytest.mark.parametrize(
    ("family", "over", "measure"),
    [
        (Line, None, 1.0),
        (Line, "1", 0.5),
        (Line, "x=1", 1.0),
        (Line, "1|2", 1.0),
        (Quad, None, 2.0),
        (Quad, "3", 0.6),
        (Quad, "x=0", 2.0),
        (Quad, "t=max", 1.0),
        (Quad, "1|3", 1.0),
        (Room, None, 6.0),
        (Room, "t=0", 2.0),
        (Corner, None, 3.0),
        (Corner, "x=1", 1.0),
        (Corner, "y=0", 2.0),
        (Corner, "1|2", 1.0),
    ],
)
def test_weights_sum_to_the_measure(family, over, measure):
    rule = quadrature(mt.find_family(family), over)
    assert rule.weights.sum() == pytest.approx(measure, rel=1e-12)
    assert rule.points.shape == (len(rule.weights), len(mt.find_family(family).coordinates))


def test_polynomials_are_integrated_exactly():
    rule = quadrature(Quad(), nodes=4)
    x, t = rule.points.T
    assert rule.weights @ (x**7 * t**6) == pytest.approx((1 / 8) * (2**7 / 7), rel=1e-13)


@pytest.mark.parametrize(
    ("family", "over", "normal"),
    [
        (Quad, "x=0", (-1, 0)),
        (Quad, "t=2", (0, 1)),
        (Quad, "1|3", (1, 0)),
        (Quad, "3|1", (-1, 0)),
        (Quad, "3 | 4", (0, 1)),
        (Corner, "y=1", (0, 1)),
    ],
)
def test_normals_point_outwards_or_across(family, over, normal):
    normals = quadrature(mt.find_family(family), over).normals
    assert normals is not None
    assert (normals == np.array(normal)).all()


def test_inside_there_are_no_normals():
    assert quadrature(Burgers()).normals is None


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("5", r"no subdomain or interface '5' \(1, 2, 3, 4\), and no face '5'"),
        ("x=0.5", "with faces at 0, 1"),
        ("1|4", r"no interface '1\|4': those of 'quad' are 1\|2, 1\|3, 2\|4, 3\|4"),
        (3, "a subdomain, a face 'x=0' or an interface"),
    ],
)
def test_places_that_do_not_exist(over, message):
    with pytest.raises(GeometryError, match=message):
        quadrature(Quad(), over)


@pytest.mark.parametrize("nodes", [0, 2.5, "many"])
def test_the_number_of_nodes(nodes):
    with pytest.raises(GeometryError, match="number of nodes"):
        quadrature(Quad(), nodes=nodes)
