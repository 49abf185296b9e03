"""The tombstone rule: in event time, a compaction keeps every delete that wins among the records that it merges.

RFC-66 does not specify deletes in a compaction. In event time, a record with a smaller ordering value than the delete
may complete after the compaction. Without a tombstone in the base file, such a record would restore the row. In commit
time the last completion wins, so no tombstone is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .merge import Fold, Merger


def needs_tombstones(event_time: bool) -> bool:
    """True if a table needs tombstones. Only tables that merge by event time need tombstones."""
    return event_time


def keeps_deletes(shape: Fold, merger: Merger) -> bool:
    """True if a base file has tombstones. Base files of a foreign engine may lack them (`Fold.drops_deletes`)."""
    return merger.keeps_tombstones and not (shape.base is not None and shape.base.drops_deletes)
