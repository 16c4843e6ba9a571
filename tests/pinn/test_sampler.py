"""Which points a problem gets, whose they are, what they weigh, and that only the seed decides them."""

import hashlib

import jax
import numpy as np
import pytest
from small import Line, Quad, Ring

from metalic.errors import GeometryError, ScheduleError
from metalic.families import Burgers, KdV, Poisson, find_family
from metalic.geometry import Points
from metalic.geometry.sampling import SAMPLINGS
from metalic.pinn.sampler import Sampler, scale

SMALL = Points(40, 24, 15)
# Checksums of the points that version 0.1 drew, one per sampling: ledgers and solutions of that time are repeated.
FIRST_VERSION = {
    "advection": "8623c050e9fc5f1d 0a630597decf0a76 aba81112d1eecb24 55c204b0b4ba8056 818e4fd2dac9606e",
    "burgers": "c15fa6db9081377d db45f4abb51e1db7 f32233410779acde 8c32893bc1b9ed9c 715e9d4a12cd3864",
    "heat": "a64f537ea505f7f8 c62e62cbb98dba91 d6dd57b260db93a4 9dd6c1c880079ef3 c41dff5f3f001d87",
    "kdv": "92dc4452706a1b9f f8a7df591d4ba2c3 4a5db50c495907ba 750c6079a075a018 b387905b391eb37c",
    "poisson": "b724c944c40fac42 14f78bbfed09cbc2 0695d2318cc03af1 52fa6751dc2896da e241deecc346f9fa",
    "poisson-unit": "b724c944c40fac42 14f78bbfed09cbc2 0695d2318cc03af1 52fa6751dc2896da e241deecc346f9fa",
    "reaction": "8623c050e9fc5f1d 0a630597decf0a76 aba81112d1eecb24 55c204b0b4ba8056 818e4fd2dac9606e",
}


def leaves(draw):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(draw)]


def row(block, k):
    """The points of one row that count, and their weights and normals."""
    mine = block.weight[k] > 0
    return block.x[k].T[mine], block.weight[k][mine], block.normal[k].T[mine]


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("family", [Poisson, Burgers, KdV, Quad, Ring], ids=lambda f: f.__name__)
def test_shapes_are_the_same_for_every_seed_and_draw(family, sampling):
    sampler = Sampler(family(), SMALL, sampling)
    first, again, other, later = (leaves(sampler.draw(*args)) for args in ((3,), (3,), (4,), (3, 1)))
    for a, b, c, d in zip(first, again, other, later, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.shape == c.shape == d.shape
    if sampling != "grid":
        assert any(not np.array_equal(a, c) for a, c in zip(first, other, strict=True))
        assert any(not np.array_equal(a, d) for a, d in zip(first, later, strict=True))


@pytest.mark.parametrize("name", sorted(FIRST_VERSION))
def test_the_numbers_of_the_protocol(name):
    family = find_family(name)
    collocation, boundary, interface = Sampler(family, family.points, "random").draw(0)
    assert collocation.x.shape == (2, 2, 1000)
    assert interface.x.shape == (1, 2, 802 if name == "burgers" else 101)
    if name != "kdv":  # there Dirichlet and periodic conditions share the points
        for k in range(len(boundary[0].a)):
            assert len(row(boundary[0], k)[0]) == 100
    if name == "burgers":
        lines, counts = np.unique(interface.x[0, 0], return_counts=True)
        assert lines.tolist() == [-0.1, 0.1]
        assert counts.tolist() == [401, 401]


@pytest.mark.parametrize("family", [Poisson(), Burgers(), Quad()], ids=lambda f: f.name)
def test_points_lie_where_they_should_and_their_weights_make_means(family):
    geometry = family.decomposition
    collocation, boundary, interface = Sampler(family, SMALL, "sobol").draw(0)
    for k in range(len(geometry)):
        points, weights, _ = row(collocation, k)
        assert geometry.membership(points)[k].all()
        np.testing.assert_allclose(weights, 1 / 40)
    for e, pair in enumerate(geometry.interfaces):
        points, weights, normals = row(interface, e)
        inside = geometry.membership(points)
        assert inside[pair.a].all()
        assert inside[pair.b].all()
        np.testing.assert_allclose(weights.sum(), 1)
        ahead = geometry.membership(points + 1e-3 * normals)  # the normal points out of a, into b
        assert ahead[pair.b].all()
        assert not ahead[pair.a].any()
    for block in boundary:
        for i, k in enumerate(block.a):
            points, _, normals = row(block, i)
            assert geometry.membership(points)[k].all()
            assert not geometry.membership(points + 1e-3 * normals).any()  # outwards
            assert geometry.membership(points - 1e-3 * normals)[k].all()


def test_conditions_on_one_face_share_its_points_and_a_mean_runs_over_all_boundary_points():
    family = Quad()  # three conditions on t = 0, (t = 0, x = 1) and x = 0
    _, boundary, _ = Sampler(family, SMALL, "random").draw(0)
    value, slope, side = boundary
    assert value.a == (0, 2)  # subdomains at t = 0
    assert slope.a == (0, 2, 3)
    assert side.a == (0, 1)
    initial = row(value, 0)[0]
    np.testing.assert_array_equal(row(slope, 0)[0], initial)
    # Subdomain 1 has a piece 0.4 wide of t = 0 and one 0.5 wide of x = 0, in units of the domain: 24 points in all.
    assert len(initial) == round(24 * 0.4 / 0.9)
    assert len(row(side, 0)[0]) == 24 - len(initial)
    np.testing.assert_allclose(row(value, 0)[1], 1 / 24)


def test_periodic_points_pair_opposite_faces():
    _, (block,), _ = Sampler(Ring(), SMALL, "random").draw(0)
    assert (block.a, block.b) == ((0,), (2,))
    assert set(block.x.ravel()) == {0.0}
    assert set(block.y.ravel()) == {3.0}
    _, (_, block), _ = Sampler(KdV(), SMALL, "random").draw(0)
    assert (block.a, block.b) == ((0, 1), (0, 1))
    np.testing.assert_array_equal(block.x[:, 0], 0)
    np.testing.assert_array_equal(block.y[:, 0], 20)
    np.testing.assert_array_equal(block.x[:, 1], block.y[:, 1])
    assert block.x[0, 1].max() <= 10 <= block.x[1, 1].min()


def test_an_undivided_family_has_no_interface():
    collocation, _, interface = Sampler(Poisson().undivided(), SMALL, "random").draw(0)
    assert interface is None
    assert collocation.x.shape == (1, 2, 40)


def test_unequal_rows_are_padded_with_weight_zero():
    """Burgers' inner strip has data at t = 0 only, the outer one on x = -1 and x = 1 too; a grid rounds each part."""
    _, (block,), _ = Sampler(Burgers(), Points(40, 25, 15), "grid").draw(0)
    counts = (block.weight > 0).sum(axis=1)
    for k in range(2):
        points, weights, _ = row(block, k)
        np.testing.assert_allclose(weights, 1 / counts[k])
        assert np.all((points[:, 1] == 0) | (np.abs(points[:, 0]) == 1))


def test_scaling():
    low, high = Burgers.decomposition.bounding_boxes()
    centre, slope = scale(Burgers(), "subdomain")
    np.testing.assert_allclose((low - centre) * slope, -1)
    np.testing.assert_allclose((high - centre) * slope, 1)
    centre, slope = scale(Burgers(), "domain")
    np.testing.assert_allclose((Burgers.domain.low - centre) * slope, -1)
    np.testing.assert_allclose((Burgers.domain.high - centre) * slope, 1)
    centre, slope = scale(Line(), "none")
    assert (centre.tolist(), slope.tolist()) == ([[0.0], [0.0]], [[1.0], [1.0]])
    with pytest.raises(ScheduleError, match="no scaling 'unit': allowed are subdomain, domain, none"):
        scale(Line(), "unit")


def test_an_unknown_sampling_is_reported():
    with pytest.raises(GeometryError, match="no sampling 'halton': allowed are random"):
        Sampler(Poisson(), SMALL, "halton").draw(0)


@pytest.mark.parametrize("name", sorted(FIRST_VERSION))
def test_a_seed_draws_the_points_of_the_first_version(name):
    found = []
    for sampling in SAMPLINGS:
        digest, sampler = hashlib.sha256(), Sampler(find_family(name), Points(40, 25, 15), sampling)
        for seed, number in ((0, 0), (3, 1001)):
            draw = sampler.draw(seed, number)
            for samples in (draw.collocation, *draw.boundary, draw.interface):
                for array in (samples.x, samples.y, samples.normal, samples.weight):
                    digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
                digest.update(repr((samples.a, samples.b)).encode())
        found.append(digest.hexdigest()[:16])
    assert found == FIRST_VERSION[name].split()


def test_samples_live_on_the_host_and_blocks_on_the_device():
    draw = Sampler(Poisson(), SMALL, "random").draw(0)
    assert {type(leaf) for leaf in draw.collocation[:4]} == {np.ndarray}
    collocation, boundary, interface = draw.blocks(np.float32)
    for block, samples in ((collocation, draw.collocation), (boundary[0], draw.boundary[0])):
        assert isinstance(block.x, jax.Array)
        assert block.x.dtype == np.float32
        np.testing.assert_array_equal(block.x, samples.x.astype(np.float32))
    assert (interface.a, interface.b) == (draw.interface.a, draw.interface.b)
