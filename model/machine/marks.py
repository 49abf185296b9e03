"""Records that mechanisms add to the values of a model: their `marks`, a tuple.

A record is a NamedTuple whose fields have defaults. A record with its defaults is left out, so that equal values stay
equal. Its last field is its `kind`, because named tuples of two types are equal if their fields are.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Record = TypeVar("Record")
Marks = tuple[Any, ...]


class Marked(Protocol):
    """A value to which mechanisms add records."""

    @property
    def marks(self) -> Marks: ...


def mark(value: Marked, kind: type[Record]) -> Record:
    """The record of this type that a value has, or its defaults."""
    for each in value.marks:
        if isinstance(each, kind):
            return each
    return kind()


def marks(*records: Any) -> Marks:
    """The records to store in a value: those that differ from their defaults."""
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Stored records with one of them added or replaced."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))
