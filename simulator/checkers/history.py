"""What concurrent processes did, as they wrote it down themselves: writes, reads, and the timeline they left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

HOT = "hot"
"""The key that every write updates; all its other keys are its own."""


class Write(NamedTuple):
    """One batch: `size` keys of its own and the hot one, with a greater ordering value than any batch before it had.

    `began` and `acked` are readings of one monotonic clock, in nanoseconds; `acked` is None if it never returned.
    """

    batch: str
    size: int
    ordering: int
    began: int
    acked: int | None = None


class Read(NamedTuple):
    """One snapshot: the time it is as of, and its rows as (key, batch, requested time of the write)."""

    reader: str
    began: int
    ended: int
    time: str
    rows: tuple[tuple[str, str, str], ...]


class Published(NamedTuple):
    """A completed instant of the timeline in the end; a compaction's action is ``commit``. `batch`: what it wrote."""

    requested: str
    completed: str
    action: str
    batch: str = ""


class Chronicle(NamedTuple):
    """All of it, in no particular order."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]
    published: tuple[Published, ...]

    @property
    def by_batch(self) -> dict[str, Write]:
        """The writes by batch."""
        return {write.batch: write for write in self.writes}


def batches_in(read: Read) -> Counter[str]:
    """Each batch with a row of its own in a read, and how many keys of its own are there."""
    return Counter(batch for _, batch in {(key, batch) for key, batch, _ in read.rows if key != HOT})


def named(batches: Iterable[str]) -> str:
    """The first of some batches, in order, and how many more there are."""
    first, *others = sorted(batches)
    return first + (f" and {len(others)} more" if others else "")


def key_of(batch: str, number: int) -> str:
    """A batch's key of its own."""
    return f"{batch}.{number}"
