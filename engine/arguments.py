"""Lists of texts that a user gave."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import BadInput


def texts(given: object, asked: str) -> tuple[str, ...]:
    """The texts of a list; `BadInput` for anything else, a text alone as well: it would be taken letter by letter."""
    if isinstance(given, str):
        raise BadInput(asked, "that is a text", f"give a list of names: [{given!r}]")
    listed = tuple(given) if isinstance(given, Iterable) else (given,)
    for each in listed:
        if not isinstance(each, str):
            raise BadInput(asked, f"{each!r} is of type {type(each).__qualname__}", "give a list of names")
    return listed
