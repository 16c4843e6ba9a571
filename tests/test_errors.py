"""Errors: every one that a user can cause is of one kind."""

import inspect

import metalic as mt
from metalic import errors


def test_every_error_is_a_metalic_error() -> None:
    found = [value for value in vars(errors).values() if inspect.isclass(value) and value.__module__ == errors.__name__]
    warnings = [one for one in found if issubclass(one, Warning)]
    assert warnings == [errors.MetalicWarning]
    found.remove(errors.MetalicWarning)
    assert len(found) > 6
    assert all(issubclass(error, errors.MetalicError) and error.__name__.endswith("Error") for error in found)
    assert mt.MetalicError is errors.MetalicError
