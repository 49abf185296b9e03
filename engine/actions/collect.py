"""Deletes the leftover files of failed writers, old batch ids, and old entries of the decision log."""

from __future__ import annotations

from ..config import TableConfig
from ..config.maintenance import MaintenancePolicy
from ..context import Context
from ..services.collecting import Leftovers, MarkerPaths, leftovers, lost_locations
from ..writes.claims import forget
from ..writes.decided_plans import latest_decision
from ..writes.decision_log import cut, in_order

_DEFAULT = MaintenancePolicy()


def run(
    context: Context,
    config: TableConfig,
    batch_hours: int = _DEFAULT.batch_hours,
    leftover_seconds: int = _DEFAULT.leftover_seconds,
) -> Leftovers:
    """Delete leftover files that no writer, reader or table service needs, and return their paths. The deleted files
    are old decision-log entries, old claims of times, old batch ids, the markers and heartbeats of completed or
    rolled-back instants, and the files of the record index whose write was rolled back.

    A batch id is deleted if the write of its batch was undone. The id of a completed batch is kept for `batch_hours`,
    or longer if a write of the batch is pending. If a batch is repeated after the deletion of its id, the batch is
    written again. Markers and heartbeats are deleted if their instant is no longer pending and was requested more than
    `leftover_seconds` before the newest completion. A marked data file is deleted before its marker, so that an
    interrupted call can be repeated. Data files that a completed instant lists are kept. The files to delete are
    selected under the table's lock.
    """
    config.check_writable()
    listing = MarkerPaths.of(context)
    with in_order(context):
        last = latest_decision(context)
        timeline = context.active()
        forget(context, timeline)
        cut(context, last)
        history = context.commits.history(timeline)
        chosen = leftovers(context, history, listing, batch_hours, leftover_seconds)
        chosen = chosen._replace(files=(*chosen.files, *lost_locations(context, history, leftover_seconds)))
        if chosen.batch_ids:  # a writer lists them under the lock
            context.storage.delete_all(chosen.batch_ids)
    for paths in (chosen.files, chosen.markers, chosen.heartbeats):
        if paths:
            context.storage.delete_all(paths)
    return chosen
