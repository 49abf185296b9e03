"""Checkers for recorded histories of concurrent processes: each checks one promise of the contract in linear time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

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


def acknowledged(history: Chronicle) -> Iterator[str]:
    """ACK: a snapshot that begins after a write has returned contains the write, even if another process wrote it.

    Yield one sentence for each read that lacks a write acknowledged before the read began.
    """
    returned = sorted((w.acked, w.batch) for w in history.writes if w.acked is not None)
    due: set[str] = set()
    for read in sorted(history.reads, key=lambda read: read.began):
        while len(due) < len(returned) and returned[len(due)][0] < read.began:
            due.add(returned[len(due)][1])
        if lost := due - batches_in(read).keys():
            yield f"the read of {read.reader} as of {read.time} lacks {named(lost)}, which returned before it began"


def atomic(history: Chronicle) -> Iterator[str]:
    """ATOM: a read contains either all rows of a write or none of them. No read contains a row of a write that is
    missing from the history.

    For each read, count the keys of each batch, and compare the count with the batch's size.
    """
    writes = history.by_batch
    for read in history.reads:
        for batch, keys in sorted(batches_in(read).items()):
            if batch not in writes:
                yield f"the read of {read.reader} as of {read.time} holds {batch}, which no writer wrote"
            elif keys != writes[batch].size:
                size = writes[batch].size
                yield f"the read of {read.reader} as of {read.time} holds {keys} of {size} keys of {batch}"


def unique(history: Chronicle) -> Iterator[str]:
    """KEY: no snapshot contains a key twice.

    Count how often each key occurs in each read.
    """
    for read in history.reads:
        for key, times in sorted(Counter(key for key, _, _ in read.rows).items()):
            if times > 1:
                yield f"the read of {read.reader} as of {read.time} holds {key} {times} times"


WRITE = "deltacommit"


def settled(history: Chronicle) -> Iterator[str]:
    """TRAVEL: a read as of T contains exactly the writes that completed by T according to the final timeline.

    Yield a sentence for each read that does not contain exactly the writes completed by its as-of time.
    """
    first: dict[str, str] = {}  # the earlier completion counts if an instant is on the timeline twice
    for p in history.published:
        if p.action == WRITE:
            first[p.requested] = min(p.completed, first.get(p.requested, p.completed))
    writes = sorted((completed, requested) for requested, completed in first.items())
    place = {requested: number for number, (_, requested) in enumerate(writes)}
    times = [completed for completed, _ in writes]
    for read in history.reads:
        due = bisect_right(times, read.time)
        visible = instants_in(read)
        early = sorted(requested for requested in visible if place.get(requested, due) >= due)
        if early:
            yield f"the read of {read.reader} as of {read.time} holds rows of {early[0]}, not completed by then"
        elif len(visible) < due:
            missing = next(requested for _, requested in writes[:due] if requested not in visible)
            yield f"the read of {read.reader} as of {read.time} holds no row of {missing}, completed by then"


def instants_in(read: Read) -> set[str]:
    return {requested for key, _, requested in read.rows if key != HOT}


def newest(history: Chronicle) -> Iterator[str]:
    """SNAP on the hot key, which all writes update: a snapshot returns its row from the visible write with the greatest
    ordering value.

    Report each read in which the row of the shared key HOT does not come from the batch with the greatest ordering
    value.
    """
    ordering = {write.batch: write.ordering for write in history.writes}
    for read in history.reads:
        batches = [batch for batch in batches_in(read) if batch in ordering]
        best = max(batches, key=ordering.__getitem__, default=None)
        won = next((batch for key, batch, _ in read.rows if key == HOT), None)
        if won != best:
            yield f"the read of {read.reader} as of {read.time} has {HOT} of {won}, and {best} outranks it"


def monotonic(history: Chronicle) -> Iterator[str]:
    """MONO: all requested and completion times are distinct, and each instant completes after it was requested. If a
    read begins after another read has ended, its as-of time is not earlier than that of the other read.

    Report duplicate times, instants whose completion time is not later than their requested time, and reads with too
    old an as-of time. An as-of time is too old if another read had a later one and ended before this read began.
    """
    times = [time for p in history.published for time in (p.requested, p.completed)]
    for time, count in sorted(Counter(times).items()):
        if count > 1:
            yield f"the time {time} was taken {count} times"
    for p in sorted(history.published):
        if p.completed <= p.requested:
            yield f"the {p.action} requested at {p.requested} completed at {p.completed}, not later"
    ended = sorted(history.reads, key=lambda read: read.ended)
    last, passed = "", 0
    for read in sorted(history.reads, key=lambda read: (read.began, read.ended)):
        while passed < len(ended) and ended[passed].ended < read.began:
            last, passed = max(last, ended[passed].time), passed + 1
        if read.time < last:
            yield f"{read.reader} read as of {read.time} after another read as of {last}"


def once(history: Chronicle) -> Iterator[str]:
    """ONCE: at most one instant commits a batch, however often the batch is sent.

    Group the instants by batch, and report each batch with more than one instant.
    """
    by_batch = defaultdict(list)
    for instant in history.published:
        if instant.batch:
            by_batch[instant.batch].append(instant.requested)
    for batch, instants in sorted(by_batch.items()):
        if len(instants) > 1:
            yield f"the batch {batch} is committed {len(instants)} times, by {min(instants)} first"


CHECKERS: Final[Mapping[str, Callable[[Chronicle], Iterator[str]]]] = {
    "ACK": acknowledged,
    "ATOM": atomic,
    "KEY": unique,
    "TRAVEL": settled,
    "SNAP": newest,
    "MONO": monotonic,
    "ONCE": once,
}
"""Promise -> its checker, which yields one sentence for each violation."""


def judge(history: Chronicle) -> dict[str, list[str]]:
    """Return each promise with the list of its violations in the history; the list is empty if the promise holds."""
    return {promise: list(broken(history)) for promise, broken in CHECKERS.items()}
