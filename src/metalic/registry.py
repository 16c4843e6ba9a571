"""Things by name: families, schedules, optimizers, policies, kernels, rewards, methods.

A `Registry` finds the built-in things of one kind by scanning a module or the modules of a package when it is first
used, so adding one means adding it there and nowhere else. A user's own is named by its place:
`path/to/file.py:Name` or `package.module:Name`. Only `find` and `find_with_option` load a user's code; looking up a
name that a stored file holds (`named`, `[]`) never does.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from .errors import MetalicError

T = TypeVar("T")
PLACES = "Your own: path/to/file.py:Name or package.module:Name"


def suggestion(given: object, known: Iterable[str]) -> str:
    """' Did you mean ...?' if something known is spelled nearly like that, else nothing.

    Example:
        >>> suggestion("poison", ["poisson", "heat"])
        " Did you mean 'poisson'?"
    """
    near = difflib.get_close_matches(str(given), list(known), n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""


class Registry(Mapping[str, T], Generic[T]):
    """The built-in things of one kind, as a mapping by their `name`.

    Args:
        kind: What they are called in messages.
        base: Things are classes that extend it (not abstract ones), or with `instances` objects of it.
        where: The module, or the package with a module per thing, in which the built-in ones are.
        error: What is raised if there is no such thing.
        instances: Whether things are objects, not classes.
    """

    def __init__(self, kind: str, base: type, where: str, error: type[MetalicError], *, instances: bool = False):
        self.kind, self.base, self.where, self.error, self.instances = kind, base, where, error, instances

    @cached_property
    def _built_in(self) -> dict[str, T]:
        top = importlib.import_module(self.where)
        names = [f"{self.where}.{one.name}" for one in pkgutil.iter_modules(getattr(top, "__path__", ()))]
        modules = [top, *map(importlib.import_module, names)]
        return {thing.name: thing for module in modules for thing in self._things(module).values()}

    def _things(self, module: ModuleType) -> dict[str, Any]:
        """What a module itself defines, in its order."""
        found = {key: thing for key, thing in vars(module).items() if self._is_one(thing)}
        return {
            key: thing
            for key, thing in found.items()
            if not isinstance(thing, type) or thing.__module__ == module.__name__
        }

    def _is_one(self, thing: Any) -> bool:
        if self.instances or not isinstance(thing, type):
            return isinstance(thing, self.base)
        return issubclass(thing, self.base) and thing is not self.base and not inspect.isabstract(thing)

    def __getitem__(self, name: str) -> T:
        return self._built_in[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._built_in)

    def __len__(self) -> int:
        return len(self._built_in)

    def find(self, text: str) -> T:
        """A thing from its name, or a user's own from its place: a class, or an object if there is one there.

        Raises:
            MetalicError: Nothing has this name, or there is nothing of this kind at that place; of the type `error`.
        """
        if text not in self and ":" in text.strip(":"):
            return self._load(text)
        return self.named(text, f" {PLACES}")

    def named(self, name: Any, advice: str = "") -> T:
        """A built-in thing, as `[]`, with a message for whoever wrote a wrong name."""
        if not isinstance(name, str) or name not in self:
            allowed = f"allowed are {', '.join(self)}.{suggestion(name, self)}"
            raise self.error(f"no {self.kind} '{name}': {allowed}{advice}")
        return self[name]

    def find_with_option(self, text: str) -> tuple[T, str]:
        """The thing and the option of a text such as 'ucb:2', in which a name goes before a place."""
        name, _, option = text.partition(":")
        return (self[name], option) if name in self else (self.find(text), "")

    def make(self, found: Any) -> Any:
        """An object: itself, or one that its class gives without arguments."""
        if not isinstance(found, type):
            return found
        try:
            return found()
        except TypeError as error:
            raise self.error(
                f"{self.kind} class '{found.__name__}' cannot be made without arguments ({error}); pass an object of "
                "it, or give its arguments defaults"
            ) from error

    def _load(self, text: str) -> Any:
        place, _, name = text.rpartition(":")
        module = self._import_file(Path(place)) if place.endswith(".py") else self._import(place)
        found = getattr(module, name, None)
        if self._is_one(found):
            return found
        raise self.error(f"'{place}' has no {self.kind} '{name}'; it has: {', '.join(self._things(module)) or 'none'}")

    def _import_file(self, path: Path) -> ModuleType:
        """The file as a module whose name contains place and content: equal stems do not collide, and a file that
        has not changed is executed once."""
        if not path.is_file():
            raise self.error(f"no file '{path}'")
        content = hashlib.sha256(bytes(path.resolve()) + b"\0" + path.read_bytes()).hexdigest()
        name = f"metalic_user_{path.stem}_{content[:16]}"
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise self.error(f"'{path}' cannot be imported")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up there
        try:
            self._executed(partial(spec.loader.exec_module, module), str(path))
        except BaseException:
            del sys.modules[name]
            raise
        return module

    def _import(self, name: str) -> ModuleType:
        return self._executed(partial(importlib.import_module, name), name)

    def _executed(self, run: Callable[[], Any], place: str) -> Any:
        """A user's module may fail in any way while it is imported; say where and why in one line."""
        try:
            return run()
        except Exception as error:
            raise self.error(f"importing '{place}' failed: {type(error).__name__}: {error}") from error
