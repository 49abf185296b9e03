"""The record of concurrent processes, written by themselves: writes, reads, and the final timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

HOT = "hot"
"""The key that every write updates. Its other keys belong to it alone."""


class Write(NamedTuple):
    """One batch: `size` keys that no other batch has, and one key that all batches update (the hot key). The ordering
    value of a batch is greater than the values of earlier batches.

    `began` and `acked` are readings of one monotonic clock, in nanoseconds. `acked` is None if the write did not
    return.
    """

    batch: str
    size: int
    ordering: int
    began: int
    acked: int | None = None


class Read(NamedTuple):
    """One snapshot: its as-of time, and its rows as (key, batch, requested time of the write)."""

    reader: str
    began: int
    ended: int
    time: str
    rows: tuple[tuple[str, str, str], ...]


class Published(NamedTuple):
    """A completed instant of the final timeline. A compaction's action is ``commit``. `batch`: the batch that it
    committed, if any.
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
        """The writes by batch."""
        return {write.batch: write for write in self.writes}


def batches_in(read: Read) -> Counter[str]:
    """Each batch in a read, with the number of its own keys in the read."""
    return Counter(batch for _, batch in {(key, batch) for key, batch, _ in read.rows if key != HOT})


def named(batches: Iterable[str]) -> str:
    """The name of the first batch, and the number of the others."""
    first, *others = sorted(batches)
    return first + (f" and {len(others)} more" if others else "")


def key_of(batch: str, number: int) -> str:
    """A key that no other batch has."""
    return f"{batch}.{number}"
