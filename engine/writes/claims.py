"""Claims: where a log decides, each time of an instant belongs to one actor alone.

An actor can lose its lock while it reads the clock. Two actors may then read the same time, and a request takes no
number of the log that would separate them. So an actor claims its time before it uses it: it creates an object named
after the time, if absent. The loser reads its clock again.

Claims are deleted an hour later (`forget`). An actor whose claim took longer than that discards its time. Both use
clocks within their bound: a completed time has passed on every clock.
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
    """Take no time before the newest of the timeline. `Damaged` if the file of a completed instant is torn: no reader
    could read what is written after it."""
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
    """A time for an instant: greater than all on `timeline`, and no other instant's. Under the lock."""
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

    An object with our own token is ours: the put succeeded and its answer was lost.
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
