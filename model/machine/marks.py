"""Marks are records that mechanisms attach to a stored value, such as a write or a compaction plan.

Every field of a mark has a default value. A mark with only default values is not stored. The field `kind` differs for
each type of mark, so that marks of two types are never equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

Record = TypeVar("Record")
Marks = tuple[Any, ...]


SHAPED: Final[dict[type, tuple[str, ...]]] = {}
"""Type of a stored value, or of a mark -> its fields, if shapes (promises/shape.py) support the type."""


def in_shapes(*fields: str) -> Callable[[type[Record]], type[Record]]:
    """Declare that shapes support a type with these fields: each field is handled, as a time or not. A type with a
    further field has no shape until the field is handled in `promises/shape.py` and listed here.
    """

    def declare(record: type[Record]) -> type[Record]:
        SHAPED[record] = fields
        return record

    return declare


class Marked(Protocol):
    """A value that can have marks (typed records added by mechanisms)."""

    @property
    def marks(self) -> Marks: ...


_DEFAULTS: Final[dict[type, Any]] = {}
"""The mark of each type that has default values only. Most values have no marks, and a search asks at every read."""


def mark(value: Marked, kind: type[Record]) -> Record:
    """Return the mark of type `kind` that is attached to a value, or a mark with default values if there is none."""
    for each in value.marks:
        if isinstance(each, kind):
            return each
    if kind not in _DEFAULTS:
        _DEFAULTS[kind] = kind()
    default: Record = _DEFAULTS[kind]
    return default


def marks(*records: Any) -> Marks:
    """Return the given marks without those that have only default values."""
    return tuple([each for each in records if each != type(each)()])


def with_mark(old: Marks, record: Any) -> Marks:
    """Return the marks `old` with the mark `record` added. The new mark replaces a mark of the same type."""
    return (*(each for each in old if type(each) is not type(record)), *marks(record))


def marks_of(own: Any) -> Marks:
    """Return the marks that an actor attaches to the instant that it completes: those of its records that are marks."""
    return marks(*(each for each in own.records if hasattr(each, "kind")))
