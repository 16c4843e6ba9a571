"""A solution as a JAX function, a dataset and a mesh: each says what the solution says."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import Line, Quad, Room, untrained

import metalic as mt
from metalic.errors import FileError, GeometryError
from metalic.families import Burgers

X = np.array([0.0, 0.21, 0.5, 0.83, 1.0])


class Corner(mt.Family):
    domain = mt.Union(mt.Box(x=(0, 2), y=(0, 1)), mt.Box(x=(0, 1), y=(1, 2)))
    decomposition = mt.split(domain, y=[0.5])
    grid = (5, 5)

    def residual(self, u, p):
        return u.laplacian("x", "y")

    def boundary(self):
        return [mt.Dirichlet("x=0", 0.0)]


# --- JAX -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("double")
def test_a_function_for_jax():
    solution = untrained(Line)
    u = solution.as_function()
    np.testing.assert_allclose(u(X), solution(x=X), rtol=1e-12)
    np.testing.assert_allclose(jax.jit(jax.vmap(u))(X), solution(x=X), rtol=1e-12)
    for x in (0.21, 0.5):
        assert jax.grad(u)(x) == pytest.approx(solution.d("x")(x=x), rel=1e-11)
        assert jax.hessian(u)(x) == pytest.approx(solution.d("xx")(x=x), rel=1e-11)
    assert np.isnan(u(1.5))


@pytest.mark.usefixtures("double")
def test_components_and_names():
    solution = untrained(Quad)
    u = solution.as_function()
    np.testing.assert_allclose(u(0.4, t=X), solution(x=0.4, t=X), rtol=1e-12)
    slope = jax.jacfwd(u, argnums=1)(0.3, 0.7)
    np.testing.assert_allclose(slope, solution.d("t")(x=0.3, t=0.7), rtol=1e-11)
    with pytest.raises(GeometryError, match="coordinates x, t are needed, not x"):
        u(0.3)


@pytest.mark.usefixtures("double")
def test_through_a_solution_one_can_optimise():
    """The gradient of a functional of the solution, against a difference."""
    u = untrained(Burgers).as_function()
    loss = jax.jit(jax.grad(lambda shift: jnp.sum((u(jnp.linspace(-0.9, 0.9, 7) * shift, 0.4) - 0.1) ** 2)))
    h = 1e-6
    plain = lambda shift: jnp.sum((u(jnp.linspace(-0.9, 0.9, 7) * shift, 0.4) - 0.1) ** 2)  # noqa: E731
    truth = float(plain(0.8 + h) - plain(0.8 - h)) / (2 * h)
    assert float(loss(0.8)) == pytest.approx(truth, rel=1e-6)


def test_in_single_precision_it_is_a_rounding_away():
    solution = untrained(Line)
    with jax.enable_x64(False):
        found = solution.as_function()(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, solution(x=X), atol=1e-5)


# --- xarray ----------------------------------------------------------------------------------------------------------


def test_a_dataset(tmp_path):
    xarray = pytest.importorskip("xarray")
    solution = untrained(Quad, {"c": 1.5})
    found = solution.to_xarray(x=X, t=[0.0, 1.0])
    assert list(found.data_vars) == ["a", "b"]
    np.testing.assert_array_equal(found.b.sel(x=0.5, t=1.0), solution(x=0.5, t=1.0)[1])
    assert (found.attrs["family"], found.attrs["parameter_c"], found.attrs["relative_error"]) == ("quad", 1.5, 0.5)
    found.to_netcdf(tmp_path / "a.nc")
    np.testing.assert_array_equal(xarray.open_dataset(tmp_path / "a.nc").a, found.a)


def test_the_usual_grid_and_holes():
    found = untrained(Corner).to_xarray()
    assert found.u.shape == (5, 5)
    assert np.isnan(found.u.sel(x=1.5, y=1.5))
    assert int(np.isnan(found.u).sum()) == 4
    line = untrained(Line)
    assert line.to_xarray().u.shape == (41,)
    assert line.to_xarray(x=3.0).u.isnull().all()


@pytest.mark.parametrize(("axes", "message"), [({"z": [0]}, "no coordinate 'z'"), ({"x": ["a"]}, "list of numbers")])
def test_axes_that_make_no_sense(axes, message):
    with pytest.raises(GeometryError, match=message):
        untrained(Line).to_xarray(**axes)


# --- Meshes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "kind", "boxes"), [(Line, "line", 2), (Quad, "quad", 4), (Corner, "quad", 3)])
def test_a_mesh_covers_the_domain_with_the_values_of_each_side(family, kind, boxes, tmp_path):
    meshio = pytest.importorskip("meshio")
    solution, d = untrained(family), len(mt.find_family(family).coordinates)
    path = solution.to_vtk(tmp_path / "a.vtu", cells=3)
    found = meshio.read(path)
    (cells,) = found.cells
    assert (cells.type, len(cells.data)) == (kind, boxes * 3**d)
    ends = found.points[cells.data][..., :d]
    sizes = np.prod(ends.max(axis=1) - ends.min(axis=1), axis=1)
    assert sizes.sum() == pytest.approx(solution.family.domain.measure)
    owners, names = found.cell_data["subdomain"][0], solution.family.decomposition.names
    for i, component in enumerate(solution.family.components):
        for corners, owner in zip(cells.data, owners):
            values = solution.side(names[owner])(found.points[corners, :d]).reshape(len(corners), -1)
            np.testing.assert_allclose(found.point_data[component][corners], values[:, i], rtol=1e-9)


def test_a_mesh_of_three_coordinates(tmp_path):
    meshio = pytest.importorskip("meshio")
    found = meshio.read(untrained(Room).to_vtk(tmp_path / "a.vtk", cells=2))
    assert (found.cells[0].type, len(found.cells[0].data)) == ("hexahedron", 4 * 2**3)


def test_what_cannot_be_written_is_refused(tmp_path):
    pytest.importorskip("meshio")
    with pytest.raises(FileError, match=r"ends in .vtu or .vtk"):
        untrained(Line).to_vtk(tmp_path / "a.stl")
    with pytest.raises(GeometryError, match="number of cells"):
        untrained(Line).to_vtk(tmp_path / "a.vtu", cells=0)
    with pytest.raises(FileError, match="cannot write"):
        untrained(Line).to_vtk(tmp_path / "no" / "a.vtu")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["xarray", "meshio"])
def test_without_the_extra_the_message_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(FileError, match=rf"{name} is not installed.*metalic\[grids\]"):
        untrained(Line).to_xarray() if name == "xarray" else untrained(Line).to_vtk("a.vtu")
