"""Marks are typed records that mechanisms add to a value on storage, such as a write or a compaction plan.

A mark is a NamedTuple whose fields all have defaults. A mark with only default values is not stored, so that adding the
mark does not change the marked value. The last field of a mark, `kind`, is a constant that differs for each type of
mark. Without `kind`, two marks of different types would be equal if their other fields were equal.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Record = TypeVar("Record")
Marks = tuple[Any, ...]


class Marked(Protocol):
    """A value that can have marks (typed records added by mechanisms)."""

    @property
    def marks(self) -> Marks: ...


def mark(value: Marked, kind: type[Record]) -> Record:
    """Return the mark of the type `kind` on a value, or a mark with default values if the value has none."""
    for each in value.marks:
        if isinstance(each, kind):
            return each
    return kind()


def marks(*records: Any) -> Marks:
    """Return the given marks without those that have only default values, which are not stored."""
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Return the marks `old` with `record` added; a mark of the same type is replaced."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))


def marks_of(own: Any) -> Marks:
    """Return the marks that an actor adds to the instant it completes. They are the actor's records that have a field
    `kind`.
    """
    return marks(*(each for each in own.records if hasattr(each, "kind")))
