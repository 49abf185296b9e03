"""Writes the rows of a batch under a new instant: requests the instant, puts the data files, and completes it.

The way of the rows to disk: `begin_write` puts the requested instant. `context.jobs` runs the `WriteTask` in this
process (`data.jobs.InProcessJobs`) or on Spark (`spark.jobs.SparkJobs`). Both split the rows by file group and call
`data.write.write_group`, which puts a marker before each log or base file. Readers ignore the files until the instant
is completed.

`publish` completes the instant. It calls `mapping.complete_in_current_groups`, which calls `commit_protocol.complete`.
Under the table's lock, after all checks, `complete` takes the completion time (by the default rules) and puts the
completed instant. If instants are announced (decision "shared" or "free"), `publish` calls
`announced.complete_announced` instead, unless the write has a check of its own (`refused_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..config import TableConfig
from ..config.table_config import RESIZED
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import BaseInput, WriteTask, WrittenFile
from ..errors import Conflict
from ..files.record_index import KnownKeys
from ..files.slices import load_slices, to_read
from ..timeline import Instant, put_inflight
from ..timeline.history import Active
from .announced import complete_announced
from .batch import refuse_other_rows
from .commit_protocol import undo_on_error
from .commits import write_commit
from .conflicts import NO_READS, ReadSet, conflict_of, footprint_of
from .decision_log import announces, need_lock
from .file_ids import file_ids_by_bucket
from .idempotency import UNNAMED, Batch, Repeated, batch_metadata, digest_of_files, resolve_repeated
from .locations import Homes, with_known_keys
from .looking_ahead import Outlook, looking_ahead
from .mapping import complete_in_current_groups, current_generation, to_generation
from .unlocked_request import begin_write

Refusal = Callable[[Active], Conflict | None]
"""Returns the error that forbids publishing a write, or None. Unlike the `refused_by` of `commit_protocol.complete`, it
always receives a listed timeline."""


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
    refused_by: Refusal | None = None,
) -> Instant:
    """Write a batch that has already been converted to the table's schema. `refused_by` is called in every concurrency
    mode, as the last check before the write is published: under the table's lock, or before the lock is taken under
    `Rules(conflict_check="before_lock")`.
    """
    refuse_other_rows(data, context.jobs)
    if refused_by is not None:
        need_lock(context)
    while True:
        try:
            return _attempt(context, config, data, operation, read_set, batch, sets, refused_by)
        except Conflict as conflict:
            # A write that has read an earlier state would only repeat the conflict, and its rows are computed from that
            # state.
            if conflict.against is None or retries < 1 or read_set.as_of is not None:
                raise
            retries -= 1


def _attempt(
    context: Context,
    config: TableConfig,
    data: Any,
    operation: str,
    read_set: ReadSet,
    batch: Batch,
    sets: frozenset[str] | None,
    refused_by: Refusal | None,
) -> Instant:
    """Try once to write the batch under a new instant. If the batch has already been committed, its rows are only
    compared with the committed rows.
    """
    action = action_of(config)
    try:
        # A merge-on-read write puts its inflight instant together with the requested one: one access less in sequence.
        requested, at_request = begin_write(context, config, action, batch.id, starts=config.merge_on_read)
    except Repeated as written:  # the lock is free again: hashing the batch may take long
        digest = context.jobs.digest(data, table_shape(config, context.rules), sets)
        return resolve_repeated(context, written, digest, batch.replay_difference)
    with undo_on_error(context, requested, action):
        task = replace(write_task(context, config, requested, at_request), sets=sets, digests=batch.id is not None)
        if not config.merge_on_read:
            # Its base files are chosen as of the request, so it starts writing only after `write_task` has read them.
            put_inflight(context.storage, requested, action)
        # A lone writer reads the decision log while its files are put, which saves requests in sequence.
        with looking_ahead(context) as outlook:
            files = context.jobs.write(data, task)
    digest = digest_of_files(files)
    commit = partial(write_commit, config, requested, operation, more=batch_metadata(batch.id, digest))
    try:
        return publish(
            context, config, requested, at_request=at_request, files=files, commit=commit, batch_id=batch.id,
            read_set=read_set, refused_by=refused_by, outlook=outlook(), known=task.known, is_shared=False,
        )  # fmt: skip
    except Repeated as written:
        return resolve_repeated(context, written, digest, batch.replay_difference)


def publish(
    context: Context,
    config: TableConfig,
    requested: str,
    *,
    at_request: Active,
    files: Sequence[WrittenFile],
    commit: Callable[[Sequence[WrittenFile]], bytes],
    batch_id: str | None,
    read_set: ReadSet = NO_READS,
    refused_by: Refusal | None = None,
    outlook: Outlook | None = None,
    known: KnownKeys | None = None,
    is_shared: bool = True,
) -> Instant:
    """Complete a write under the table's lock, or announce it, so that another actor may complete it. `commit` returns
    the content of the commit of the given files: another list of them if a resize has completed since the write began,
    or if a key is not in its partition. `known` are the locations of keys that the write has looked up.
    `is_shared` states whether another process may attempt the instant, as the tasks of a streaming batch do.
    A write with another check of its own (`refused_by`) is not announced, because no other actor could make that check.
    """
    action = action_of(config)
    if announces(context) and refused_by is None:
        footprint = footprint_of(context, config, files, at_request, read_set)
        return complete_announced(
            context, requested, action, files=files, commit=commit(files), batch_id=batch_id, footprint=footprint,
            outlook=outlook, is_shared=is_shared,
        )  # fmt: skip

    def refusal(now: Active | None, files: Sequence[WrittenFile]) -> Conflict | None:
        conflict = conflict_of(context, config, requested, files, at_request=at_request, now=now, read_set=read_set)
        return conflict or (refused_by(now or context.active()) if refused_by else None)

    with undo_on_error(context, requested, action):
        homes = Homes(context, config, requested, known, files)
    return complete_in_current_groups(
        context, config, requested, action, files=files, commit=commit, batch_id=batch_id, refused_by=refusal,
        may_check_early=True, check_homes=homes.check, is_shared=is_shared,
    )  # fmt: skip


def action_of(config: TableConfig) -> str:
    """Return the action of a write: "deltacommit" if it adds log files, "commit" if it rewrites base files."""
    return "deltacommit" if config.merge_on_read else "commit"


def write_task(context: Context, config: TableConfig, requested: str, at_request: Active) -> WriteTask:
    """Return the task that writes the data files of an instant. In a copy-on-write table, the task rewrites the base
    files that were current when the instant was requested.

    A write to a resized table lists the timeline again, to read the mapping after its request.
    """
    shape = table_shape(config, context.rules)
    file_ids = file_ids_by_bucket(context, config, at_request)
    if config.merge_on_read:
        spark_tasks = config.tasks_per_group
        task = WriteTask(shape, requested, config.max_log_bytes, file_ids=file_ids, tasks_per_group=spark_tasks)
        listed = context.active() if RESIZED in config.writer_features else at_request
        task = to_generation(task, current_generation(context, config, listed))
        return with_known_keys(context, config, task, listed)
    whole = context.history(at_request).whole
    slices = to_read(load_slices(context.storage, whole, context.commits, context.rules), context.rules)
    onto = {piece.group: BaseInput(piece.base.path, piece.base.size) for piece in slices if piece.base}
    return WriteTask(shape, requested, onto=onto, file_ids=file_ids)
