"""Reads parts of an object. A reader that needs few columns or rows of a large file requests only the bytes of these
columns or rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class ByteRange(NamedTuple):
    """The bytes from `start` up to, but not including, `end`."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@runtime_checkable
class RangedStorage(Protocol):
    """A storage that can read parts of an object. A storage without `get_ranges` reads whole objects."""

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        """Return the bytes of each range; fewer bytes if the object ends before the range. Raises `NotFound` if there
        is no object at `path`.
        """
        ...


def merged_ranges(ranges: Sequence[ByteRange], gap: int) -> list[ByteRange]:
    """Return the ranges in order, after merging ranges that are at most `gap` bytes apart."""
    joined: list[ByteRange] = []
    for each in sorted(ranges):
        if joined and each.start - joined[-1].end <= gap:
            joined[-1] = ByteRange(joined[-1].start, max(joined[-1].end, each.end))
        else:
            joined.append(each)
    return joined
