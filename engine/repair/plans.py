"""Pending compaction plans, and giving one up (hudi-format §13.2).

Logs are not tied to a plan by their names: without it they fall back into the slice before. So a plan is given up by
deleting first what it has written, then its inflight instant, then the plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audit import Audit
from ..errors import BadInput, Conflict
from ..file_names import in_partition
from ..storage import Storage
from ..timeline import load
from ..timeline.timeline import FOLDER


@dataclass(frozen=True, slots=True)
class PendingPlan:
    """`gone` are inputs that do not lie there any more, `written` files that the plan's runner has put already."""

    barrier: str
    state: str
    groups: int
    logs: int
    gone: tuple[str, ...]
    written: tuple[str, ...]


def pending_plans(found: Audit) -> tuple[PendingPlan, ...]:
    """The compactions that have not completed, by barrier."""
    plans = []
    for instant in found.timeline.pending_compactions:
        plan = found.plans.get(instant.requested)
        operations = plan.operations if plan else ()
        inputs = [
            in_partition(each.partition, name)
            for each in operations
            for name in (*([each.base_file] if each.base_file else []), *each.logs)
        ]
        plans.append(
            PendingPlan(
                instant.requested,
                instant.state,
                len(operations),
                sum(len(each.logs) for each in operations),
                tuple(path for path in inputs if path not in found.listing),
                tuple(path for path, file in found.files.items() if file.requested == instant.requested),
            )
        )
    return tuple(plans)


def drop_plan(storage: Storage, plan: PendingPlan) -> list[str]:
    """Give a plan up; the paths that were deleted, in their order. Call it under the table's lock.

    Raises `Conflict` if it has completed meanwhile, `BadInput` if it is not there any more.
    """
    timeline = load(storage)
    instant = timeline.find(plan.barrier, "compaction")
    asked = f"give up the compaction {plan.barrier}"
    if instant is None:
        raise BadInput(asked, "the timeline does not hold it", "list the pending plans again")
    if instant.completed is not None:
        raise Conflict(asked, f"it completed at {instant.completed}", "leave it: a completed compaction is no plan")
    names = [f"{FOLDER}/{plan.barrier}.compaction.{state}" for state in ("inflight", "requested")]
    there = {entry.path for entry in storage.list(FOLDER)}
    paths = [*plan.written, *(name for name in names if name in there)]
    for path in paths:
        storage.delete(path)
    return paths
