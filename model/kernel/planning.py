"""Planning decides which files a compaction plan includes (RFC-66, "Non-Serial Compaction Plan Schedule").

A new plan covers every file group that has no pending plan. The inputs are the newest slice's base file, and that
slice's logs that completed before the plan's requested time. A file group with no such log is omitted.
"""

from __future__ import annotations

from math import inf

from .slicing import SlicingRules, writes_by_slice
from .table import GroupPlan, Table, Write


class PlanningRules(SlicingRules):
    """The rules that decide which file groups and logs a new plan includes."""

    def may_plan(self, table: Table, group: int) -> bool:
        """True if a new plan may include a file group, because no pending plan includes that group."""
        plans = zip(table.plans, table.completed, strict=True)
        return not any(done is None and plan.part_in(group) for plan, done in plans)

    def plan_takes(self, write: Write, barrier: float) -> bool:
        """True if a write completed before `barrier`, so that a plan requested then includes the write's logs."""
        return (write.completed or inf) < barrier


def plan(rules: PlanningRules, table: Table, groups: int, barrier: float) -> tuple[GroupPlan, ...]:
    """Return the inputs of a plan, one `GroupPlan` for each included file group; () if there is nothing to compact."""
    parts = []
    for group in range(groups):
        if not rules.may_plan(table, group):
            continue
        base = max(rules.barriers(table, group), default=None)
        inside = writes_by_slice(rules, table, group)[base]
        taken = tuple(write for write in inside if rules.plan_takes(write, barrier))
        if logs := rules.merged_logs(table, group, taken, inf):
            parts.append(GroupPlan(group, base, logs))
    return tuple(parts)
