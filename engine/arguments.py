"""Validation of arguments that are lists of names."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import BadInput


def texts(value: object, asked: str) -> tuple[str, ...]:
    """The names in a list. Raises `BadInput` for any other value, and for a string, which is also a sequence of
    letters.
    """
    if isinstance(value, str):
        raise BadInput(asked, "that is a single string", f"give a list of names: [{value!r}]")
    listed = tuple(value) if isinstance(value, Iterable) else (value,)
    for each in listed:
        if not isinstance(each, str):
            raise BadInput(asked, f"{each!r} is of type {type(each).__qualname__}", "give a list of names")
    return listed
