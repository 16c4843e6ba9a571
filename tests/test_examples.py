"""The families in `examples/`, each solved against its exact solution, from their files as a user names them."""

from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import sparse

import metalic as mt
from metalic.conditions import Catalogue, Side, default_conditions
from metalic.families.derivatives import Partial
from metalic.pinn.figures import error_on_plane

EXAMPLES = Path(__file__).parents[1] / "examples"
ACCURATE = 1e-2  # relative L2 that every example reaches with its default set
DIFFERENCES = 5e-4
SCHEDULE = (mt.Phase(mt.GaussNewton(), 40),)
POINTS = mt.Points(collocation=300, boundary=100, interface=50)
CASES = {
    "wave.py:Wave": {"c": 2.0},
    "two_materials.py:TwoMaterials": {"q": 2.0},
    "system.py:Sloshing": {"c": 2.0},
    "heat3d.py:Heat3D": {"k": 0.05},
    "l_shape.py:LShape": {"w": 2.0},
    "own_condition.py:PoissonRobin": {"s": 5.0},
}


@lru_cache
def family(place):
    return mt.find_family(str(EXAMPLES / place))


@lru_cache
def solved(place):
    """The solution with the default set. The catalogue holds that set alone, which compiles three times faster."""
    chosen, own = default_conditions(family(place)), {one.name for one in family(place).own_conditions}
    small = type(family(place))()
    small.conditions = tuple(name for name in chosen.names if name not in own)
    return mt.solve(small, chosen, SCHEDULE, points=POINTS, **CASES[place])


@pytest.mark.parametrize("place", CASES)
def test_example_is_accurate(place):
    assert solved(place).error < ACCURATE


@pytest.mark.parametrize("place", CASES)
def test_exact_solution_satisfies_every_law(place):
    """Residual and boundary conditions vanish on the reference, up to the error of the differences: h^2 / 12 times a
    fourth derivative, which is at most 2 (2 pi)^4 here, so below 3e-4. The terms themselves are of size 1 to 50."""
    model, parameters = family(place), CASES[place]
    if place.startswith("own_condition"):
        pytest.skip("the family is built in; its reference has its own tests")
    exact = model.reference(**parameters)
    rng = np.random.default_rng(0)
    table = model.coefficient_table()
    with jax.enable_x64(True):
        for k, region in enumerate(model.decomposition.subdomains.values()):
            for point in region.sample(5, "random", rng):
                side = Side(model, differences(exact, point), point, table[k], parameters)
                np.testing.assert_allclose(side.residual(), 0, atol=DIFFERENCES)
            for patch in model.decomposition.boundaries[k]:
                point = rng.uniform(patch.low, patch.high)
                normal = {model.coordinates[patch.axis]: patch.sign}
                for condition in model.boundary():
                    if patch.name in condition.names(model.decomposition):
                        side = Side(model, differences(exact, point), point, table[k], parameters)
                        np.testing.assert_allclose(
                            condition.law(side.u, side.p, normal, parameters), 0, atol=DIFFERENCES
                        )


def differences(exact, point, step=1e-3):
    """A look-up of derivatives up to second order, along one coordinate, by central differences."""

    def value(shift):
        return np.atleast_2d(np.asarray(exact((point + shift)[None])).reshape(1, -1))[0]

    def look(channel):
        component, derivative = channel
        return jnp.asarray(sum(along(term.orders)[component] for term in derivative.terms))

    def along(index):
        axis, order = int(np.argmax(index)), sum(index)
        assert order in (0, max(index))
        h = step * np.eye(len(point))[axis]
        return {
            0: lambda: value(0 * h),
            1: lambda: (value(h) - value(-h)) / (2 * step),
            2: lambda: (value(h) - 2 * value(0 * h) + value(-h)) / step**2,
        }[order]()

    return look


def test_the_gradient_jumps_and_the_flux_does_not():
    solution = solved("two_materials.py:TwoMaterials")
    y, h = np.linspace(0.1, 0.9, 17), 1e-4

    def slope(side):
        """u_x on one side of x = 1/2, by a one-sided difference of second order that stays on that side."""
        near, middle, far = (solution(x=0.5 + side * n * h, y=y) for n in (1, 2, 3))
        return side * (-5 * near + 8 * middle - 3 * far) / (2 * h)

    left, right = slope(-1), slope(+1)
    exact_flux = 2.0 * np.pi * np.sin(np.pi * y)
    np.testing.assert_allclose(1.0 * left, exact_flux, rtol=0.05)
    np.testing.assert_allclose(5.0 * right, exact_flux, rtol=0.05)
    np.testing.assert_allclose(left / right, 5.0, rtol=0.05)
    assert np.max(np.abs(1.0 * left - 5.0 * right)) < 0.02 * exact_flux.max()


def five_point_solution(w, n):
    """Points inside the L-shape and u there, by five-point differences of width 1/n; only data of the PDE is used."""
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.arange(2 * n + 1) / n] * 2, indexing="ij"))
    wave = np.sin(w * x) * np.sin(w * y)
    inside = ((x > 0) & (x < 2) & (y > 0) & (y < 1)) | ((x > 0) & (x < 1) & (y > 0) & (y < 2))
    second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(2 * n + 1, 2 * n + 1)) * n**2
    unit = sparse.eye_array(2 * n + 1)
    laplacian = sparse.csr_array(sparse.kron(second, unit) + sparse.kron(unit, second))[inside]
    given = np.where(inside, 0.0, wave)  # boundary values; what lies in the notch is no one's neighbour
    load = -2 * w**2 * wave[inside] - laplacian @ given
    return np.stack([x, y], axis=1)[inside], sparse.linalg.spsolve(laplacian[:, inside].tocsc(), load)


def test_the_l_shape_agrees_with_finite_differences():
    """The differences have an error of (w / n)^2 / 12, 8e-5 here; the network must be within 1e-3 of them."""
    points, values = five_point_solution(2.0, 64)
    found = solved("l_shape.py:LShape")(points)
    assert np.linalg.norm(found - values) < 1e-3 * np.linalg.norm(values)
    assert solved("l_shape.py:LShape").error < 1e-3


def test_errors_and_figures_of_the_l_shape_keep_out_of_the_notch():
    model, solution = family("l_shape.py:LShape"), solved("l_shape.py:LShape")
    for points in (model.error_points(), error_on_plane(solution, 41)[0], *solution.collocation):
        assert np.all((points[:, 0] <= 1) | (points[:, 1] <= 1))
    assert len(model.error_points()) == 7500  # of 100 x 100
    values, error = (axis.collections[0].get_array().reshape(161, 161) for axis in solution.plot().axes[:2])
    assert values.mask[100, 100]
    assert not values.mask[60, 100]
    assert error.max() < 1e-2
    with pytest.raises(mt.MetalicError, match=r"1 point.* outside the domain Union"):
        solution(x=1.5, y=1.5)


def test_a_system_has_a_column_per_component():
    assert solved("system.py:Sloshing")(x=np.linspace(0, 1, 5), t=0.3).shape == (5, 2)


def test_own_condition_follows_those_of_the_catalogue_and_sees_both_sides():
    model = family("own_condition.py:PoissonRobin")
    assert Catalogue(model).names[-1] == "robin"
    condition = model.own_conditions[0]
    values_a = {(0, Partial((0, 0))): 3.0, (0, Partial((1, 0))): 1.0, (0, Partial((0, 1))): 4.0}
    values_b = {(0, Partial((0, 0))): 2.0, (0, Partial((1, 0))): 7.0, (0, Partial((0, 1))): 1.0}
    a, b = (Side(model, values.__getitem__, (0.3, 0.5), (), {"s": 5.0}) for values in (values_a, values_b))
    up = np.array([0.0, 1.0])
    assert condition.law(a, b, up) == pytest.approx(1 + 0.5 * 3)
    assert condition.law(b, a, -up) == pytest.approx(-1 + 0.5 * 3)
