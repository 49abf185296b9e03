"""Marks are typed records that mechanisms add to a value on storage, such as a write or a plan.

A record is a NamedTuple whose fields all have defaults. A record with only default values is not stored, so that a
value with such a record equals a value without a record. The last field of a mark, `kind`, differs for each type of
mark. Without the field `kind`, marks of two types with equal fields would be equal.
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
    """Return the record of the type `kind` in a value, or a record with default values if the value has no such record.
    """
    for each in value.marks:
        if isinstance(each, kind):
            return each
    return kind()


def marks(*records: Any) -> Marks:
    """Return the given records, but omit each record that equals its defaults. A value stores only the returned
    records.
    """
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Add a record to stored marks, or replace the stored record of the same type."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))


def marks_of(own: Any) -> Marks:
    """Return the records of an actor that the actor's completed instant stores. An instant stores only records with a
    field `kind`.
    """
    return marks(*(each for each in own.records if hasattr(each, "kind")))
