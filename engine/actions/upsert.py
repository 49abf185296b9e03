"""Inserts and updates rows; a row with `_hoodie_is_deleted` true is a delete."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..arguments import texts
from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import WriteTask
from ..errors import Conflict
from ..files.slices import load_slices, to_read
from ..reads.tasks import base_input
from ..reads.times import Time, instant_of
from ..timeline import Instant, Timeline, put_inflight
from ..writes.batch import as_partial_upserts, as_upserts, refuse_other_rows, set_columns
from ..writes.commit_protocol import complete, request, undo_on_error
from ..writes.commits import write_commit
from ..writes.conflicts import NO_READS, ReadSet, conflict_of
from ..writes.file_ids import found_file_ids
from ..writes.idempotency import UNNAMED, Batch, Repeated, answer, check, digest_of_files, extra


def run(
    context: Context,
    config: TableConfig,
    data: Any,
    *,
    retries: int = 0,
    reads: Collection[str] | None = None,
    based_on: Time | None = None,
    batch_id: str | None = None,
    replay_difference: str = "refuse",
    columns: Collection[str] | None = None,
) -> Instant:
    """Write a batch under a new instant, concurrently with other writers (RFC-66).

    An optimistic writer deletes its files and raises `Conflict` if another write to the same buckets has completed
    since the writer began (RFC-22). `retries` is the number of further attempts after a conflict, each with a new
    instant. If the rows were computed from the result of a read, `based_on` is the time of that read. If that read was
    limited to some partitions, `reads` lists their paths. If a write to a partition in `reads` has completed after
    `based_on`, `upsert` raises `Conflict` without a retry.

    `columns` lists the columns to set in addition to the key, partition and ordering columns (partial update).

    `batch_id` identifies the batch. If a batch with this id has been committed, the new rows are not written, but
    compared with the committed rows. If the rows are equal, `upsert` returns the instant of the committed batch. If
    they differ, `upsert` raises `Conflict`, or only warns if `replay_difference` is "keep".

    Several rows of the batch with the same key are merged by the table's rules. A batch without rows is committed
    without files, as in Hudi (hoodie.allow.empty.commit). Raises `BadInput` and publishes nothing if the batch is
    invalid.
    """
    config.check_writable()
    check(batch_id, replay_difference)
    sets, read_set = set_columns(config, columns), _read_set(reads, based_on)
    if sets is None:
        rows = as_upserts(data, config.schema, config.session_time_zone)
    else:
        rows = as_partial_upserts(data, config, sets)
    batch = Batch(batch_id, replay_difference)
    return write(context, config, rows, "UPSERT", retries=retries, read_set=read_set, batch=batch, sets=sets)


def _read_set(reads: Collection[str] | None, based_on: Time | None) -> ReadSet:
    if reads is not None:
        reads = texts(reads, f"write a batch with reads={reads!r}")
    if based_on is None:
        return ReadSet(reads or ())
    return ReadSet(reads, instant_of(based_on, "write what is based on a read"))


def write(
    context: Context,
    config: TableConfig,
    data: Any,
    operation: str,
    *,
    retries: int = 0,
    read_set: ReadSet = NO_READS,
    batch: Batch = UNNAMED,
    sets: frozenset[str] | None = None,
) -> Instant:
    """Write a batch that has already been converted to the table's schema."""
    refuse_other_rows(data, context.jobs)
    while True:
        try:
            return _attempt(context, config, data, operation, read_set=read_set, batch=batch, sets=sets)
        except Conflict as conflict:
            if conflict.against is None or retries < 1 or read_set.as_of is not None:
                raise
            retries -= 1


def _attempt(
    context: Context,
    config: TableConfig,
    data: Any,
    operation: str,
    *,
    read_set: ReadSet,
    batch: Batch,
    sets: frozenset[str] | None,
) -> Instant:
    """Try once to write the batch under a new instant. If the batch has already been committed, its rows are only
    compared with the committed rows.
    """
    action = action_of(config)
    try:
        requested, sealed = request(context, action, batch.id, starts=config.merge_on_read)
    except Repeated as written:  # the lock is free again: hashing the batch may take long
        digest = context.jobs.digest(data, table_shape(config, context.rules), sets)
        return answer(context, written, digest, batch.replay_difference)
    with undo_on_error(context, requested, action):
        task = replace(write_task(context, config, requested, sealed), sets=sets, digests=batch.id is not None)
        if not config.merge_on_read:  # its task was made from reads that precede the inflight state
            put_inflight(context.storage, requested, action)
        files = context.jobs.write(data, task)
    digest = digest_of_files(files)
    try:
        return complete(
            context,
            requested,
            action,
            files=files,
            commit=write_commit(config, requested, operation, files, extra(batch.id, digest)),
            batch_id=batch.id,
            refused_by=lambda now: conflict_of(
                context, config, requested, files, sealed=sealed, now=now, read_set=read_set
            ),
            may_ask_early=True,
        )
    except Repeated as written:
        return answer(context, written, digest, batch.replay_difference)


def action_of(config: TableConfig) -> str:
    """Return the action of a write: "deltacommit" if it adds log files, "commit" if it rewrites base files."""
    return "deltacommit" if config.merge_on_read else "commit"


def write_task(context: Context, config: TableConfig, requested: str, sealed: Timeline) -> WriteTask:
    """Return the task that writes the data files of an instant. In a copy-on-write table, the task rewrites the base
    files that were current when the instant was requested.
    """
    shape = table_shape(config, context.rules)
    file_ids = found_file_ids(context, config, sealed)
    if config.merge_on_read:
        parts = config.tasks_per_group
        return WriteTask(shape, requested, config.max_log_bytes, file_ids=file_ids, tasks_per_group=parts)
    slices = to_read(load_slices(context.storage, context.whole(sealed), context.commits, context.rules), context.rules)
    onto = {piece.group: base_input(piece.base) for piece in slices if piece.base}
    return WriteTask(shape, requested, onto=onto, file_ids=file_ids)
