"""The recorded history of a run of concurrent processes: the writes, the reads, and the final timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

HOT = "hot"
"""The key that every write updates. Its other keys belong to it alone."""


class Write(NamedTuple):
    """One batch: `size` keys that no other batch writes, and one key that all batches update (the hot key). Each batch
    has a greater ordering value than all earlier batches.

    `began` and `acked` are times of one monotonic clock, in nanoseconds. `acked` is when the write returned; None if it
    did not return.
    """

    batch: str
    size: int
    ordering: int
    began: int
    acked: int | None = None


class Read(NamedTuple):
    """One snapshot: the time as of which it was read, and its rows as (key, batch, requested time of the write)."""

    reader: str
    began: int
    ended: int
    time: str
    rows: tuple[tuple[str, str, str], ...]


class Published(NamedTuple):
    """A completed instant on the final timeline. A completed compaction has the action ``commit``. `batch` is the name
    of the batch that the instant committed, or '' if it committed none.
    """

    requested: str
    completed: str
    action: str
    batch: str = ""


class Chronicle(NamedTuple):
    """The complete recorded history of a run, in no particular order."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]
    published: tuple[Published, ...]

    @property
    def by_batch(self) -> dict[str, Write]:
        """The writes of the run, by the name of their batch."""
        return {write.batch: write for write in self.writes}


def batches_in(read: Read) -> Counter[str]:
    """Count, for each batch, how many of its keys a read contains, ignoring the key HOT that every batch writes."""
    return Counter(batch for _, batch in {(key, batch) for key, batch, _ in read.rows if key != HOT})


def named(batches: Iterable[str]) -> str:
    """Return the first batch and a count of the others as text, for example `b1 and 3 more`."""
    first, *others = sorted(batches)
    return first + (f" and {len(others)} more" if others else "")


def key_of(batch: str, number: int) -> str:
    return f"{batch}.{number}"
