"""Marks are records that mechanisms attach to a stored value, such as a write or a compaction plan.

All fields of a mark have defaults. A mark whose fields all have their defaults is not stored. The last field, `kind`,
is a constant that differs for each type of mark. Without it, marks of two types would be equal if their other fields
were equal.
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
    """Return the mark of type `kind` that is attached to a value. If there is none, return a mark with default values.
    """
    for each in value.marks:
        if isinstance(each, kind):
            return each
    return kind()


def marks(*records: Any) -> Marks:
    """Return the given marks, except those whose fields all have their defaults, which are not stored."""
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Return the marks `old` with `record` added. It replaces a mark of the same type."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))


def marks_of(own: Any) -> Marks:
    """Return the marks that an actor attaches to the instant it completes: those of its records that have a field
    `kind`.
    """
    return marks(*(each for each in own.records if hasattr(each, "kind")))
