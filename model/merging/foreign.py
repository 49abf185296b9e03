"""By whose rules a file group is merged: the table's, or those of another engine that has compacted it (design.md §4).

A compaction of another engine leaves no mark. It merges by requested times, logs among themselves first (the deletes
that one of ours kept are a log to it), and forgets deletes. From its barrier on whoever looks for the mark merges the
file group as that engine does, until the next compaction of ours.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..protocol import Protocol
from ..table import Plan, Table


@cache
def theirs(protocol: Protocol) -> Protocol:
    """The protocol with the merge of the other engine."""
    return replace(protocol, merge_order="requested", fold="logs_first", tombstones="drop")


def rules_on(table: Table, group: int, base: int | None, protocol: Protocol) -> Protocol:
    """The protocol by which logs are merged with the base file of a file group that was requested at `base`."""
    for plan in table.plans:
        if plan.unmarked and plan.requested == base and plan.of(group) and protocol.unmarked == "by_its_maker":
            return theirs(protocol)
    return protocol


def rules_of(table: Table, plan: Plan, group: int, protocol: Protocol) -> Protocol:
    """The protocol by which a plan is carried out in a file group: its runner's."""
    part = plan.of(group)
    return theirs(protocol) if plan.unmarked else rules_on(table, group, part.base if part else None, protocol)
