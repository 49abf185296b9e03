"""The tombstone rule: in a table merged by event time, a compaction retains each winning delete in the base file.

RFC-66 does not say how a compaction handles deletes. With event-time ordering, a write with a smaller ordering value
than a delete may complete after the compaction of that delete. Without a tombstone in the base file, such a write would
undo the delete. With commit-time ordering, the write that completes last wins, so no tombstone is needed.
"""

from __future__ import annotations


def needs_tombstones(event_time: bool) -> bool:
    """True if compactions of a table must retain deletes, because the table merges by event time."""
    return event_time
