"""A solution box by box."""

import jax
from small import Line, Quad, untrained

import metalic as mt
from metalic.pinn.defect import Defect, boxed, highest_degree
from metalic.pinn.polynomials import count


def test_boxes_know_whose_they_are():
    family, owners = boxed(mt.find_family("burgers"))
    assert owners == [0, 1, 1]
    assert len(family.decomposition.interfaces) == 2
    family, _ = boxed(mt.find_family(Quad))
    assert family.coefficients["k"] == {"1/0": 1.0, "2/0": 2.0, "3/0": 0.5, "4/0": 3.0}


def test_the_work_is_bounded():
    for name in ("poisson", "burgers", Quad, Line):
        family, _ = boxed(mt.find_family(name))
        degree = highest_degree(family)
        unknowns = len(family.decomposition) * len(family.components) * count(degree, len(family.coordinates))
        assert 1 <= degree <= 40
        assert unknowns <= 3600


def test_points_are_fresh_and_more_than_the_unknowns():
    with jax.enable_x64(True):
        defect = Defect(untrained("poisson"))
    assert defect.problem.collocation.x.shape[-1] >= 2 * count(defect.degree, 2)
    assert defect.problem.system.catalogue.names == ("u", "c")
