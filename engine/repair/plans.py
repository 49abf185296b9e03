"""Lists pending compaction plans, and removes a plan.

Only the plan file shows which compaction will merge a log; the name of the log file does not. After a plan is removed,
its logs belong to the previous file slice. To remove a plan, the repair deletes the compaction's data files, then its
inflight instant, and finally the plan file.
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
    """A pending compaction plan. `gone` contains the input files of the plan that no longer exist. `written` contains
    the data files that the compaction has already written.
    """

    barrier: str
    state: str
    groups: int
    logs: int
    gone: tuple[str, ...]
    written: tuple[str, ...]


def pending_plans(audit: Audit) -> tuple[PendingPlan, ...]:
    """Return the pending compaction plans, sorted by requested time."""
    plans = []
    for instant in audit.timeline.pending_compactions:
        plan = audit.plans.get(instant.requested)
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
                tuple(path for path in inputs if path not in audit.listing),
                tuple(path for path, file in audit.files.items() if file.requested == instant.requested),
            )
        )
    return tuple(plans)


def drop_plan(storage: Storage, plan: PendingPlan) -> list[str]:
    """Remove a pending compaction plan, and return the deleted paths in the order of deletion. The caller of
    `drop_plan` holds the table's lock.

    Raises `Conflict` if the compaction of the plan has completed, and `BadInput` if the plan no longer exists.
    """
    timeline = load(storage)
    instant = timeline.find(plan.barrier, "compaction")
    asked = f"drop the plan of the compaction {plan.barrier}"
    if instant is None:
        raise BadInput(asked, "it is not on the timeline", "list the pending plans again")
    if instant.completed is not None:
        raise Conflict(asked, f"it completed at {instant.completed}", "leave it: only pending plans can be dropped")
    names = [f"{FOLDER}/{plan.barrier}.compaction.{state}" for state in ("inflight", "requested")]
    present = {entry.path for entry in storage.list(FOLDER)}
    paths = [*plan.written, *(name for name in names if name in present)]
    for path in paths:
        storage.delete(path)
    return paths
