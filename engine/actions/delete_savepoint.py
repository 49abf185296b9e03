"""Deletes a savepoint, so that later cleans may delete the files that the savepoint retained.

The operation holds the table's lock, so no clean is planned at the same time. The completed file is deleted first: a
savepoint without its completed file retains nothing, and can be deleted again.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..services.savepoints import to_use
from ..timeline import Instant, completion_of
from ..timeline.savepoints import ACTION
from ..timeline.timeline import FOLDER
from ..writes.decided_plans import latest_decision
from ..writes.deciding import own_entry
from ..writes.decision_log import decides_without_lock, in_order


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant:
    """Delete a savepoint, by default the oldest. After the deletion, cleans may delete files that only the deleted
    savepoint retained.
    """
    config.check_writable()
    with in_order(context):
        timeline = context.active()
        there = timeline.savepoints
        left = [each for each in timeline.pending if each.action == ACTION]
        if instant is None and (there or left):
            savepoint = min(there, key=completion_of) if there else left[0]
        else:
            requested = instant.requested if isinstance(instant, Instant) else str(instant or "")
            pending = (each for each in left if each.requested == requested)
            savepoint = next(pending, None) or to_use(timeline, instant, "drop the savepoint")
        # An actor that finds an item of the last entry missing puts it on the timeline.
        while decides_without_lock(context) and (last := latest_decision(context)) and last.item(savepoint.requested):
            # A new entry makes the one with the savepoint an earlier one, which no actor carries out again.
            own_entry(context)
        inflight = Instant(savepoint.requested, ACTION, "inflight")
        context.storage.delete_all([f"{FOLDER}/{each.file_name}" for each in dict.fromkeys((savepoint, inflight))])
    return savepoint
