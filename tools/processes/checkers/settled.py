"""TRAVEL: a read as of T contains exactly the writes that completed by T according to the final timeline."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from .history import HOT, Chronicle, Read

WRITE = "deltacommit"


def broken(history: Chronicle) -> Iterator[str]:
    """Yield a sentence for each read that does not contain exactly the writes completed by its as-of time."""
    first: dict[str, str] = {}  # the earlier completion counts if an instant is on the timeline twice
    for p in history.published:
        if p.action == WRITE:
            first[p.requested] = min(p.completed, first.get(p.requested, p.completed))
    writes = sorted((completed, requested) for requested, completed in first.items())
    place = {requested: number for number, (_, requested) in enumerate(writes)}
    times = [completed for completed, _ in writes]
    for read in history.reads:
        due = bisect_right(times, read.time)
        visible = _instants(read)
        early = sorted(requested for requested in visible if place.get(requested, due) >= due)
        if early:
            yield f"the read of {read.reader} as of {read.time} holds rows of {early[0]}, not completed by then"
        elif len(visible) < due:
            missing = next(requested for _, requested in writes[:due] if requested not in visible)
            yield f"the read of {read.reader} as of {read.time} holds no row of {missing}, completed by then"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of TRAVEL literally: compute the expected set of writes for each read, and compare it with
    the read.
    """
    for read in history.reads:
        writes = [p for p in history.published if p.action == WRITE and p.completed <= read.time]
        due, visible = {p.requested for p in writes}, _instants(read)
        if visible - due:
            early = min(visible - due)
            yield f"the read of {read.reader} as of {read.time} holds rows of {early}, not completed by then"
        elif due - visible:
            missing = min(
                writes, key=lambda p: (p.completed, p.requested) if p.requested not in visible else ("9" * 18,)
            )
            yield f"the read of {read.reader} as of {read.time} holds no row of {missing.requested}, completed by then"


def _instants(read: Read) -> set[str]:
    return {requested for key, _, requested in read.rows if key != HOT}
