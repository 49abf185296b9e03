"""Validation of arguments: lists of names, and the packages that values come from."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import BadInput


def texts(value: object, asked: str) -> tuple[str, ...]:
    """Return a list of names as a tuple. Raises `BadInput` for a value that is not a list of strings. A single string
    also raises `BadInput`, because Python would iterate over its characters.
    """
    if isinstance(value, str):
        raise BadInput(asked, "that is a single string", f"give a list of names: [{value!r}]")
    listed = tuple(value) if isinstance(value, Iterable) else (value,)
    for each in listed:
        if not isinstance(each, str):
            raise BadInput(asked, f"{each!r} is of type {type(each).__qualname__}", "give a list of names")
    return listed


def is_of(package: str, value: object) -> bool:
    """Return whether the class of `value` is defined in the package. The name of its module decides, because an
    `isinstance` test would import pyspark or pandas, which a process that writes Arrow tables may not have.
    """
    return type(value).__module__.startswith(f"{package}.")
