"""Takes a log file that readers ignore, and writes its rows to the table in a new commit.

Rewriting requires EVENT_TIME_ORDERING. With commit-time ordering, the rewritten rows would win over newer rows. The
rows of a log file are written as a batch whose id contains the file's path. A batch with a given id is committed at
most once, so the rows are not written twice.
"""

from __future__ import annotations

from posixpath import isabs, normpath

from ..actions import operations
from ..audit.record import REWRITE
from ..config import TableConfig
from ..context import Context
from ..data.columns import IS_DELETED
from ..data.shape import table_shape
from ..data.tasks import LogInput, WindowTask
from ..errors import BadInput, Missing, Unsupported
from ..file_names import parse_log, split_path
from ..files.slices import load_slices, to_read
from ..timeline import Instant, load_settled


def rewrite_log(context: Context, config: TableConfig, path: str) -> Instant:
    """Write the rows and deletes of the log file at `path` to the table in a new commit. A repeated call for one log
    file writes nothing and returns the instant of the first call.

    Raises `BadInput` if the log does not exist, or if readers already see its rows. Raises `Unsupported` unless the
    table merges whole rows by event time.
    """
    asked, path = f"write the rows of {path} again", normpath(path)  # canonical, because the batch id contains it
    name = parse_log(split_path(path)[1])
    if name is None or name.cdc:
        raise BadInput(asked, "that is not the name of a log file", "name a log that validate reports")
    if isabs(path) or path.startswith("../"):
        raise BadInput(asked, "that is not a path below the table", "name the file as validate does")
    if config.merge_mode != "EVENT_TIME_ORDERING" or config.merge_function or config.partial_update:
        exists = "in this table old rows may win against newer ones if they are written later"
        raise Unsupported(asked, exists, "compare the rows of the file with the table, and write the missing ones")
    _refuse_seen(context, path, asked)
    shape = table_shape(config, context.rules)
    try:
        task = WindowTask(shape, (LogInput(path, name.instant),))
        rows = context.jobs.read([task], shape.window_schema)
    except Missing:
        raise BadInput(asked, "there is no such file", "name a log that validate reports") from None
    columns = [*config.schema.names, *({IS_DELETED} - {*config.schema.names})]
    instant: Instant = operations()["upsert"].run(
        context, config, rows.select(columns), retries=3, batch_id=f"{REWRITE}{path}"
    )
    return instant


def _refuse_seen(context: Context, path: str, asked: str) -> None:
    """Raise `BadInput` if readers already return the rows of the log `path`. If a log that readers use were rewritten,
    its rows would win over newer rows with equal ordering values.
    """
    timeline = context.whole(load_settled(context.storage, context.rules, commits=context.commits))
    slices = to_read(load_slices(context.storage, timeline, context.commits, context.rules), context.rules)
    if any(path == file.path for segment in slices for log in segment.logs for file in log.files):
        raise BadInput(asked, "every reader sees them already", "name a log that validate reports")
