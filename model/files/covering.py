"""Log compaction: one log file stands for several of its slice, where they stood (RFC-66, `handle_log_compaction`).

A completed log compaction *covers* its inputs: whoever reads at or after its completion takes its log instead of them,
in the slice and at the rank of the newest of them (Hudi's header of compacted blocks, as hudi-rs reads it). Inputs are
contiguous in completion order, so that what wins among them wins wherever they are merged. Windows and older reads go
on with the inputs, which know who wrote what and when.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from ..merging.fold import Fold
from ..protocol import Protocol
from ..table import Log, Table


def inputs(table: Table, group: int) -> dict[int, tuple[Log, ...]]:
    """Requested time of each log compaction of a file group -> the logs that it takes."""
    parts = [(plan.requested, plan.of(group)) for plan, _ in table.log_compactions]
    return {requested: part.logs for requested, part in parts if part is not None}


def standing_in(table: Table, group: int, logs: Iterable[Log], protocol: Protocol) -> tuple[Log, ...]:
    """What is read instead of these logs of writes: of covered ones the last is replaced, the others are left out."""
    done = {plan.requested for plan, completed in table.log_compactions if completed is not None}
    if not done:
        return tuple(logs)
    by = {log: (at, taken[-1]) for at, taken in inputs(table, group).items() if at in done for log in taken}
    found = [log for each in logs if (log := _stands_for(each, by)) is not None]
    return ordered(table, group, found, protocol) if protocol.log_compaction_rank == "own" else tuple(found)


def _stands_for(log: Log, by: Mapping[Log, tuple[int, Log]]) -> Log | None:
    while log in by:
        requested, last = by[log]
        if log != last:
            return None
        log = (requested, 1)
    return log


def covered(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """These logs, and all that those of them cover which a log compaction made: the files of a slice."""
    taken = inputs(table, group)
    if not taken:
        return tuple(logs)
    return tuple(each for log in logs for each in (log, *covered(table, group, taken.get(log[0], ()))))


def merge_time(table: Table, group: int, log: Log, protocol: Protocol) -> float:
    """The time by which a log takes its place among those of its slice; inf for what is not completed."""
    taken = inputs(table, group)
    if protocol.merge_order == "requested":
        if log[0] not in taken or protocol.log_compaction_rank == "own":
            return log[0]
        return max(merge_time(table, group, each, protocol) for each in taken[log[0]])
    if protocol.merge_order == "appended":  # blocks of what is shared; nothing is log-compacted there
        return next((write.place_in(group) for write in table.writes if write.requested == log[0]), inf)
    while log[0] in taken:
        if protocol.log_compaction_rank == "own":
            return next(done for plan, done in table.log_compactions if plan.requested == log[0]) or inf
        log = taken[log[0]][-1]
    return next((write.completed or inf for write in table.writes if write.requested == log[0]), inf)


def ordered(table: Table, group: int, logs: Iterable[Log], protocol: Protocol) -> tuple[Log, ...]:
    """Logs in the order in which they merge."""
    return tuple(sorted(logs, key=lambda log: (merge_time(table, group, log, protocol), log)))


def layers(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log | Fold, ...]:
    """The logs as they are merged: one that stands for others is their fold."""
    taken = inputs(table, group)
    if not taken:
        return tuple(logs)
    return tuple(Fold(None, layers(table, group, taken[log[0]])) if log[0] in taken else log for log in logs)
