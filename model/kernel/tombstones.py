"""The tombstone rule: in event-time order a compaction keeps the deletes that win in it, as tombstones.

RFC-66 does not specify deletes in a compaction. By event time the record with the greatest ordering value wins, also if
it completes last of all. Without a tombstone in the base file, a record with a smaller ordering value that completes
after the compaction would bring the deleted row back. By commit time every later record wins anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .merge import Fold, Merger


def needs_tombstones(event_time: bool) -> bool:
    """Whether compactions must keep deletes: only if the ordering value (event time) ranks before the completion."""
    return event_time


def keeps_deletes(shape: Fold, merger: Merger) -> bool:
    """Whether a base file keeps the deletes that won in it. `shape.base` describes how the base file was written."""
    return merger.keeps_tombstones and not (shape.base is not None and shape.base.drops_deletes)
