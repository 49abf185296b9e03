"""The record of a run of concurrent processes: their writes, their reads, and the final timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

HOT = "hot"
"""The key that every write updates. Its other keys belong to it alone."""


class Write(NamedTuple):
    """One batch: `size` keys that no other batch has, and one key that all batches update (the hot key). The ordering
    value of each batch is greater than the values of all batches before it.

    `began` and `acked` are readings of one monotonic clock, in nanoseconds. `acked` is None if the write did not
    return.
    """

    batch: str
    size: int
    ordering: int
    began: int
    acked: int | None = None


class Read(NamedTuple):
    """One snapshot: the time T as of which it was read, and its rows as (key, batch, requested time of the write)."""

    reader: str
    began: int
    ended: int
    time: str
    rows: tuple[tuple[str, str, str], ...]


class Published(NamedTuple):
    """A completed instant of the final timeline. The action of a compaction is ``commit``. `batch` is the batch that
    the instant committed, if any.
    """

    requested: str
    completed: str
    action: str
    batch: str = ""


class Chronicle(NamedTuple):
    """The whole record of a run, in no particular order."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]
    published: tuple[Published, ...]

    @property
    def by_batch(self) -> dict[str, Write]:
        """Maps each batch to its write."""
        return {write.batch: write for write in self.writes}


def batches_in(read: Read) -> Counter[str]:
    """Return a mapping from each batch in a read to the number of the batch's own keys in that read."""
    return Counter(batch for _, batch in {(key, batch) for key, batch, _ in read.rows if key != HOT})


def named(batches: Iterable[str]) -> str:
    """Return the name of the first batch and the number of the remaining batches, as a phrase."""
    first, *others = sorted(batches)
    return first + (f" and {len(others)} more" if others else "")


def key_of(batch: str, number: int) -> str:
    return f"{batch}.{number}"
