"""The type checker that jaxtyping's hook runs in the tests: beartype, for everything that holds an array.

Shapes and types of arrays are what no static checker sees. Plain types are mypy's, and tests give wrong ones on purpose
to read the message that a user would get.
"""

from collections.abc import Callable
from typing import Any, get_args

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray

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
