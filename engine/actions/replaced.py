"""Lists the partitions that were replaced in a time interval, with the times of the replacing writes."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import BEGINNING, Time
from ..reads.windows import Replaced, refuse_unanswerable, settled_window
from ..timeline import completion_of

ASKED = "read what was replaced"


def run(
    context: Context, config: TableConfig, after: Time = BEGINNING, until: Time | None = None
) -> tuple[Replaced, ...]:
    """Return one entry for each partition replaced by a write that completed in (after, until], ordered by completion
    time and partition.
    """
    window = settled_window(context, after, until, ASKED)
    refuse_unanswerable(context, window)
    found = []
    for instant in window.timeline.completed:
        done = completion_of(instant)
        if instant.writes and window.after < done <= window.until:
            commit = context.commits.commit(instant)
            partitions = {stat.partition for stat in commit.stats} if commit.replaces else ()
            found += [Replaced(partition, instant.requested, done) for partition in partitions]
    return tuple(sorted(found, key=lambda each: (each.completed, each.partition)))
