"""Loads rows as base files into empty file groups, and as log files into all other file groups.

A bulk insert adds base files only to file groups in which no other write has completed, because base files could hide
older logs. The writer determines the empty file groups before it writes the rows. Before publishing, the writer checks
under the lock that the file groups of its base files are still empty.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from ..config import TableConfig
from ..config.table_config import RESIZED
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import WriteTask, WrittenFile
from ..errors import Conflict
from ..files.group_files import Group
from ..files.slices import find_files, pending_plans
from ..timeline import Instant, put_inflight
from ..timeline.announcements import Footprint
from ..timeline.history import Active
from ..writes.announced import complete_announced
from ..writes.batch import as_upserts, refuse_other_rows
from ..writes.commit_protocol import request, undo_on_error
from ..writes.commits import write_commit
from ..writes.conflicts import NO_READS, conflict_of, footprint_of, place
from ..writes.data_write import write
from ..writes.decision_log import decides_without_lock
from ..writes.file_ids import file_ids_by_bucket
from ..writes.locations import inserted_elsewhere, with_known_keys
from ..writes.mapping import complete_in_current_groups, current_generation, to_generation
from ..writes.unlocked_request import request_at_reserved_time

ACTION = "deltacommit"


def run(context: Context, config: TableConfig, data: Any) -> Instant:
    """Write rows as base files into empty file groups, and as log files into all other file groups.

    Raises `Conflict` and publishes nothing if another write completes first in a file group that was empty when the
    bulk insert began. In a table with a record index of all keys, it also raises `Conflict` if a key is in two
    partitions: a bulk insert that has completed first may have inserted it.
    """
    config.check_writable()
    rows = as_upserts(data, config)
    refuse_other_rows(rows, context.jobs)
    if not config.merge_on_read:  # every write makes base files there
        return write(context, config, rows, "BULK_INSERT")
    begin = request_at_reserved_time if decides_without_lock(context) else request
    requested, at_request = begin(context, ACTION)
    with undo_on_error(context, requested, ACTION):
        # Under a lock listed again after the request: what has completed until now would only make the check below
        # fail.
        filled = filled_groups(context, at_request if decides_without_lock(context) else context.active())
        put_inflight(context.storage, requested, ACTION)
        shape, file_ids = table_shape(config, context.rules), file_ids_by_bucket(context, config, at_request)
        task = WriteTask(shape, requested, config.max_log_bytes, bulk=True, filled=filled, file_ids=file_ids)
        # Only a resized table needs a listing from after the request, to read the mapping of keys.
        listed = context.active() if RESIZED in config.writer_features else at_request
        task = to_generation(task, current_generation(context, config, listed))
        task = with_known_keys(context, config, task, listed, inserts=True)
        files = context.jobs.write(rows, task)
    commit = partial(write_commit, config, requested, "BULK_INSERT")
    if decides_without_lock(context):
        bases = tuple(sorted({place(*group) for group in _based(files)}))
        known = tuple(sorted(instant.requested for instant in at_request.completed))
        footprint = footprint_of(context, config, files, at_request, NO_READS) or Footprint((), known=known)
        return complete_announced(
            context, requested, ACTION, files=files, commit=commit(files), footprint=footprint._replace(bases=bases)
        )

    def refusal(now: Active | None, files: Sequence[WrittenFile]) -> Conflict | None:
        now = now or context.active()
        overtaker = overtaken(context, requested, _based(files), now)
        overtaker = overtaker or inserted_elsewhere(context, config, requested, task.known, now)
        return overtaker or conflict_of(context, config, requested, files, at_request=at_request, now=now)

    return complete_in_current_groups(
        context, config, requested, ACTION, files=files, commit=commit, refused_by=refusal
    )


def _based(files: Sequence[WrittenFile]) -> set[Group]:
    """Return the file groups for which a bulk insert has written a base file."""
    return {(file.partition, file.file_id) for file in files if file.version is None}


def filled_groups(context: Context, active: Active) -> frozenset[Group]:
    """Return the file groups that contain a completed instant's file or have a pending compaction plan.

    Under `Rules(bulk_insert="unchecked")`, the function checks nothing and returns an empty set.
    """
    if context.rules.bulk_insert == "unchecked":
        return frozenset()
    timeline = context.history(active).whole
    files = find_files(context.storage, timeline, context.commits, context.rules)
    planned = pending_plans(timeline, context.commits, context.rules)
    return frozenset({(file.partition, file.file_id) for file in files} | planned.keys())


def overtaken(
    context: Context, requested: str, based: Collection[Group], now: Active | None = None
) -> Conflict | None:
    """Return a `Conflict` if another write has published files in one of the file groups `based`. `based` contains the
    file groups that this bulk insert creates. The caller must hold the table's lock.
    """
    taken = sorted(filled_groups(context, now or context.active()) & set(based))
    if not taken:
        return None
    partition, file_id = taken[0]
    where = f"{partition}/{file_id}" if partition else file_id
    return Conflict(
        f"publish the bulk insert {requested}",
        f"while it wrote, another write has completed in {len(taken)} of its {len(based)} new file groups, "
        f"the first being {where}; a base file would hide it or lose against it",
        "run it again: into groups that have files it writes log files, as an upsert does",
    )
