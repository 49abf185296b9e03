"""Marks: typed records that mechanisms add to a value on storage, such as a write or a plan.

A record is a NamedTuple whose fields all have defaults. A record that equals its defaults is not stored, so that equal
values stay equal. The last field is the `kind`: without it, records of two types with equal fields would be equal.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Record = TypeVar("Record")
Marks = tuple[Any, ...]


class Marked(Protocol):
    """A value that can have marks."""

    @property
    def marks(self) -> Marks: ...


def mark(value: Marked, kind: type[Record]) -> Record:
    """The record of this type in a value; the defaults if the value has none."""
    for each in value.marks:
        if isinstance(each, kind):
            return each
    return kind()


def marks(*records: Any) -> Marks:
    """The records that a value stores: those that differ from their defaults."""
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Add a record to stored marks, or replace the one of its type."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))


def marks_of(own: Any) -> Marks:
    """An actor's records that its completed instant stores: those with a `kind`."""
    return marks(*(each for each in own.records if hasattr(each, "kind")))
