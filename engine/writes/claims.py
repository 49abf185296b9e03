"""Claims: in a table with a decision log, a writer claims the time of an instant by creating an object named after
the time.

If a writer loses its lock after reading the clock, another writer may obtain the same time from its own clock. The
decision log cannot prevent equal requested times, because it contains no entries for the requested states of writes. A
writer claims each time before using it, so that no two instants have the same time. A claim is an object whose name is
the claimed time, and which is created only if it does not exist yet. If another writer has already claimed the time,
the writer reads its clock again and claims the new time.

The function `forget` deletes claims that are more than an hour older than the newest completion time. A writer that
needs more than an hour to create its claim discards the claimed time. The age of a claim can be derived from its time,
because all clocks agree within the bound on clock skew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..clock import to_instant, to_millis
from ..context import Context
from ..errors import Damaged
from ..storage import NotFound, create_or_get
from ..timeline import Timeline
from ..timeline.timeline import FOLDER as HOME
from .decision_log import announces, uses_decision_log

FOLDER: Final = ".hoodie/.nbcc/times"
PATIENCE_SECONDS: Final = 3600.0
"""For how long an actor may use a time that it has read, and for how long its claim must stay."""


def claims_times(context: Context) -> bool:
    """Return whether a writer must claim a time before it publishes an instant with that time."""
    return uses_decision_log(context) and context.rules.claims == "every_time"


def requests_without_lock(context: Context) -> bool:
    """Return whether non-blocking writers request their instants without the table's lock. Tables in which instants are
    announced always do so (`Coordination.requests_without_lock`).
    """
    return context.rules.requests == "put_if_absent" or announces(context)


def refuse_torn(timeline: Timeline) -> None:
    """Raise `Damaged` if the file of a completed instant is empty or truncated."""
    if timeline.torn:
        torn = timeline.torn[0]
        raise Damaged(
            "write to the table",
            f"the completed instant {HOME}/{torn.file_name} is empty or cut short, as a power cut leaves a file",
            f"restore the file from a copy; without one, delete it, roll back {torn.requested} and delete its orphaned "
            "data files: what it wrote is lost",
        )


def advance_clock(context: Context, timeline: Timeline) -> None:
    """Advance this process's clock past the newest time on the timeline."""
    if timeline.newest is not None:
        context.clock.not_before(timeline.newest)


def new_time(context: Context, timeline: Timeline | None = None, *, claimed: bool = True) -> str:
    """Return a requested or completion time for a new instant, greater than all times on `timeline`. The caller must
    hold the table's lock: as long as no writer has lost it, the time differs from those of all other instants. A
    `claimed` time does so even after a lost lock, in a table with a decision log.

    Reads, schema changes and savepoints do not claim their times, which saves a request. An equal time does no harm
    there, because these times decide the slice of no log. A read's time must only be smaller than the completion time
    of every later commit: with a decision log, the read puts its time into the log, and each later entry has a greater
    one. Raises `Damaged` if the file of a completed instant on `timeline` is empty or truncated.
    """
    if timeline is not None:
        refuse_torn(timeline)
        advance_clock(context, timeline)
    if not (claimed and claims_times(context)):
        return context.clock.take()
    return claimed_time(context, context.clock.take)


def claimed_time(context: Context, take: Callable[[], str]) -> str:
    """Take times from the clock until one is not claimed by another writer, and claim it."""
    while True:
        # Not the monotonic clock, which stops while the machine is suspended; nor the table's, whose `take` waits.
        begun = time.time()
        taken = take()
        # A claim that was put later may already be allowed to be deleted, and would then protect nothing.
        if claim(context, taken) and time.time() - begun < PATIENCE_SECONDS:
            return taken


def claim(context: Context, instant: str) -> bool:
    """Create the claim object for the time `instant`; return False if another writer owns the object.

    If the object contains this writer's token, the result is True, because an earlier put of this writer created the
    object.
    """
    path, token = f"{FOLDER}/{instant}", context.names.write_token().encode()
    try:
        return create_or_get(context.storage, path, token) is None
    except NotFound:  # deleted since: it was another's, and old
        return False


def forget(context: Context, timeline: Timeline) -> None:
    """Delete claims on times that are too old for any writer to use."""
    newest = timeline.greatest_completion
    if newest is None or not (claims_times(context) or requests_without_lock(context)):
        return
    bound = to_instant(to_millis(newest) - int(PATIENCE_SECONDS * 1000))
    if requests_without_lock(context):
        # A writer may claim a time again after a pause that its clock does not show. Its request is then refused,
        # because it is older than the archive.
        bound = min(bound, timeline.newest_archived)
    old = [entry.path for entry in context.storage.list(FOLDER) if entry.path.rpartition("/")[2] < bound]
    if old:
        context.storage.delete_all(old)
