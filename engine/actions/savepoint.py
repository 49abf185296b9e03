"""Pin the state after a completed instant.

Until the savepoint is deleted, cleans keep the pinned files, and a restore can return to the state.
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
from ..timeline import Instant, completion_of, load, put_completed, put_inflight
from ..timeline.savepoints import ACTION, Savepoint, by_partition, encode_savepoint
from ..writes.commit_protocol import take_time


def run(
    context: Context, config: TableConfig, instant: Time | None = None, comment: str = "", user: str = ""
) -> Instant:
    """Publish a savepoint of `instant` (by default of the newest completed instant) and return it.

    A savepoint has the same requested time as the instant that it pins. One lock covers three steps: list the timeline,
    find the files of a read as of the instant, publish the savepoint. Every clean that is planned afterwards keeps the
    files of the savepoint, because cleans are planned under the same lock. Raises `BadInput` if the instant is not
    completed or already has a savepoint, and `Cleaned` if files of its state were deleted.
    """
    config.check_writable()
    if not (isinstance(comment, str) and isinstance(user, str)):
        raise BadInput(f"make a savepoint with comment={comment!r}, user={user!r}", "these are texts", "give texts")
    with held(context.lock):
        active = load(context.storage)
        timeline = context.whole(active)
        chosen = to_pin(active, instant)
        asked = f"make a savepoint of {chosen.requested}"
        if any(each.requested == chosen.requested for each in active.savepoints):
            raise BadInput(asked, "it has one already", "use that one")
        refuse_unlisted(context, timeline, asked)
        refuse_cleaned(context, timeline, completion_of(chosen), f"{asked}, completed at")
        files = files_as_of(context, timeline, completion_of(chosen))
        put_inflight(context.storage, chosen.requested, ACTION, again=True)
        completed = take_time(context, active)
        saved = Savepoint(by_partition(files), user or "nbcc", comment, to_millis(completed))
        return put_completed(context.storage, chosen.requested, completed, ACTION, encode_savepoint(saved))
