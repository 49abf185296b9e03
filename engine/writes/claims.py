"""Claims: with a decision log, each time of an instant belongs to one actor alone.

An actor can lose its lock while it reads the clock. Two actors may read the same time if one of them has lost its lock.
A request takes no number of the log, so the log does not separate them. So an actor claims a time before it uses it: it
creates an object named after the time, if absent. An actor that loses the claim reads its clock again.

`forget` deletes a claim after an hour. An actor whose claim took longer than an hour discards its time. The age of a
claim is measured by clocks within their bound.
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
    """Whether a time must be claimed before an instant carries it."""
    return uses_decision_log(context) and context.rules.claims == "every_time"


def learn(context: Context, timeline: Timeline) -> None:
    """Advance the clock past the newest time on the timeline. Raises `Damaged` if a completed instant is torn: no
    reader could read later writes.
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
    """A time for an instant: greater than all on `timeline`, and unused by other instants. Called under the lock."""
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
    """Create the object named after the time; False if it belongs to another actor.

    An object with this actor's token is its own: the put succeeded but its answer was lost.
    """
    path, token = f"{FOLDER}/{instant}", context.names.write_token().encode()
    if context.storage.put_if_absent(path, token):
        return True
    try:
        return context.storage.get(path) == token
    except NotFound:  # deleted since: it was another's, and old
        return False


def forget(context: Context, timeline: Timeline) -> None:
    """Delete the claims of times that no actor may use any more."""
    newest = timeline.greatest_completion
    if newest is None or not claims_times(context):
        return
    bound = to_instant(to_millis(newest) - int(PATIENCE_SECONDS * 1000))
    old = [entry.path for entry in context.storage.list(FOLDER) if entry.path.rpartition("/")[2] < bound]
    if old:
        context.storage.delete_all(old)
