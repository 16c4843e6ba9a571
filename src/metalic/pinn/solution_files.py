"""Files of solutions: an .npz archive of plain arrays, with JSON for all else and a checksum; no pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import a_path, write_whole
from ..errors import FileError
from ..families.base import Family
from ..families.registry import BUILT_IN, find_family
from .check import Check
from .slabs import joined
from .solution import PhaseRecord, Solution

FORMAT = "metalic-solution"
VERSION = 2  # 1 had no activations but tanh; files of tanh networks still have that number


def save(solution: Solution, path: str | os.PathLike[str]) -> Path:
    """Write a solution, all or nothing."""
    arrays = {"theta": solution.theta, "centre": solution.centre, "slope": solution.slope}
    arrays |= {f"collocation{k}": points for k, points in enumerate(solution.collocation)}
    meta = {
        "format": FORMAT,
        "version": 1 if solution.activation == "tanh" else VERSION,
        "hidden": list(solution.hidden),
        "coordinates": list(solution.family.coordinates),
        "subdomains": len(solution.family.decomposition),
        "geometry": solution.family.decomposition.to_dict(),
        **({} if solution.activation == "tanh" else {"activation": solution.activation}),
        **solution.to_dict(history=True),
    }
    meta["digest"] = _digest(arrays, meta)
    parts: dict[str, Any] = arrays | {"meta": np.array(json.dumps(meta))}
    return write_whole(a_path(path), lambda file: np.savez(file, **parts))


def load(path: str | os.PathLike[str], family: str | Family | type[Family] | None = None) -> Solution:
    """Read what `save` wrote; a family that is not built in must be given."""
    meta, arrays = _read(a_path(path))
    found = find_family(family) if family is not None else _built_in(meta["family"], path)
    if meta.get("slabs") is not None:
        found = joined(found, meta["slabs"])
    if [found.name, list(found.coordinates), len(found.decomposition)] != [
        meta["family"],
        meta["coordinates"],
        meta["subdomains"],
    ]:
        raise FileError(f"'{path}' holds a solution of '{meta['family']}', which is not the family '{found.name}'")
    here = found.decomposition.to_dict()
    if meta.get("geometry", here) != here:
        raise FileError(
            f"'{path}' was solved on other subdomains than those of the family '{found.name}': {meta['geometry']}, "
            f"not {here}; pass the family with the decomposition that it was solved on"
        )
    phases = tuple(PhaseRecord.from_dict(record) for record in meta["phases"])
    return Solution(
        family=found,
        parameters=meta["parameters"],
        theta=arrays["theta"],
        hidden=tuple(meta["hidden"]),
        centre=arrays["centre"],
        slope=arrays["slope"],
        phases=phases,
        schedule=meta["schedule"],
        seed=meta["seed"],
        collocation=tuple(arrays[f"collocation{k}"] for k in range(meta["subdomains"])),
        checked=None if meta.get("check") is None else Check.from_dict(meta["check"]),
        start=meta.get("start"),  # older files do not have it
        slabs=meta.get("slabs"),
        activation=meta.get("activation", "tanh"),
    )


def _built_in(name: str, path: Any) -> Family:
    if name not in BUILT_IN:
        raise FileError(
            f"'{path}' holds a solution of your family '{name}': pass it, as in load(path, family=MyFamily)"
        )
    return find_family(name)


def _digest(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> str:
    """A checksum of all that a file holds."""
    rest = {key: value for key, value in meta.items() if key != "digest"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            contents = {name: file[name] for name in file.files}
        meta = json.loads(str(contents.pop("meta")))
        if meta["format"] != FORMAT:
            raise KeyError("format")
    except OSError as error:
        raise FileError(f"cannot read '{path}': {error.strerror or error}") from error
    except Exception as error:  # a foreign file can fail to be read in any way
        raise FileError(f"'{path}' is not a solution file, or is damaged: {error}") from error
    if isinstance(meta.get("version"), int) and meta["version"] > VERSION:
        raise FileError(
            f"'{path}' has format version {meta['version']}; this metalic reads up to {VERSION}: upgrade it"
        )
    if meta.get("digest") != _digest(contents, meta):
        raise FileError(f"'{path}' is damaged: its contents do not match their checksum")
    return meta, contents
