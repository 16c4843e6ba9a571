"""The type checker that jaxtyping's hook runs in the tests: beartype, for everything that holds an array.

Shapes and types of arrays are what no static checker sees. Plain types are mypy's, and tests give wrong ones on purpose
to read the message that a user would get.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, get_args

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray
from jaxtyping._decorator import _destring_annotation

_NONE = object()

_beartype = beartype(conf=BeartypeConf(is_pep484_tower=True))


def _holds_array(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(map(_holds_array, get_args(hint)))


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its array annotations checked at every call."""
    arrays = {name: hint for name, hint in function.__annotations__.items() if _holds_array(hint)}
    function.__annotations__ = arrays
    return _beartype(function) if arrays else function


def _only_arrays(jaxtyped: Callable[..., Any]) -> Callable[..., Any]:
    """The hook's decorator, which leaves functions without array annotations as they are: binding the arguments of
    every call of every function takes half as long again as the tests themselves."""

    def decorate(function: Any = _NONE, **options: Any) -> Any:
        if function is _NONE:
            return lambda one: decorate(one, **options)
        if isinstance(function, FunctionType) and not any(
            _holds_array(_destring_annotation(hint, function.__globals__)) for hint in function.__annotations__.values()
        ):
            return function
        return jaxtyped(function, **options)

    return decorate


jaxtyping.jaxtyped = _only_arrays(jaxtyping.jaxtyped)
