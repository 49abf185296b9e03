"""Creates a savepoint of the table's state after a completed instant.

Until the savepoint is deleted, cleans keep its files, and a restore can return the table to the savepoint.

A savepoint has the requested time of the instant that it preserves. The operation holds the table's lock while it lists
the timeline, finds the data files that the savepoint retains, and publishes the savepoint. Cleans are planned under the
same lock, so every clean planned after the savepoint keeps the savepoint's files. The operation raises `Cleaned` if the
table is no longer readable as of the instant's completion time.
"""

from __future__ import annotations

from ..clock import to_millis
from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..lock import held
from ..reads.retention import refuse_cleaned, refuse_unlisted
from ..reads.times import Time
from ..services.savepoints import files_as_of, to_pin
from ..timeline import Instant, completion_of, put_completed, put_inflight
from ..timeline.savepoints import ACTION, Savepoint, by_partition, encode_savepoint
from ..writes.claims import new_time


def run(
    context: Context, config: TableConfig, instant: Time | None = None, *, comment: str = "", user: str = ""
) -> Instant:
    """Create a savepoint of a completed instant (default: the newest), so that cleans retain the files of the
    table's state at that instant.
    """
    config.check_writable()
    if not (isinstance(comment, str) and isinstance(user, str)):
        raise BadInput(f"make a savepoint with comment={comment!r}, user={user!r}", "these are texts", "give texts")
    with held(context.lock):
        active = context.active()
        timeline = context.history(active).whole
        chosen = to_pin(active, instant)
        asked = f"make a savepoint of {chosen.requested}"
        if any(each.requested == chosen.requested for each in active.savepoints):
            raise BadInput(asked, "it has one already", "use that one")
        refuse_unlisted(context, timeline, asked)
        refuse_cleaned(context, timeline, completion_of(chosen), f"{asked}, completed at")
        files = files_as_of(context, timeline, completion_of(chosen))
        put_inflight(context.storage, chosen.requested, ACTION, again=True)
        completed = new_time(context, active, claimed=False)
        saved = Savepoint(by_partition(files), user or "nbcc", comment, to_millis(completed))
        return put_completed(context.storage, chosen.requested, completed, ACTION, encode_savepoint(saved))
