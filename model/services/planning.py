"""Which logs the plans of compactions and log compactions take (RFC-66, "Non-Serial Compaction Plan Schedule").

A plan at barrier b takes, in each file group without a pending plan, the newest base file and the logs of that
slice whose completion is before b, strictly. A group without such a log is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ..files.covering import standing_in
from ..files.slicing import in_order, loads, writes_by_slice
from ..merging.foreign import rules_on
from ..protocol import Protocol
from ..table import GroupPlan, Log, Table, Write


def plan(table: Table, groups: int, barrier: float, protocol: Protocol) -> tuple[GroupPlan, ...]:
    """The plan's part in each file group that it works on; `table` holds pending writes only where they are looked at.

    An empty answer means that there is nothing to compact.
    """
    return tuple(_parts(table, groups, barrier, protocol))


def _parts(table: Table, groups: int, barrier: float, protocol: Protocol) -> Iterator[GroupPlan]:
    for group in range(groups):
        here = [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.of(group)]
        if any(done is None for _, done in here) or group in logs_being_compacted(table):
            continue
        base = max((*(requested for requested, _ in here), *loads(table, group)), default=None)
        inside = writes_by_slice(table, group, protocol)[base]
        taken = tuple(w for w in inside if protocol.plan_takes == "any_log" or (w.completed or inf) < barrier)
        if logs := _read_instead(table, group, taken, protocol):
            yield GroupPlan(group, base, logs)


def _read_instead(table: Table, group: int, writes: tuple[Write, ...], protocol: Protocol) -> tuple[Log, ...]:
    logs = (log for write in in_order(writes, group, protocol) for log in write.logs(group))
    return standing_in(table, group, logs, protocol)


def log_plan(table: Table, groups: int, protocol: Protocol) -> tuple[GroupPlan, ...]:
    """What a log compaction takes: in each file group all completed logs of the newest slice, if they are several.

    They are contiguous in completion order, and stay so: what completes later comes after them. A group waits for the
    log compaction that is pending there; one that another engine's rules order is left to it. An empty answer means
    that there is nothing to compact.
    """
    parts = ((group, _logs_of_newest_slice(table, group, protocol)) for group in range(groups))
    busy = logs_being_compacted(table)
    return tuple(GroupPlan(group, None, logs) for group, logs in parts if len(logs) > 1 and group not in busy)


def _logs_of_newest_slice(table: Table, group: int, protocol: Protocol) -> tuple[Log, ...]:
    barrier, newest = list(writes_by_slice(table, group, protocol).items())[-1]
    if rules_on(table, group, barrier, protocol) != protocol:
        return ()
    completed = tuple(write for write in newest if write.completed is not None)
    return _read_instead(table, group, completed, protocol)


def logs_being_compacted(table: Table) -> set[int]:
    """The file groups in which a log compaction is pending: its log takes the place of logs that stay where they are
    (Hudi leaves them alone as well)."""
    return {part.group for plan, done in table.log_compactions if done is None for part in plan.groups}
