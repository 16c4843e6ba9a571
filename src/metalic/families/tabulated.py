"""A reference solution that was computed elsewhere: values on a regular grid, from arrays or from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.interpolate import RegularGridInterpolator

from ..errors import FileError, GeometryError
from .base import Family

CUBIC_FROM = 4  # points along every axis


class Reference:
    """Values on a regular grid, interpolated between its points (cubic splines; linear on very coarse grids).

    Make one with `Reference.from_grid` or `Reference.from_file`, and pass it as `metalic.solve(..., reference=...)`.

    Args:
        axes: The increasing grid points along each coordinate.
        values: The solution, an axis for each coordinate in the order of `axes`, and one more for components.

    Raises:
        GeometryError: Shapes do not fit, an axis does not increase, or a value is not finite.

    Example:
        >>> reference = Reference({"x": [0.0, 0.5, 1.0]}, [0.0, 1.0, 4.0])
        >>> reference(np.array([[0.25]]))
        array([0.5])
    """

    def __init__(self, axes: Mapping[str, Any], values: Any):
        try:
            self.axes = {name: np.asarray(points, dtype=float) for name, points in axes.items()}
            self.values = np.asarray(values, dtype=float)
        except (TypeError, ValueError) as error:
            raise GeometryError(f"a reference is made of numbers: {error}") from None
        wanted = tuple(len(np.atleast_1d(points)) for points in self.axes.values())
        if not wanted or self.values.shape[: len(wanted)] != wanted or self.values.ndim > len(wanted) + 1:
            raise GeometryError(
                f"a reference on axes {', '.join(self.axes)} has values of shape {wanted}, with a last axis more for "
                f"several components, not {self.values.shape}"
            )
        for name, points in self.axes.items():
            if points.ndim != 1 or len(points) < 2 or not np.all(np.diff(points) > 0):
                raise GeometryError(f"axis {name} of a reference is a list of at least two increasing numbers")
        if not np.isfinite(self.values).all():
            raise GeometryError("the values of a reference must be finite everywhere")

    @classmethod
    def from_grid(cls, values: Any, **axes: Any) -> Reference:
        """A reference from arrays.

        Args:
            values: The solution, an axis for each coordinate in the order of `axes`, and one more for components.
            **axes: The increasing grid points along each coordinate.

        Returns:
            The reference.

        Raises:
            GeometryError: Shapes do not fit, or an axis does not increase.

        Example:
            >>> x, t = np.linspace(0, 1, 11), np.linspace(0, 2, 21)
            >>> reference = Reference.from_grid(x[:, None] * t, x=x, t=t)
            >>> round(float(reference(np.array([[0.25, 1.5]]))[0]), 6)
            0.375
        """
        return cls(axes, values)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], value: str = "u") -> Reference:
        """A reference from a file.

        Args:
            path: `.npz` with an array for each axis and one for the values; `.csv` with a header and a row for each
                grid point, in any order; `.nc` with one variable on its coordinates (needs xarray).
            value: What the values are called in it.

        Returns:
            The reference.

        Raises:
            FileError: The file cannot be read, or lacks the values.
            GeometryError: It is not a regular grid.
        """
        kinds = {".npz": _from_npz, ".csv": _from_csv, ".nc": _from_netcdf}
        place = Path(path)
        if place.suffix not in kinds:
            raise FileError(f"'{path}': a reference is read from {', '.join(kinds)}")
        try:
            return cls(*kinds[place.suffix](place, value))
        except (OSError, KeyError, ValueError, ImportError) as error:
            raise FileError(f"'{path}' cannot be read as a reference: {error}") from error

    def __call__(
        self, points: Float[np.ndarray, "n d"], names: tuple[str, ...] | None = None
    ) -> Float[np.ndarray, "..."]:
        """The values at points, whose columns are `names` (the axes of the grid by default)."""
        order = names or tuple(self.axes)
        columns = [order.index(name) for name in self.axes]
        # SciPy solves for the splines iteratively, by default to five digits only.
        options: dict[str, Any] = {"method": "cubic", "solver_args": {"rtol": 1e-13, "atol": 0.0}}
        if min(map(len, self.axes.values())) < CUBIC_FROM:
            options = {"method": "linear"}
        try:
            found = RegularGridInterpolator(tuple(self.axes.values()), self.values, **options)
            return found(np.asarray(points)[:, columns])
        except ValueError as error:
            raise GeometryError(f"the grid of the reference does not cover the domain: {error}") from None

    def on(self, family: Family) -> Float[np.ndarray, "n m"]:
        """The values on the grid on which the errors of a family are measured."""
        if set(self.axes) != set(family.coordinates):
            raise GeometryError(
                f"the reference has axes {', '.join(self.axes)}, the family '{family.name}' coordinates "
                f"{', '.join(family.coordinates)}"
            )
        grid, count = family.error_points(), len(family.components)
        values = self(grid, family.coordinates)
        if values.size != len(grid) * count:
            raise GeometryError(f"the reference needs {count} component(s) for the family '{family.name}'")
        return values.reshape(len(grid), count)


def _from_npz(path: Path, value: str) -> tuple[Mapping[str, Any], Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name != value}, file[value]


def _from_csv(path: Path, value: str) -> tuple[Mapping[str, Any], Any]:
    table = np.genfromtxt(path, delimiter=",", names=True)
    names = [name for name in table.dtype.names or () if name != value]
    axes = {name: np.unique(table[name]) for name in names}
    shape = tuple(map(len, axes.values()))
    if np.prod(shape) != len(table):
        raise ValueError(f"its {len(table)} rows are not a grid of {' x '.join(map(str, shape))} points")
    order = np.lexsort([table[name] for name in reversed(names)])
    return axes, table[value][order].reshape(shape)


def _from_netcdf(path: Path, value: str) -> tuple[Mapping[str, Any], Any]:
    import xarray

    with xarray.open_dataset(path) as file:
        found = file[value]
        return {str(name): found[name].values for name in found.dims}, found.values
