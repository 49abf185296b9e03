"""Writes the rows of a log that no reader sees to the table again, in a new commit.

A rewritten record completes later than the original, so it could win where the original must lose. Therefore only a log
that a snapshot must contain is rewritten (`audit.log_fates`), and of its records only those that win under the
contract's ranks. Rewriting requires EVENT_TIME_ORDERING: with commit-time ordering every rewritten row would win.

The rows are chosen before the lock is taken, because reading a file group may take long. Under the lock, the write is
refused if the file group has changed in the meantime, and the rows are chosen again.

The rows of a log file are written as a batch whose id contains the file's path. A batch with a given id is committed at
most once, so the rows are not written twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import isabs, normpath
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ..audit import Audit, gather
from ..audit.log_fates import LACKING, Fate, LogFates
from ..audit.record import REWRITE, SERVICES
from ..audit.removed_instants import removed_instants
from ..config import TableConfig
from ..context import Context
from ..data.columns import IS_DELETED, RECORD_KEY
from ..data.lacking import LostLog, lacking_keys
from ..data.shape import table_shape
from ..data.tasks import ReadTask, WindowTask
from ..errors import BadInput, Conflict, Damaged, LockTimeout, Missing, Unsupported
from ..file_names import LogName, parse_log, split_path
from ..files.group_files import Group, LogFile
from ..files.slices import load_slices, to_read
from ..reads.tasks import log_inputs, read_task
from ..reads.travel import settled
from ..timeline import Instant, Timeline
from ..timeline.history import Active
from ..writes.batch import as_upserts
from ..writes.conflicts import completed_since, may_conflict, place
from ..writes.data_write import write
from ..writes.idempotency import Batch

TRIES: Final = 4

_NAME_ONE: Final = "name a log that validate reports"


def rewrite_log(context: Context, config: TableConfig, path: str) -> Instant:
    """Write the rows and deletes of the log file at `path` that a snapshot must return, and does not, to the table in a
    new commit. A repeated call for one log file writes nothing and returns the instant of the first call.

    Raises `BadInput` if the log does not exist, or if a snapshot must not contain it or already does. Raises `Damaged`
    while completed instants are missing from the timeline, because they may have replaced the rows, and if the content
    of a log differs from its checksum. Raises `Unsupported` unless the table merges whole rows by event time, and only
    nbcc has compacted the file group. Raises `Conflict` if the file group changes again and again, or if a write is
    pending that will replace it.
    """
    config.check_writable()
    for _ in range(TRIES - 1):
        try:
            return _rewrite(context, config, path)
        except LockTimeout:
            raise
        except Conflict:  # other rows may win now
            continue
    return _rewrite(context, config, path)


def _rewrite(context: Context, config: TableConfig, path: str) -> Instant:
    asked, path = f"write the rows of {path} again", normpath(path)  # canonical, because the batch id contains it
    name = _log_name(path, asked)
    if config.merge_mode != "EVENT_TIME_ORDERING" or config.merge_function or config.partial_update:
        exists = "in this table old rows may win against newer ones if they are written later"
        raise Unsupported(asked, exists, "compare the rows of the file with the table, and write the missing ones")
    audit = gather(context.storage)
    fates, group = LogFates(audit), (split_path(path)[0], name.file_id)
    fate, batch_id = fates.of(path), f"{REWRITE}{path}"
    if fate is not None and fate.kind == "rewritten":
        return next(commit.instant for commit in audit.commits.values() if commit.batch == batch_id)
    _refuse(audit, fate, group, asked)
    shape = table_shape(config, context.rules)
    lost = _lost_logs(fates, group)
    source = next(log for log in lost if log.path == path)
    try:
        rows = context.jobs.read([WindowTask(shape, log_inputs([source]))], shape.window_schema)
    except Missing:
        raise BadInput(asked, "there is no such file", _NAME_ONE) from None
    rows = rows.filter(pc.is_in(rows[RECORD_KEY], _lacking(context, config, audit, group, lost)[lost.index(source)]))
    columns = [*config.schema.names, *({IS_DELETED} - {*config.schema.names})]
    chosen_at = audit.timeline.with_archived(Timeline.of(audit.archive))
    return write(
        context,
        config,
        as_upserts(rows.select(columns), config),
        "UPSERT",
        batch=Batch(batch_id),
        refused_by=lambda now: _changed(context, chosen_at, now, group, asked),
    )


def _changed(context: Context, before: Timeline, now: Active, group: Group, asked: str) -> Conflict | None:
    """Return a `Conflict` if other records of the file group may win than in the timeline `before`. A compaction
    changes no winner.
    """
    whole = context.history(now).whole
    if {i.key for i in whole.instants if i.action == "restore"} - {i.key for i in before.instants}:
        return Conflict(asked, "a restore has meanwhile been planned", "validate the table again")
    for instant in completed_since(context, [each.requested for each in before.completed], whole):
        commit = context.commits.commit(instant)
        touched = {place(stat.partition, stat.file_id) for stat in commit.stats}
        if commit.replaced or (may_conflict(context, whole, instant) and place(*group) in touched):
            exists = f"the {instant.action} {instant.requested} has meanwhile written to its file group"
            return Conflict(asked, exists, "run the command again when fewer writes run", against=instant.requested)
    for instant in now.pending_compactions:
        plan = context.commits.plan(instant.requested)
        # It hides what completed before its plan, so it would not hide the rows that complete now.
        if plan.replaces and group in plan.groups:
            exists = f"the write {instant.requested} is pending, and replaces the file group when it completes"
            return Conflict(asked, exists, "wait until it has completed, or roll it back")
    return None


def _log_name(path: str, asked: str) -> LogName:
    name = parse_log(split_path(path)[1])
    if name is None or name.cdc:
        raise BadInput(asked, "that is not the name of a log file", _NAME_ONE)
    if isabs(path) or path.startswith("../"):
        raise BadInput(asked, "that is not a path below the table", "name the file as validate does")
    return name


def _refuse(audit: Audit, fate: Fate | None, group: Group, asked: str) -> None:
    """Raise an error unless readers may lack rows of the log that a snapshot must contain."""
    if removed := removed_instants(audit):
        requested, proof = min(removed.items())
        exists = f"the instant {requested} is on no timeline, and {proof}: its timeline files were removed"
        raise Damaged(asked, exists, "restore them from a copy, and validate the table again")
    if fate is None:
        raise BadInput(asked, "no completed commit of the table lists it, or a restore has undone it", _NAME_ONE)
    if fate.kind == "read":
        raise BadInput(asked, "every reader sees them already", _NAME_ONE)
    if fate.kind not in LACKING:
        raise BadInput(asked, f"a snapshot must not contain them again: {fate.because}", _NAME_ONE)
    for commit in audit.commits.values():
        here = any(split_path(s.path)[0] == group[0] and group[1] in split_path(s.path)[1] for s in commit.stats)
        if commit.operation in SERVICES and not commit.own and here:
            exists = f"the service {commit.instant.requested} of another engine has dropped deletes of the file group"
            raise Unsupported(asked, exists, "compare the rows of the file with the source, and write the missing ones")


def _lost_logs(fates: LogFates, group: Group) -> list[LogFile]:
    """Return the logs of the file group that readers lack, oldest first."""
    lost = (log for log, fate in fates.of_file_group(group) if fate.kind in LACKING)
    return sorted(lost, key=lambda log: (log.completed or "", log.requested, log.version, log.token))


def _lacking(
    context: Context, config: TableConfig, audit: Audit, group: Group, lost: Sequence[LogFile]
) -> list[pa.Array]:
    """For each log in `lost`, return the keys whose records a snapshot must return, and does not. All logs that readers
    lack in the file group are needed: one of them may have deleted a row of another.
    """
    inputs = [LostLog(each, log.completed or "") for each, log in zip(log_inputs(lost), lost, strict=True)]
    return lacking_keys(context.storage, _current(context, config, group), inputs, audit.completed)


def _current(context: Context, config: TableConfig, group: Group) -> ReadTask:
    """Return the read of one file group by a snapshot."""
    timeline = settled(context)
    slices = to_read(load_slices(context.storage, timeline, context.commits, context.rules), context.rules)
    found = next((piece for piece in slices if piece.group == group), None)
    if found is None:
        return ReadTask(table_shape(config, context.rules), *group)
    return read_task(found, config, context.rules)
