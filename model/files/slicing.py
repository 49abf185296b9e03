"""File slicing: which log belongs to which slice of a file group (RFC-66, "New file slicing").

A barrier is the requested time of a base file, or of a pending plan for the group.
A log belongs to the slice of the greatest barrier at or before its slice time, else to the slice without barrier.
The slice time is its completion time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import inf

from ..protocol import Protocol
from ..table import FileSlice, Table, Write
from .copy_on_write import is_copy_on_write, slices_of
from .covering import standing_in

SliceTime = Callable[[Write, int], float]


def slice_time(protocol: Protocol) -> SliceTime:
    """The time that assigns a write's logs in a file group. What is not completed lies in the newest slice."""
    return _SLICE_TIMES[protocol.slicing]


_SLICE_TIMES: Mapping[str, SliceTime] = {
    "completion": lambda write, group: write.completed or inf,
    "requested": lambda write, group: write.requested,
    "base_instant": lambda write, group: write.bases[group] or 0,
    "temporal": lambda write, group: write.requested,
}


def barriers(table: Table, group: int) -> tuple[int, ...]:
    """The barriers of a file group, ascending."""
    planned = {plan.requested for plan in table.plans if plan.of(group)}
    return tuple(sorted(planned | loads(table, group)))


def loads(table: Table, group: int) -> set[int]:
    """The barriers of a file group whose base file a write has put itself."""
    return {write.requested for write in table.writes if group in write.loaded}


def barrier_of(write: Write, group: int, among: tuple[int, ...], time: SliceTime) -> int | None:
    """The barrier of the slice that a write's logs in the group belong to."""
    at = time(write, group)
    return max([barrier for barrier in among if barrier <= at], default=None)


@lru_cache(maxsize=1 << 12)
def writes_by_slice(table: Table, group: int, protocol: Protocol) -> dict[int | None, tuple[Write, ...]]:
    """Barrier -> the writes that have logs in that slice; the slice without barrier first, then ascending."""
    among, time = barriers(table, group), slice_time(protocol)
    here = [] if is_hidden(table, group, protocol) else [write for write in table.writes if write.logs(group)]
    if protocol.tombstone_logs == "by_time":
        there = (p.requested for p, done in zip(table.plans, table.completed, strict=True) if done and p.of(group))
        taken_for_tombstones = {*there, *loads(table, group)}
        here = [write for write in here if write.requested not in taken_for_tombstones]
    if protocol.barriers == "base_files":
        pending = {plan.requested for plan, done in zip(table.plans, table.completed, strict=True) if not done}
        among = tuple(barrier for barrier in among if barrier not in pending)
        here = [write for write in here if not among or barrier_of(write, group, among, time) is not None]
    if protocol.slicing == "temporal":
        here = [write for write in here if not any(write.requested < b <= (write.completed or 0) for b in among)]
    found: dict[int | None, tuple[Write, ...]] = {b: () for b in (None, *among) if table.in_sight(group, b)}
    for write in here:
        barrier = barrier_of(write, group, among, time)
        if barrier in found:
            found[barrier] += (write,)
    return found


def is_hidden(table: Table, group: int, protocol: Protocol) -> bool:
    """Whether nothing of a file group is seen: it has no barrier, begins with the log of a pending write, and that
    was not requested before everything that completed (what is older than the timeline counts as completed).
    """
    if protocol.first_slice == "first_completed" or barriers(table, group):
        return False
    first = min((write for write in table.writes if write.logs(group)), key=lambda w: w.requested, default=None)
    done = [write.requested for write in table.writes if write.completed is not None]
    return first is not None and first.completed is None and bool(done) and first.requested > min(done)


def in_order(writes: tuple[Write, ...], group: int, protocol: Protocol) -> tuple[Write, ...]:
    """Writes in the order in which their logs of a file group merge; pending ones last."""
    if protocol.merge_order == "requested":
        return tuple(sorted(writes, key=lambda write: write.requested))
    by_completion = sorted(writes, key=lambda write: (write.completed or inf, write.requested))
    if protocol.merge_order == "appended":
        by_completion.sort(key=lambda write: write.place_in(group))
    return tuple(by_completion)


def file_slices(table: Table, group: int, protocol: Protocol) -> tuple[FileSlice, ...]:
    """The slices of one file group, oldest first, superseded ones included."""
    if is_copy_on_write(table):
        return slices_of(table, group)
    done = {plan.requested for plan, completed in zip(table.plans, table.completed, strict=True) if completed}
    done |= loads(table, group)
    slices = [
        FileSlice(
            group,
            barrier,
            barrier if barrier in done else None,
            standing_in(
                table,
                group,
                (log for write in in_order(_seen(writes, protocol), group, protocol) for log in write.logs(group)),
                protocol,
            ),
        )
        for barrier, writes in writes_by_slice(table, group, protocol).items()
    ]
    return tuple(each for each in slices if each.barrier is not None or each.logs)


def _seen(writes: tuple[Write, ...], protocol: Protocol) -> tuple[Write, ...]:
    return writes if protocol.shows_pending else tuple(w for w in writes if w.completed is not None)
