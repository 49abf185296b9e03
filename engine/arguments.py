"""Validation of arguments that are lists of names."""

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
