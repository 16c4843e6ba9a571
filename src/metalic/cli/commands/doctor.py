"""`metalic doctor`: what a report of a problem should say about the machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import typer

from ..options import Json
from ..printing import print_json

NEEDED = ("jax", "jaxlib", "equinox", "optax", "tinygp", "numpy", "scipy", "distributed", "filelock", "matplotlib")
OPTIONAL = ("pandas", "pyarrow", "xarray", "bokeh", "torch")


def command(as_json: Json = False) -> None:
    """Print versions, cores, devices, precision and the cache: add it to a report of a problem.

    Example: metalic doctor --json
    """
    found = {
        "metalic": version_of("metalic"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: version_of(name) for name in (*NEEDED, *OPTIONAL)},
        "cores": cores(),
        "devices": devices(),
        "precision": "float64",
        "cache": cache(),
    }
    if as_json:
        print_json(found)
    else:
        _print(found)


def version_of(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cores() -> dict[str, int | None]:
    """How many cores the machine has, how many this process may use, and how many a solve uses."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {"machine": os.cpu_count(), "allowed": allowed, "used by a solve": 1 if allowed else None}


def devices() -> dict[str, Any]:
    """What JAX computes on, and whether that is a GPU."""
    import jax

    kinds = [f"{device.platform}: {device.device_kind}" for device in jax.devices()]
    return {"used": kinds[0], "all": kinds, "gpu": jax.default_backend() in ("gpu", "cuda", "rocm")}


def cache() -> dict[str, Any]:
    """Where compiled programs are kept, and their size; no place if it cannot be written."""
    from ...runtime import cache_directory

    given = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    place = Path(given) if given else cache_directory()
    files = [file for file in place.glob("*") if file.is_file()] if place is not None else []
    size = sum(file.stat().st_size for file in files)
    return {"place": None if place is None else str(place), "programs": len(files), "megabytes": round(size / 1e6, 1)}


def _print(found: dict[str, Any]) -> None:
    number, device, kept = found["cores"], found["devices"], found["cache"]
    pinned = "one" if number["used by a solve"] == 1 else "as many as XLA takes: this system does not pin processes"
    packages = [f"{name} {known or 'not installed'}" for name, known in found["packages"].items()]
    for name, text in {
        "metalic": f"{found['metalic']}, Python {found['python']} ({sys.executable})",
        "system": found["system"],
        "cores": f"{number['machine']}, of which {number['allowed'] or 'all'} allowed; a solve uses {pinned}",
        "device": f"{device['used']}; GPU {'used' if device['gpu'] else 'not used'}",
        "precision": f"{found['precision']} unless a solve asks for float32",
        "cache": f"{kept['place'] or 'none: not writable'}, {kept['programs']} files, {kept['megabytes']} MB",
        "packages": ", ".join(packages),
    }.items():
        typer.echo(f"{name + ':':<11}{text}")
