"""Marks: typed records that mechanisms add to a value, such as a write or a plan.

A record is a NamedTuple whose fields have defaults. A record with its defaults is left out, so that equal values stay
equal. The last field of a record is its `kind`, because named tuples of two types are equal if their fields are.
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


def marks_of(own: Any) -> Marks:
    """The records of an actor that its completed instant carries: those that are marks, which have a `kind`."""
    return marks(*(each for each in own.records if hasattr(each, "kind")))
