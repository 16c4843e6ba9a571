"""A solution in the forms that other tools work with: a JAX function, an xarray dataset, a mesh file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..atomic import a_path, write_whole
from ..errors import FileError, GeometryError
from ..geometry.boxes import Rectilinear
from ..validation import integer
from .solution import Solution

CELL = {1: "line", 2: "quad", 3: "hexahedron"}
MESHES = (".vtu", ".vtk")
# The corners of a cell of meshio, as steps along the coordinates.
CORNERS: dict[int, list[tuple[int, ...]]] = {
    1: [(0,), (1,)],
    2: [(0, 0), (1, 0), (1, 1), (0, 1)],
    3: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}


def as_function(solution: Solution) -> Callable[..., jax.Array]:
    """The solution as a pure function of its coordinates, in their order or by name.

    It takes numbers or arrays that broadcast, gives NaN outside the domain, and can be differentiated forwards and
    backwards, compiled and batched. It computes in the precision that JAX is set to.

    Example:
            u = solution.as_function()
            jax.grad(u, argnums=0)(0.3, 0.8)
    """
    names, network = solution.family.coordinates, solution.network
    theta, centre, slope = solution.theta, solution.centre, solution.slope
    regions = list(solution.family.decomposition.subdomains.values())
    slack, several = solution.family.domain.slack, network.outputs > 1

    def u(*coordinates: Any, **by_name: Any) -> jax.Array:
        given = dict(zip(names, coordinates)) | by_name
        if len(coordinates) + len(by_name) != len(names) or set(given) != set(names):
            raise GeometryError(f"coordinates {', '.join(names)} are needed, not {', '.join(given) or 'none'}")
        grids = jnp.broadcast_arrays(*(jnp.asarray(given[name], float) for name in names))
        points = jnp.stack([grid.ravel() for grid in grids])
        inside = jnp.stack([_contains(region, points, slack) for region in regions])
        scaled = (points - centre[..., None]) * slope[..., None]
        values = jax.vmap(network.outputs_at)(jnp.asarray(theta, float), scaled)
        total = jnp.sum(jnp.where(inside[:, None], values, 0.0), axis=0)
        count = jnp.sum(inside, axis=0)
        found = jnp.where(count > 0, total / jnp.maximum(count, 1), jnp.nan).reshape(-1, *grids[0].shape)
        return jnp.moveaxis(found, 0, -1) if several else found[0]

    return u


def _contains(region: Any, points: Float[jax.Array, "d N"], slack: Float[np.ndarray, "d"]) -> jax.Array:
    """Which points a closed region holds, in JAX."""
    found = jnp.zeros(points.shape[1], bool)
    for box in _boxes(region):
        low, high = (box.low - slack)[:, None], (box.high + slack)[:, None]
        found = found | jnp.all((points >= low) & (points <= high), axis=0)
    return found


def _boxes(region: Any) -> tuple[Any, ...]:
    if not isinstance(region, Rectilinear):
        raise GeometryError(f"only regions that are made of boxes can be exported, not {region!r}")
    return region.boxes


def to_xarray(solution: Solution, **axes: Any) -> Any:
    """The solution on a grid as an `xarray.Dataset`: a variable for each component, NaN outside the domain.

    Args:
        solution: The solution.
        **axes: The values along each coordinate; those that are left out are those of the error's grid.

    Raises:
        FileError: xarray is not installed.
        GeometryError: There is no such coordinate, or its values are not a list of numbers.
    """
    xarray, family = _module("xarray"), solution.family
    usual = {name: np.unique(column) for name, column in zip(family.coordinates, family.error_points().T)}
    grid = {name: _axis(name, axes.pop(name, values)) for name, values in usual.items()}
    if axes:
        raise GeometryError(f"no coordinate '{next(iter(axes))}': allowed are {', '.join(family.coordinates)}")
    shape = tuple(len(values) for values in grid.values())
    points = np.stack(np.meshgrid(*grid.values(), indexing="ij"), axis=-1).reshape(-1, len(shape))
    inside = family.domain.contains(points)
    found = np.full((len(points), len(family.components)), np.nan)
    found[inside] = solution.values(points[inside])
    variables = {name: (tuple(grid), column.reshape(shape)) for name, column in zip(family.components, found.T)}
    return xarray.Dataset(variables, grid, _attributes(solution))


def _axis(name: str, values: Any) -> Float[np.ndarray, "n"]:
    try:
        found = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError, OverflowError):
        found = np.zeros((0, 0))
    if found.ndim != 1 or not np.isfinite(found).all():
        raise GeometryError(f"the values along {name} are a list of numbers, not {values!r}")
    return found


def _attributes(solution: Solution) -> dict[str, Any]:
    """What describes the solution; netCDF keeps numbers and texts."""
    about: dict[str, Any] = {"family": solution.family.name}
    about |= {f"parameter_{name}": float(value) for name, value in solution.parameters.items()}
    about |= {"conditions": ",".join(solution.conditions[-1]), "schedule": solution.schedule, "seed": solution.seed}
    if solution.error is not None:
        about["relative_error"] = solution.error
    if solution.checked is not None:
        about |= {"estimated_relative_error": solution.checked.estimate, "verdict": solution.checked.verdict}
    return about


def to_vtk(solution: Solution, path: str | os.PathLike[str], cells: int = 50) -> Path:
    """Write the solution to a mesh file; points on interfaces are there once for each side.

    Args:
        solution: The solution, in at most three coordinates.
        path: A file that ends in .vtu or .vtk.
        cells: The number of cells along each coordinate of a box.

    Returns:
        The path.

    Raises:
        FileError: meshio is not installed, or the file has another ending.
        GeometryError: There are four coordinates, or `cells` is not a number of cells.
    """
    meshio, target, d = _module("meshio"), a_path(path), len(solution.family.coordinates)
    if target.suffix not in MESHES:
        raise FileError(f"'{path}': a mesh file ends in {' or '.join(MESHES)}")
    if d > 3:
        raise GeometryError(f"a mesh has at most 3 coordinates, not {d}: export a slice with to_xarray")
    if integer(cells, least=1) is None:
        raise GeometryError(f"the number of cells is an integer of at least 1, not {cells!r}")
    points, corners, owners = _mesh(solution, int(cells))
    values = np.concatenate([solution.side(name)(points[name]).reshape(len(points[name]), -1) for name in points])
    mesh = meshio.Mesh(
        np.pad(np.concatenate(list(points.values())), ((0, 0), (0, 3 - d))),
        [(CELL[d], corners)],
        point_data={name: column.copy() for name, column in zip(solution.family.components, values.T)},
        cell_data={"subdomain": [owners]},
    )
    return write_whole(target, lambda file: mesh.write(file.name))


def _mesh(solution: Solution, cells: int) -> tuple[Mapping[str, np.ndarray], np.ndarray, np.ndarray]:
    """The points of each subdomain, the corners of all cells, and whose each cell is."""
    d, start = len(solution.family.coordinates), 0
    points: dict[str, np.ndarray] = {}
    corners, owners = [], []
    steps = np.array([np.ravel_multi_index(corner, (cells + 1,) * d) for corner in CORNERS[d]])
    first = np.arange((cells + 1) ** d).reshape((cells + 1,) * d)[(slice(-1),) * d].reshape(-1, 1)
    for k, (name, region) in enumerate(solution.family.decomposition.subdomains.items()):
        boxes = _boxes(region)
        grids = [np.meshgrid(*np.linspace(box.low, box.high, cells + 1).T, indexing="ij") for box in boxes]
        points[name] = np.concatenate([np.stack(grid, axis=-1).reshape(-1, d) for grid in grids])
        for _ in boxes:
            corners.append(first + steps + start)
            start += (cells + 1) ** d
        owners.append(np.full(len(boxes) * len(first), k))
    return points, np.concatenate(corners), np.concatenate(owners)


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise FileError(f"{name} is not installed; it comes with `pip install 'metalic[grids]'`") from None
