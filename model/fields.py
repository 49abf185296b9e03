"""Checking the fields of a mapping that a human wrote: an unknown one is an error that names the nearest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known word, and all of them."""
    words = sorted(known)
    close = get_close_matches(word, words, n=1, cutoff=0.4)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}known: {', '.join(words) or 'none'}"


def refuse_unknown(given: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Raise ValueError for the first field of `given` that is not known."""
    names = set(known)
    for field in given:
        if field not in names:
            raise ValueError(f"{where}: unknown field {field!r}; {nearest(field, names)}")


def whole_number(value: object, where: str, least: int = 0) -> int:
    """`value` as an int ≥ `least`; ValueError says what was found."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{where}: a whole number of at least {least} is needed, found {value!r}")
    return value
