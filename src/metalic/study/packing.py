"""Tasks as bytes, with the code of a user's own classes: workers may not have its files.

Dask by itself would send the name of a module alone wherever that can be imported here. A class that extends one of
ours and is not ours, whether a family, condition, optimizer, policy, kernel or reward, is sent with its module.
"""

from __future__ import annotations

import io
import sys
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

PACKAGE = __name__.partition(".")[0]


class _Packer(cloudpickle.Pickler):
    """Registers the modules of users' classes as it meets them."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file)
        self.registered: set[str] = set()

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type) and _extends_ours(thing):
            module = thing.__module__
            if module not in (*cloudpickle.list_registry_pickle_by_value(), "__main__"):
                cloudpickle.register_pickle_by_value(sys.modules[module])
                self.registered.add(module)
        return super().reducer_override(thing)


def _extends_ours(kind: type) -> bool:
    return not _ours(kind) and any(_ours(base) for base in kind.__mro__)


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == PACKAGE


def packed(thing: Any) -> bytes:
    """Anything as bytes that `pickle.loads` reads; what was registered with cloudpickle for it is removed again."""
    packer = _Packer(file := io.BytesIO())
    try:
        packer.dump(thing)
    finally:
        for name in packer.registered:
            cloudpickle.unregister_pickle_by_value(sys.modules[name])
    return file.getvalue()
