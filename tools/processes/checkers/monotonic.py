"""MONO: all requested and completion times are distinct, and each instant completes after it was requested. If a read
begins after another read has ended, its as-of time is not earlier than that of the other read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from .history import Chronicle


def broken(history: Chronicle) -> Iterator[str]:
    """Report duplicate times, instants whose completion time is not later than their requested time, and reads with too
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


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of MONO literally: compare each pair of times and each pair of reads."""
    times = [time for p in history.published for time in (p.requested, p.completed)]
    for time in sorted({one for one, other in combinations(times, 2) if one == other}):
        yield f"the time {time} was taken {times.count(time)} times"
    for p in sorted(history.published):
        if p.completed <= p.requested:
            yield f"the {p.action} requested at {p.requested} completed at {p.completed}, not later"
    for read in sorted(history.reads, key=lambda read: (read.began, read.ended)):
        last = max((other.time for other in history.reads if other.ended < read.began), default="")
        if read.time < last:
            yield f"{read.reader} read as of {read.time} after another read as of {last}"
