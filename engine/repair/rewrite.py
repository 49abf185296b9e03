"""Writes the rows of a log that no reader sees to the table again, in a new commit.

A rewritten record completes later than the original, so it could win where the original must lose. Therefore only a log
that a snapshot must contain is rewritten (`audit.log_fates`), and of its records only those that win under the
contract's ranks. Rewriting requires EVENT_TIME_ORDERING: with commit-time ordering every rewritten row would win.

The rows of a log file are written as a batch whose id contains the file's path. A batch with a given id is committed at
most once, so the rows are not written twice.
"""

from __future__ import annotations

from posixpath import isabs, normpath

import pyarrow as pa
import pyarrow.compute as pc

from ..actions import operations
from ..audit import Audit, gather
from ..audit.log_fates import LACKING, Fate, LogFates
from ..audit.record import REWRITE, SERVICES
from ..audit.removed_instants import removed_instants
from ..config import TableConfig
from ..context import Context
from ..data.columns import IS_DELETED, RECORD_KEY
from ..data.lacking import LostLog, lacking_keys
from ..data.shape import table_shape
from ..data.tasks import LogInput, ReadTask, WindowTask
from ..errors import BadInput, Damaged, Missing, Unsupported
from ..file_names import LogName, parse_log, split_path
from ..files.group_files import Group
from ..files.slices import load_slices, to_read
from ..reads.tasks import read_task
from ..timeline import Instant, load_settled

_NAME_ONE = "name a log that validate reports"


def rewrite_log(context: Context, config: TableConfig, path: str) -> Instant:
    """Write the rows and deletes of the log file at `path` that a snapshot must return, and does not, to the table in a
    new commit. A repeated call for one log file writes nothing and returns the instant of the first call.

    Raises `BadInput` if the log does not exist, or if a snapshot must not contain it or already does. Raises `Damaged`
    while completed instants are missing from the timeline, because they may have replaced the rows. Raises
    `Unsupported` unless the table merges whole rows by event time, and only nbcc has compacted the file group.
    """
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
    try:
        rows = context.jobs.read([WindowTask(shape, (LogInput(path, name.instant),))], shape.window_schema)
    except Missing:
        raise BadInput(asked, "there is no such file", _NAME_ONE) from None
    rows = rows.filter(pc.is_in(rows[RECORD_KEY], _lacking(context, config, audit, fates, group, path)))
    columns = [*config.schema.names, *({IS_DELETED} - {*config.schema.names})]
    instant: Instant = operations()["upsert"].run(context, config, rows.select(columns), retries=3, batch_id=batch_id)
    return instant


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


def _lacking(
    context: Context, config: TableConfig, audit: Audit, fates: LogFates, group: Group, path: str
) -> pa.Array:
    """Return the keys of the log whose records a snapshot must return, and does not. The other logs that readers lack
    in the file group count as well: one of them may have deleted a row of this log.
    """
    lost = [log for log, fate in fates.of_file_group(group) if fate.kind in LACKING]
    lost.sort(key=lambda log: (log.completed or "", log.requested, log.version, log.token))
    inputs = [LostLog(LogInput(log.path, log.requested), log.completed or "") for log in lost]
    keys = lacking_keys(context.storage, _current(context, config, group), inputs, audit.completed)
    return keys[[log.path for log in lost].index(path)]


def _current(context: Context, config: TableConfig, group: Group) -> ReadTask:
    """Return the read of one file group by a snapshot."""
    timeline = context.whole(load_settled(context.storage, context.rules, commits=context.commits))
    slices = to_read(load_slices(context.storage, timeline, context.commits, context.rules), context.rules)
    found = next((piece for piece in slices if piece.group == group), None)
    if found is None:
        return ReadTask(table_shape(config, context.rules), *group)
    return read_task(found, config, context.rules)
