"""Claims: in a table with a decision log, a writer reserves the time of an instant by creating an object named after
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
from typing import Final

from ..clock import to_instant, to_millis
from ..context import Context
from ..errors import Damaged
from ..storage import NotFound
from ..timeline import Timeline
from ..timeline.timeline import FOLDER as HOME
from .decision_log import uses_decision_log

FOLDER: Final = ".hoodie/.nbcc/times"
PATIENCE_SECONDS: Final = 3600.0
"""For how long an actor may use a time that it has read, and for how long its claim must stay."""


def claims_times(context: Context) -> bool:
    """Return whether a writer must claim a time before it publishes an instant with that time."""
    return uses_decision_log(context) and context.rules.claims == "every_time"


def learn(context: Context, timeline: Timeline) -> None:
    """Advance this process's clock past the newest time on the timeline. Raises `Damaged` if the file of a completed
    instant is empty or truncated.
    """
    if timeline.torn:
        torn = timeline.torn[0]
        raise Damaged(
            "write to the table",
            f"the completed instant {HOME}/{torn.file_name} is empty or cut short, as a power cut leaves a file",
            f"restore the file from a copy; without one, delete it, roll back {torn.requested} and delete its orphaned "
            "data files: what it wrote is lost",
        )
    if timeline.newest is not None:
        context.clock.not_before(timeline.newest)


def new_time(context: Context, timeline: Timeline | None = None) -> str:
    """Return a requested or completion time for a new instant. The returned time is greater than all times on
    `timeline`, and differs from the times of all other instants. The caller must hold the table's lock.
    """
    if timeline is not None:
        learn(context, timeline)
    if not claims_times(context):
        return context.clock.take()
    while True:
        begun = time.time()
        found = context.clock.take()
        if _claim(context, found) and time.time() - begun < PATIENCE_SECONDS:
            return found


def _claim(context: Context, instant: str) -> bool:
    """Create the claim object for the time `instant`; return False if another writer owns the object.

    If the object contains this writer's token, the result is True, because an earlier put of this writer created the
    object.
    """
    path, token = f"{FOLDER}/{instant}", context.names.write_token().encode()
    if context.storage.put_if_absent(path, token):
        return True
    try:
        return context.storage.get(path) == token
    except NotFound:  # deleted since: it was another's, and old
        return False


def forget(context: Context, timeline: Timeline) -> None:
    """Delete claims on times that are too old for any writer to use."""
    newest = timeline.greatest_completion
    if newest is None or not claims_times(context):
        return
    bound = to_instant(to_millis(newest) - int(PATIENCE_SECONDS * 1000))
    old = [entry.path for entry in context.storage.list(FOLDER) if entry.path.rpartition("/")[2] < bound]
    if old:
        context.storage.delete_all(old)
