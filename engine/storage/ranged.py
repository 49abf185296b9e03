"""Reads byte ranges of an object, so that readers of a large file fetch only the columns and rows that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class ByteRange(NamedTuple):
    """The byte range from `start` up to, but not including, `end`."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@runtime_checkable
class RangedStorage(Protocol):
    """A storage that can read byte ranges of an object. If the storage of a table does not implement `get_ranges`,
    readers read whole objects.
    """

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        """Return the bytes of each range; fewer bytes if the object ends within the range. Raises `NotFound` if there
        is no object at `path`.
        """
        ...


def merged_ranges(ranges: Sequence[ByteRange], gap: int) -> list[ByteRange]:
    """Return the sorted ranges, merging neighbours that are at most `gap` bytes apart."""
    joined: list[ByteRange] = []
    for each in sorted(ranges):
        if joined and each.start - joined[-1].end <= gap:
            joined[-1] = ByteRange(joined[-1].start, max(joined[-1].end, each.end))
        else:
            joined.append(each)
    return joined
