"""Loads rows as base files into empty file groups, and as log files into all other file groups."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import WriteTask
from ..errors import Conflict
from ..files.group_files import Group
from ..files.slices import find_files, pending_plans
from ..reads.retention import refuse_unlisted
from ..timeline import Instant, Timeline, load, put_inflight
from ..writes.batch import as_upserts, refuse_other_rows
from ..writes.commit_protocol import complete, request, undo_on_error
from ..writes.commits import write_commit
from ..writes.conflicts import conflict_of
from ..writes.file_ids import found_file_ids
from .upsert import write

ACTION = "deltacommit"


def run(context: Context, config: TableConfig, data: Any) -> Instant:
    """Write a batch under a new instant, as base files into empty file groups, and as log files into all other file
    groups.

    A bulk insert adds base files only to file groups in which no other write has completed, because base files could
    hide older logs. The writer determines the empty file groups before it writes the rows. Before publishing, the
    writer checks under the lock that the file groups of its base files are still empty. If another write has completed
    in one of the file groups, the bulk insert deletes its own files and raises `Conflict`.
    """
    config.check_writable()
    rows = as_upserts(data, config.schema, config.session_time_zone)
    refuse_other_rows(rows, context.jobs)
    if not config.merge_on_read:  # every write makes base files there
        return write(context, config, rows, "BULK_INSERT")
    requested, sealed = request(context, ACTION)
    with undo_on_error(context, requested, ACTION):
        filled = filled_groups(context, load(context.storage))
        put_inflight(context.storage, requested, ACTION)
        shape, file_ids = table_shape(config, context.rules), found_file_ids(context, config, sealed)
        task = WriteTask(shape, requested, config.max_log_bytes, bulk=True, filled=filled, file_ids=file_ids)
        files = context.jobs.write(rows, task)
    based = {(file.partition, file.file_id) for file in files if file.version is None}
    commit = write_commit(config, requested, "BULK_INSERT", files)
    return complete(
        context,
        requested,
        ACTION,
        files=files,
        commit=commit,
        refused_by=lambda now: (
            overtaken(context, requested, based, now)
            or conflict_of(context, config, requested, files, sealed=sealed, now=now)
        ),
    )


def filled_groups(context: Context, timeline: Timeline) -> frozenset[Group]:
    """Return the file groups that contain a completed instant's file or have a pending compaction plan.

    Under `Rules(bulk_insert="unchecked")`, the function checks nothing and returns an empty set.
    """
    if context.rules.bulk_insert == "unchecked":
        return frozenset()
    timeline = context.whole(timeline)
    refuse_unlisted(context, timeline, "bulk insert")
    files = find_files(context.storage, timeline, context.commits, context.rules)
    planned = pending_plans(timeline, context.commits, context.rules)
    return frozenset({(file.partition, file.file_id) for file in files} | planned.keys())


def overtaken(
    context: Context, requested: str, based: Collection[Group], now: Timeline | None = None
) -> Conflict | None:
    """Return a `Conflict` if another write has published files in one of the file groups `based`. `based` contains the
    file groups that this bulk insert creates. The caller must hold the table's lock.
    """
    taken = sorted(filled_groups(context, now or load(context.storage)) & set(based))
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
