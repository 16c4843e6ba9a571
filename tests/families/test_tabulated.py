"""References from other solvers, as arrays and files."""

import numpy as np
import pytest

import metalic as mt
from metalic.errors import FileError, GeometryError

X, T = np.linspace(0, 2 * np.pi, 121), np.linspace(0, 1, 31)
NEAR = 1e-5  # h^4 = 7.5e-6, with h the distance of two points in x
WAVE = np.sin(X[:, None] - 2 * T)


def exact(points):
    return np.sin(points[:, 0] - 2 * points[:, 1])


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, t=T, u=WAVE)
    rows = [(x, t, np.sin(x - 2 * t)) for t in T for x in X]  # another order than the axes'
    np.savetxt(tmp_path / "a.csv", np.array(rows)[:, [1, 0, 2]], delimiter=",", header="t,x,u", comments="")
    return tmp_path


def test_interpolation_is_accurate():
    points = np.random.default_rng(0).random((50, 2)) * [2 * np.pi, 1]
    np.testing.assert_allclose(mt.Reference.from_grid(WAVE, x=X, t=T)(points), exact(points), atol=NEAR)


@pytest.mark.parametrize("name", ["a.npz", "a.csv"])
def test_files(files, name):
    family = mt.find_family("advection")
    found = mt.Reference.from_file(files / name).on(family)
    np.testing.assert_allclose(found[:, 0], exact(family.error_points()), atol=NEAR)


def test_netcdf(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    xarray.Dataset({"u": (("x", "t"), WAVE)}, {"x": X, "t": T}).to_netcdf(tmp_path / "a.nc")
    np.testing.assert_allclose(mt.Reference.from_file(tmp_path / "a.nc").values, WAVE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.Reference.from_grid(WAVE.T, x=X, t=T), "shape"),
        (lambda: mt.Reference.from_grid(WAVE, x=X[::-1], t=T), "axis x .* increasing"),
        (lambda: mt.Reference.from_grid(WAVE * np.nan, x=X, t=T), "finite"),
        (lambda: mt.Reference.from_grid(["a"], x=X), "numbers"),
        (lambda: mt.Reference.from_grid(WAVE, x=X, y=T).on(mt.find_family("advection")), "axes x, y"),
        (lambda: mt.Reference.from_grid(WAVE, x=X, t=T / 2).on(mt.find_family("advection")), "does not cover"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(GeometryError, match=message):
        make()


def test_files_that_are_none(tmp_path):
    (tmp_path / "a.npz").write_text("no")
    (tmp_path / "a.csv").write_text("x,t,u\n0,0,1\n1,0,1\n0,1,1\n")
    for name, message in (
        ("a.npz", "cannot be read"),
        ("a.csv", "are not a grid"),
        ("a.txt", ".npz"),
        ("b.npz", "read"),
    ):
        with pytest.raises(FileError, match=message):
            mt.Reference.from_file(tmp_path / name)
