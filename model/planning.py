"""Which logs a compaction plan takes (RFC-66, "Non-Serial Compaction Plan Schedule").

A plan at barrier b takes, in each file group without a pending plan, the newest base file and the logs of that
slice whose completion is before b, strictly. A group without such a log is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from .protocol import Protocol
from .slicing import in_order, loads, writes_by_slice
from .table import GroupPlan, Table


def plan(table: Table, groups: int, barrier: float, protocol: Protocol) -> tuple[GroupPlan, ...]:
    """The plan's part in each file group that it works on; `table` holds pending writes only where they are looked at.

    An empty answer means that there is nothing to compact.
    """
    return tuple(_parts(table, groups, barrier, protocol))


def _parts(table: Table, groups: int, barrier: float, protocol: Protocol) -> Iterator[GroupPlan]:
    for group in range(groups):
        here = [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.of(group)]
        if any(done is None for _, done in here):
            continue
        base = max((*(requested for requested, _ in here), *loads(table, group)), default=None)
        inside = writes_by_slice(table, group, protocol)[base]
        taken = tuple(w for w in inside if protocol.plan_takes == "any_log" or (w.completed or inf) < barrier)
        if logs := tuple(log for write in in_order(taken, protocol) for log in write.logs(group)):
            yield GroupPlan(group, base, logs)
