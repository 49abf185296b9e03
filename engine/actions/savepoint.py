"""Creates a savepoint of the table's state after a completed instant.

Until the savepoint is deleted, cleans keep its files, and a restore can return the table to the savepoint.

A savepoint has the requested time of the instant that it preserves. The operation holds the table's lock while it lists
the timeline, finds the data files that the savepoint retains, and publishes the savepoint. Cleans are planned under the
same lock, so every clean planned after the savepoint keeps the savepoint's files. Without the lock, the savepoint is
announced, and an entry of the decision log decides it unless a plan was decided since the files were found. The
operation raises `Cleaned` if the table is no longer readable as of the instant's completion time.
"""

from __future__ import annotations

from ..clock import to_millis
from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..reads.retention import refuse_cleaned
from ..reads.times import Time
from ..services.savepoints import files_as_of, to_pin
from ..timeline import Instant, completion_of, put_completed, put_inflight
from ..timeline.announcements import Announced, Announcement
from ..timeline.decisions import LogEntry
from ..timeline.savepoints import ACTION, Savepoint, by_partition, encode_savepoint
from ..timeline.timeline import FOLDER
from ..writes.announced import decide_all_announced, plan_announced
from ..writes.claims import new_time
from ..writes.decided_plans import history_of, latest_decision
from ..writes.decision_log import decides_without_lock, in_order


def run(
    context: Context, config: TableConfig, instant: Time | None = None, *, comment: str = "", user: str = ""
) -> Instant:
    """Create a savepoint of a completed instant (default: the newest), so that cleans retain the files of the
    table's state at that instant.
    """
    config.check_writable()
    if not (isinstance(comment, str) and isinstance(user, str)):
        raise BadInput(f"make a savepoint with comment={comment!r}, user={user!r}", "these are texts", "give texts")
    with in_order(context):
        last = latest_decision(context) if decides_without_lock(context) else None
        history = history_of(context, last)
        active, timeline = history.active, history.whole
        chosen = to_pin(active, instant)
        asked = f"make a savepoint of {chosen.requested}"
        if any(each.requested == chosen.requested for each in active.savepoints):
            raise BadInput(asked, "it has one already", "use that one")
        refuse_cleaned(context, timeline, completion_of(chosen), f"{asked}, completed at")
        files = files_as_of(context, timeline, completion_of(chosen))
        # `again`: a savepoint that was interrupted has left its inflight state.
        put_inflight(context.storage, chosen.requested, ACTION, again=True)
        completed = last.time if last is not None else new_time(context, active, claimed=False)
        saved = encode_savepoint(Savepoint(by_partition(files), user or "nbcc", comment, to_millis(completed)))
        if last is None:
            return put_completed(context.storage, chosen.requested, completed, ACTION, saved)
        if (decided := _decided(context, last, chosen, saved)) is not None:
            return decided
    return run(context, config, instant, comment=comment, user=user)


def _decided(context: Context, last: LogEntry, pinned: Instant, saved: bytes) -> Instant | None:
    """Announce a savepoint made from the entries up to `last`, and return it once an entry has decided it. Returns None
    if a plan or another savepoint was faster; the instant may not be on the timeline any more.
    """
    name = Announced(pinned.requested, ACTION, is_checked=True)
    own = Announcement(name, saved, context.names.write_token(), planned_from=last.number)
    if (decided := plan_announced(context, own)) is None:
        decide_all_announced(context)  # the other savepoint may be that of a dead process
        context.storage.delete(f"{FOLDER}/{Instant(pinned.requested, ACTION, 'inflight').file_name}")
    return decided
