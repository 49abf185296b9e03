"""Validates mappings read from the user's TOML files. For an unknown word, the error message suggests the closest valid
word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import cast

LISTED = 12
"""An error sentence lists so many known words; more would hide the guess."""


def nearest(word: str, known: Iterable[str], others: str = "") -> str:
    """Return a hint for an unknown word: the closest valid word, if any, and up to 12 valid words.

    `others` is a command that prints all valid words; the hint names it if there are more than 12.
    """
    words = sorted(known)
    begun = [each for each in words if word and each.startswith(word)]
    close = get_close_matches(word, words, n=1, cutoff=0.6) or begun
    guess = f"did you mean {close[0]!r}? " if close else ""
    if len(words) <= LISTED:
        return f"{guess}known: {', '.join(words) or 'none'}"
    if others:
        return f"{guess}`{others}` prints all {len(words)}"
    return f"{guess}known: {', '.join(words[:LISTED])} and {len(words) - LISTED} more"


def refuse_unknown(given: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Raise ValueError for the first field of `given` that is not in `known`."""
    names = set(known)
    for field in given:
        if field not in names:
            raise ValueError(f"{where}: unknown field {field!r}; {nearest(field, names)}")


def write_shape(row: Mapping[str, object]) -> tuple[tuple[str, int], tuple[int, ...]]:
    """Parse one `[[writes]]` entry of a world file. Return the write's key (writer, number of the write), and its
    number of log files in each file group.
    """
    where = "world [[writes]]"
    fields = ("writer", "number", "versions")
    refuse_unknown(row, (*fields, "reads"), where)
    missing = [name for name in fields if name not in row]
    if missing:
        raise ValueError(f"{where}: {missing[0]!r} is missing in {dict(row)!r}")
    number = whole_number(row["number"], f"{where}: number", least=1)
    return (cast(str, row["writer"]), number), tuple(cast("list[int]", row["versions"]))


def whole_number(value: object, where: str, least: int = 0, most: int | None = None) -> int:
    """Return `value` if it is a whole number from `least` to `most`; otherwise raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{where}: a whole number {bounds} is needed, found {value!r}")
    return value


def refuse_controls(value: object, where: str) -> None:
    """Raise ValueError for a control character in a text of a user's file: it could forge a line of a report."""
    if isinstance(value, str):
        if not value.replace("\n", "" if where.endswith(": about") else "\n").isprintable():
            raise ValueError(f"{where}: {value!r} contains a control character")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            refuse_controls(name, where)
            refuse_controls(part, f"{where}: {name}")
    elif isinstance(value, list | tuple):
        for part in value:
            refuse_controls(part, where)
